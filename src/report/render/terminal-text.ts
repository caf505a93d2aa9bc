import { type Block, type Document, type Fact, faint, type Text } from '../document.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { paintLine, type Screen, widthOfText, wrap } from './spans.ts';
import { tableLines } from './table-lines.ts';

export interface Look {
  style: Style;
  /** Width of the terminal in columns, at least 20. Omitted for a file or a pipe, where nothing is wrapped or cut. */
  width?: number | undefined;
}

const leastWidth = 20;
const gap = 2;
/** Indentation of further lines of a statement, and of its details. */
const indent = 2;
const codeIndent = 4;

/** Renders a document for a terminal or a log. Ends with a line feed, unless it is empty. */
export function terminalText(document: Document, { style, width }: Look): string {
  const screen = { style, room: width === undefined ? Number.POSITIVE_INFINITY : Math.max(leastWidth, width) };
  const blocks = document.map((block) => blockLines(block, screen)).filter((lines) => lines.length > 0);
  return blocks.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

export function blockLines(block: Block | undefined, screen: Screen): string[] {
  switch (block?.is) {
    case undefined:
    case 'folded':
      return [];
    case 'heading':
      return wrap(block.text, screen, { mark: 'strong' }).map((line) => paintLine(line, screen.style));
    case 'paragraph':
      return wrapped(block.text, screen);
    case 'line':
      return statementLines(block, screen);
    case 'stack':
      return tight(block.blocks, screen);
    case 'list':
      return listLines(block, screen);
    case 'facts':
      return factLines(block.facts, screen);
    case 'table':
      return tableLines(block, screen);
    case 'code':
      return codeLines(block, screen.style);
    default:
      return block satisfies never;
  }
}

export function wrapped(text: Text, screen: Screen, hang = 0): string[] {
  const [first = '', ...others] = wrap(text, screen, { hang }).map((line) => paintLine(line, screen.style));
  return [first, ...indented(others, hang)];
}

function tight(blocks: Document, screen: Screen): string[] {
  return blocks.flatMap((block) => blockLines(block, screen));
}

export function indented(lines: readonly string[], columns: number): string[] {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(columns) + line));
}

/** Writes a statement with its command. A command is never broken: if it does not fit, it has its own line. */
function statementLines({ text, run, below = [] }: Extract<Block, { is: 'line' }>, screen: Screen): string[] {
  const inner = indented(tight(below, { ...screen, room: screen.room - indent }), indent);
  if (run === undefined) return [...wrapped(text, screen, indent), ...inner];
  const words = [text, ':'].flat();
  const isWhole = widthOfText(words, screen) + 1 + run.length <= screen.room;
  const own = wrapped(words, screen, indent);
  return [...(isWhole ? [`${own.join('')} ${run}`] : [...own, ' '.repeat(indent) + run]), ...inner];
}

function listLines({ items, isLoose, signs = [] }: Extract<Block, { is: 'list' }>, screen: Screen): string[] {
  return items.flatMap((item, index) => {
    const sign = signs[index] ?? '•';
    const width = widthOfText(sign, screen) + 1;
    const [first = '', ...others] = tight(item, { ...screen, room: screen.room - width });
    const own = [`${wrapped(sign, screen).join('')} ${first}`, ...indented(others, width)];
    return isLoose === true && index > 0 ? ['', ...own] : own;
  });
}

function factLines(facts: readonly Fact[], { style, room }: Screen): string[] {
  const column = facts.reduce((most, { label }) => Math.max(most, widthOfText(label, { style })), 0) + gap;
  const screen = { style, room: Math.max(leastWidth, room - column) };
  return facts.flatMap(({ label, text, below = [] }) => {
    const [first = '', ...others] = [...wrapped(text, screen), ...tight(below, screen)];
    const space = ' '.repeat(column - widthOfText(label, { style }));
    const title = typeof label === 'string' ? faint(label) : label;
    return [`${wrapped(title, screen).join('')}${space}${first}`.trimEnd(), ...indented(others, column)];
  });
}

function codeLines({ text, language, name }: Extract<Block, { is: 'code' }>, style: Style): string[] {
  const hasComments = language === 'sh' || language === 'yaml';
  const lines = text.split('\n').map((whole) => {
    const line = safeText(whole, Number.POSITIVE_INFINITY);
    const [, code = line, comment = ''] = (hasComments && /^(.*?)(\s+#\s.*|^#\s.*)$/.exec(line)) || [];
    return comment === '' ? code : `${code}${style.dim(comment)}`;
  });
  return [...(name === undefined ? [] : [style.dim(`  ${name}`)]), ...indented(lines, codeIndent)];
}
