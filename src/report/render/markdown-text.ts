import { type Block, type Document, spansOf, type Text, wordsOf } from '../document.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** Limit in bytes. A GitHub comment can have 65,536 characters; the difference is for links that the caller adds. */
export const mostCommentBytes = 60_000;

/** A part that is cut after some lines if the document is too long. */
interface Cut {
  head: string;
  lines: readonly string[];
  end: string;
  /** Returns the line that counts the omitted lines. `from`: index of the first omitted line. */
  more(from: number): string;
  isFolded?: true;
}

/**
 * Returns a document as GitHub Markdown, in at most `mostCommentBytes` of UTF-8, with a line feed at its end. If it is
 * too long, each table, code and folded list is cut after the same number of lines, and the omitted ones are counted.
 * Names and faint text are escaped; other text is Markdown.
 */
export function markdownText(document: Document, { marker }: { marker?: string | undefined } = {}): string {
  const parts = document.flatMap((block) => (block ? [partOf(block)] : []));
  const textOf = (most: number) => {
    let folded = 0;
    const texts = parts.map((part) => {
      if (typeof part === 'string') return part;
      folded += part.isFolded === true ? 1 : 0;
      return part.isFolded === true && folded > most ? '' : cutPart(part, most);
    });
    return `${[marker ?? '', ...texts].filter((text) => text !== '').join('\n\n')}\n`;
  };
  const fits = (text: string) => Buffer.byteLength(text) <= mostCommentBytes;
  const whole = textOf(Number.POSITIVE_INFINITY);
  if (fits(whole)) return whole;
  return cuts.map(textOf).find(fits) ?? textOf(0);
}

/** Numbers of lines after which the parts of a long document are cut, tried in this order. */
const cuts = [2048, 1024, 512, 256, 128, 64, 32, 16, 8];

function cutPart({ head, lines, end, more }: Cut, most: number): string {
  const shown = lines.length <= most ? lines : [...lines.slice(0, most), more(most)];
  return `${[head, ...shown].join('\n')}${end}`;
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
      return block.facts.map(({ label, text }) => `- ${wordsOf(label)}: ${inline(text)}`).join('\n');
    case 'code':
      return codePart(block);
    case 'table':
      return tablePart(block);
    case 'folded': {
      const head = `<details><summary>${inHtml(block.title)}</summary>\n`;
      const more = (from: number) => `- … and ${countOf(block.lines.length - from, 'more step')}`;
      const lines = block.lines.map((line) => `- ${inline(line)}`);
      return { head, lines, end: '\n\n</details>', more, isFolded: true };
    }
    default:
      return block satisfies never;
  }
}

function tablePart({ columns, rows }: Extract<Block, { is: 'table' }>): string | Cut {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const titles = line(columns.map(({ title }) => title)).replace('|  |', '| |');
  const rules = line(columns.map(({ align }) => (align === 'right' ? '---:' : '---')));
  const more = (from: number) => `\n… and ${countOf(rows.length - from, 'more row')}`;
  return {
    head: `${titles}\n${rules}`,
    lines: rows.map((row) => line(row.map((cell) => inline(cell)))),
    end: '',
    more,
  };
}

function inline(text: Text): string {
  return spansOf(text)
    .map((span) => {
      if (typeof span === 'string') return span;
      if (span.mark === 'name' || span.mark === 'code' || span.mark === 'faint') return codeSpan(span.text);
      return span.mark === 'strong' ? `**${span.text}**` : span.text;
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

function codePart({ text, language = '' }: Extract<Block, { is: 'code' }>): Cut {
  const fence = fenceAround(text, 2);
  const lines = text.split('\n');
  const more = (from: number) => `… and ${countOf(lines.length - from, 'more line')}`;
  return { head: `${fence}${language}`, lines, end: `\n${fence}`, more };
}

function fenceAround(text: string, least: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), least);
  return '`'.repeat(longest + 1);
}
