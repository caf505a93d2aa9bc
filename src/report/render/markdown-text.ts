import { type Block, type Document, paragraph, spansOf, type Text, wordsOf } from '../document.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** Maximum size of a document in bytes. GitHub accepts 65,536 characters, so callers can append links. */
const mostCommentBytes = 60_000;

/** Maximum lengths of a part of a document, in lines, tried in order until the document fits. */
const cuts = [Number.POSITIVE_INFINITY, 2048, 1024, 512, 256, 128, 64, 32, 16, 8];

/**
 * Returns a document as GitHub Markdown, in at most `mostCommentBytes` of UTF-8, with a final line feed. Names, code
 * and faint text are escaped. Other text is interpreted as Markdown.
 */
export function markdownText(document: Document, { marker }: { marker?: string | undefined } = {}): string {
  const textOf = (most: number) => {
    const texts = [marker ?? '', ...shortened(document, most).map(partOf)];
    return `${texts.filter((text) => text !== '').join('\n\n')}\n`;
  };
  for (const most of cuts) {
    const text = textOf(most);
    if (Buffer.byteLength(text) <= mostCommentBytes) return text;
  }
  return textOf(0);
}

function shortened(document: Document, most: number): Block[] {
  let folded = 0;
  return document.flatMap((block): Block[] => {
    switch (block?.is) {
      case 'table': {
        const more = moreThan(most, block.rows.length, 'row');
        return [{ ...block, rows: block.rows.slice(0, most) }, ...more.map(paragraph)];
      }
      case 'code': {
        const lines = block.text.split('\n');
        return [{ ...block, text: [...lines.slice(0, most), ...moreThan(most, lines.length, 'line')].join('\n') }];
      }
      case 'folded': {
        folded += 1;
        const more = moreThan(most, block.lines.length, 'step');
        return folded > most ? [] : [{ ...block, lines: [...block.lines.slice(0, most), ...more] }];
      }
      default:
        return block === undefined ? [] : [block];
    }
  });
}

function moreThan(most: number, all: number, noun: string): string[] {
  return all > most ? [`… and ${countOf(all - most, `more ${noun}`)}`] : [];
}

function partOf(block: Block): string {
  switch (block.is) {
    case 'heading':
      return `### ${inline(block.text)}`;
    case 'paragraph':
      return inline(block.text);
    case 'line':
      return [inline(block.text), ...(block.run === undefined ? [] : [`: ${codeSpan(block.run)}`])].join('');
    case 'stack':
      return block.blocks.map((inner) => (inner === undefined ? '' : partOf(inner))).join('\n');
    case 'list':
      return block.items
        .map((item) => `- ${item.flatMap((inner) => (inner ? [partOf(inner)] : [])).join('\n  ')}`)
        .join('\n');
    case 'facts':
      return block.facts.map(({ label, text }) => `- ${wordsOf(label)}: ${inline(text)}`).join('\n');
    case 'code': {
      const fence = fenceAround(block.text, 2);
      return `${fence}${block.language ?? ''}\n${block.text}\n${fence}`;
    }
    case 'table':
      return tablePart(block);
    case 'folded': {
      const lines = block.lines.map((one) => `- ${inline(one)}`);
      return `<details><summary>${inHtml(block.title)}</summary>\n\n${lines.join('\n')}\n\n</details>`;
    }
    default:
      return block satisfies never;
  }
}

function tablePart({ columns, rows }: Extract<Block, { is: 'table' }>): string {
  if (rows.length === 0) return '';
  const rowOf = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const titles = rowOf(columns.map(({ title }) => title)).replace('|  |', '| |');
  const rules = rowOf(columns.map(({ align }) => (align === 'right' ? '---:' : '---')));
  return [titles, rules, ...rows.map((row) => rowOf(row.map(inline)))].join('\n');
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

/** Escapes a title for HTML. Task names in a manifest are ASCII words, but an edited lock may contain any text. */
function inHtml(text: Text): string {
  return spansOf(text)
    .map((span) => {
      if (typeof span === 'string') return span;
      const inert = span.text.replace(/[^A-Za-z0-9_ -]/g, (character) => `&#${character.codePointAt(0)};`);
      return `<code>${inert}</code>`;
    })
    .join('');
}

/** Returns a code span in which GitHub finds no markup, link, user or issue. Replaces white space with one space. */
function codeSpan(text: string): string {
  const plain = safeText(text).replace(/\s+/g, ' ').trim();
  if (plain === '') return '';
  const fence = fenceAround(plain, 0);
  const pad = plain.startsWith('`') || plain.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${plain}${pad}${fence}`;
}

function fenceAround(text: string, least: number): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), least);
  return '`'.repeat(longest + 1);
}
