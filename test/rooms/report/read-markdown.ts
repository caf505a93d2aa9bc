/** Text of Markdown: code, in which nothing has a meaning, or prose, in which everything has. */
export interface Span {
  is: 'code' | 'prose';
  text: string;
}

/** The cells of a row as GitHub cuts it: at each `|` without a backslash directly before it. What is escaped is a `|`. */
export function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
  if (cells[0] !== '' || cells.at(-1) !== '') throw new Error(`no row: ${line}`);
  return cells.slice(1, -1);
}

/** Code spans by CommonMark: from a run of backticks to the next one that is as long; one space on either side is no part of it. */
export function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let prose = '';
  for (let at = 0; at < line.length; ) {
    const [fence] = /^`+/.exec(line.slice(at)) ?? [];
    const close = fence === undefined ? -1 : findRun(line, fence.length, at + fence.length);
    if (fence === undefined || close < 0) {
      const length = fence?.length ?? 1;
      prose += line.slice(at, at + length);
      at += length;
      continue;
    }
    if (prose !== '') spans.push({ is: 'prose', text: prose });
    prose = '';
    const inside = line.slice(at + fence.length, close);
    spans.push({ is: 'code', text: /^ .*[^ ].* $/.test(inside) ? inside.slice(1, -1) : inside });
    at = close + fence.length;
  }
  return prose === '' ? spans : [...spans, { is: 'prose', text: prose }];
}

export function proseOf(spans: readonly Span[]): string {
  return spans.map(({ is, text }) => (is === 'prose' ? text : '')).join('');
}

function findRun(line: string, length: number, from: number): number {
  for (const found of line.slice(from).matchAll(/`+/g)) if (found[0].length === length) return from + found.index;
  return -1;
}
