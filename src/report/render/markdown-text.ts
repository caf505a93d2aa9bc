import { type Block, type Document, spansOf, type Text, wordsOf } from '../document.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** Limit in bytes. A GitHub comment can have 65,536 characters; the difference is for links that the caller adds. */
export const mostCommentBytes = 60_000;

/**
 * Returns a document as GitHub Markdown, in at most `mostCommentBytes` of UTF-8, with a line feed at its end. If it is
 * too long, whole table rows and folded lines are omitted and counted. Text marked as a name is escaped; other text is
 * Markdown.
 */
export function markdownText(document: Document, { marker }: { marker?: string | undefined } = {}): string {
  const parts = [
    ...(marker === undefined ? [] : [marker]),
    ...document.flatMap((block) => (block ? [partOf(block)] : [])),
  ];
  let left = mostCommentBytes - sizeOf(parts.map((part) => (typeof part === 'string' ? part : part.head)));
  const texts = parts.map((part) => (typeof part === 'string' ? part : ''));
  const cutPart = (index: number, room: number) => {
    const part = parts[index];
    if (part === undefined || typeof part === 'string') return;
    texts[index] = fitPart(part, room);
    left -= sizeOf([texts[index] ?? '']);
  };
  const indexes = (is: Cut['is']) => [...parts.keys()].filter((index) => (parts[index] as Cut).is === is);
  for (const index of indexes('table')) cutPart(index, left / 2);
  // The shortest parts first, because the space that they leave is available for the others.
  const sizes = parts.map((part) => (typeof part === 'string' ? 0 : sizeOf(part.lines)));
  const folded = indexes('folded').sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  for (const [done, index] of folded.entries()) cutPart(index, left / (folded.length - done));
  return `${texts.filter((text) => text !== '').join('\n\n')}\n`;
}

interface Cut {
  is: 'table' | 'folded';
  head: string;
  lines: string[];
  end: string;
  /** Words on how many lines are omitted, counted from this one. */
  more(from: number): string;
}

function partOf(block: Block): string | Cut {
  switch (block.is) {
    case 'heading':
      return `### ${inline(block.text)}`;
    case 'paragraph':
      return inline(block.text);
    case 'line':
      return [inline(block.text), ...(block.run === undefined ? [] : [`: ${codeSpan(block.run)}`])].join('');
    case 'stack':
      return block.blocks.map((inner) => (inner === undefined ? '' : String(partOf(inner)))).join('\n');
    case 'list':
      return block.items
        .map((item) => `- ${item.flatMap((inner) => (inner ? [String(partOf(inner))] : [])).join('\n  ')}`)
        .join('\n');
    case 'facts':
      return block.facts.map(({ label, text }) => `- ${wordsOf(label)}: ${inline(text, 'plain')}`).join('\n');
    case 'code':
      return codeBlock(block);
    case 'table':
      return tablePart(block);
    case 'folded': {
      const head = `<details><summary>${inHtml(block.title)}</summary>\n`;
      const more = (from: number) => `- … and ${countOf(block.lines.length - from, 'more step')}`;
      return { is: 'folded', head, lines: block.lines.map((line) => `- ${inline(line)}`), end: '\n\n</details>', more };
    }
    default:
      return block satisfies never;
  }
}

function tablePart({ columns, rows, counts = [] }: Extract<Block, { is: 'table' }>): string | Cut {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const titles = line(columns.map(({ title }) => title)).replace('|  |', '| |');
  const rules = line(columns.map(({ align }) => (align === 'right' ? '---:' : '---')));
  const more = (from: number) => {
    const steps = counts.slice(from).reduce((sum, count) => sum + count, 0);
    return `\n… and ${countOf(rows.length - from, 'more row')} for ${countOf(steps, 'step')}`;
  };
  return {
    is: 'table',
    head: `${titles}\n${rules}`,
    lines: rows.map((row) => line(row.map((cell) => inline(cell)))),
    end: '',
    more,
  };
}

/** Takes as many lines as fit. Omits the whole part if no line fits. */
function fitPart({ is, head, lines, end, more }: Cut, room: number): string {
  const around = (inner: readonly string[]) => `${[head, ...inner].join('\n')}${end}`;
  const own = is === 'folded' ? sizeOf([around([more(0)])]) : 0;
  const isWhole = sizeOf(is === 'folded' ? [around(lines)] : lines) <= room;
  let left = room - own;
  const first = lines.findIndex((line) => {
    left -= sizeOf([line]);
    return left < 0;
  });
  if (isWhole || first < 0) return around(lines);
  if (first === 0) return is === 'table' ? more(0).trimStart() : '';
  return around([...lines.slice(0, first), more(first)]);
}

function sizeOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(block) + 2, 0);
}

function inline(text: Text, look: 'marked' | 'plain' = 'marked'): string {
  return spansOf(text)
    .map((span) => {
      if (typeof span === 'string') return span;
      if (span.mark === 'name' || span.mark === 'code') return codeSpan(span.text);
      if (span.mark === 'faint') return `<sub>${span.text}</sub>`;
      return span.mark === 'strong' && look === 'marked' ? `**${span.text}**` : span.text;
    })
    .join('');
}

/** Escapes a title for HTML. Task names are ASCII words in a manifest, but an edited lock may contain any text. */
function inHtml(text: Text): string {
  return spansOf(text)
    .map((span) => {
      if (typeof span === 'string') return span;
      const inert = span.text.replace(/[^A-Za-z0-9_ -]/g, (character) => `&#${character.codePointAt(0)};`);
      return `<code>${inert}</code>`;
    })
    .join('');
}

/** Returns a code span, exact except white space, in which GitHub finds no markup, link, user or issue. */
function codeSpan(text: string): string {
  const plain = safeText(text).replace(/\s+/g, ' ').trim();
  if (plain === '') return '';
  const fence = fenceAround(plain, 0);
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${plain}${pad}${fence}`;
}

function codeBlock({ text, language = '' }: Extract<Block, { is: 'code' }>): string {
  const fence = fenceAround(text, 2);
  return `${fence}${language}\n${text}\n${fence}`;
}

function fenceAround(text: string, least: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), least);
  return '`'.repeat(longest + 1);
}
