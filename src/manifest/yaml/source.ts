import type { Place, Position } from '../../ground/diagnostic.ts';

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly lineStarts: readonly number[];
}

/** Splits a text into lines at LF, CRLF or CR, as editors do. */
export function readSource(file: string, text: string): Source {
  const lineStarts = [0];
  for (const lineBreak of text.matchAll(/\r\n|\n|\r/g)) lineStarts.push(lineBreak.index + lineBreak[0].length);
  return { file, text, lineStarts };
}

export function placeBetween(source: Source, start: number, end: number): Place {
  const from = Math.min(Math.max(start, 0), source.text.length);
  const to = Math.min(Math.max(end, from), source.text.length);
  return { file: source.file, start: positionAt(source, from), end: positionAt(source, to) };
}

/** Returns the place of a line without surrounding white space. Lines count from 1. */
export function placeOfLine(source: Source, line: number): Place {
  const start = source.lineStarts[line - 1] ?? source.text.length;
  const next = source.lineStarts[line] ?? source.text.length;
  const text = source.text.slice(start, next);
  const indent = text.length - text.trimStart().length;
  return placeBetween(source, start + (text.trim() === '' ? 0 : indent), start + text.trimEnd().length);
}

function positionAt(source: Source, offset: number): Position {
  let low = 0;
  let high = source.lineStarts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((source.lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const lineStart = source.lineStarts[low] ?? 0;
  const mark = lineStart === 0 && source.text.startsWith('\ufeff') && offset > 0 ? 1 : 0;
  return { line: low + 1, column: offset - lineStart - mark + 1, offset };
}

export const maxManifestBytes = 1024 ** 2;
