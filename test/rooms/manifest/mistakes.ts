import { expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/ground/diagnostic.ts';
import type { DataFile } from '../../../src/manifest/rows/rows.ts';
import { adviceLines } from '../../../src/report/advice-text.ts';
import { including, load, parse, summarize, tasks } from './load.ts';

/** A text in, the codes and places of its mistakes out. */
export interface MistakeCase {
  name: string;
  text: string;
  data?: Record<string, string | DataFile>;
  vars?: Record<string, string>;
  /** `code line:column`, in the order of their places; a file other than the manifest is named. */
  found: string[];
  /** Words that the messages or the hints must have. */
  says?: string[];
}

/** The same in a row: name, text, `found` in one text, and what is said. */
export type MistakeRow = [name: string, text: string, found: string, ...says: string[]];

function caseOf(given: MistakeCase | MistakeRow): MistakeCase {
  if (!Array.isArray(given)) return given;
  const [name, text, found, ...says] = given;
  return { name, text, found: found.split(', ').filter((one) => one !== ''), says };
}

/** A small table of products. */
export const products = 'sku,name\nA1,Lamp\nB2,Vase\n';

/** A task with the rows of `products.csv`; its further lines stand from line 8 on. */
export function productTask(...lines: string[]): string {
  return tasks('  hero:', '    kind: image', '    foreach: products.csv', '    key: "{{row.sku}}"', ...lines);
}

/** A case about the content of the rows of `productTask`. */
export function ofProducts(name: string, extension: string, content: string, ...[found = '', ...says]: string[]) {
  const text = productTask('    with: { prompt: x }').replace('.csv', extension);
  return { ...caseOf([name, text, found, ...says]), data: { [`products${extension}`]: content } };
}

/** A case about an included file. */
export function ofIncluded(name: string, content: string | DataFile, ...[found = '', ...says]: string[]) {
  return { ...caseOf([name, including('a.yaml'), found, ...says]), data: { 'a.yaml': content } };
}

export function withVars(name: string, text: string, vars: Record<string, string>, ...[found = '', ...says]: string[]) {
  return { ...caseOf([name, text, found, ...says]), vars };
}

export function testMistakes(cases: readonly (MistakeCase | MistakeRow)[]): void {
  it.each(cases.map(caseOf))('$name', ({ text, data, vars, found, says }) => {
    const { graph, diagnostics } = load(text, { ...(data && { data }), ...(vars && { vars }) });
    expectMistakes(diagnostics, { found, says });
    expect(graph === undefined).toBe(diagnostics.some((one) => one.severity === 'error'));
  });
}

/** The same for mistakes of shape alone: no graph is made. */
export function testShapeMistakes(cases: readonly (MistakeCase | MistakeRow)[]): void {
  it.each(cases.map(caseOf))('$name', ({ text, data, found, says }) => {
    const { manifest, diagnostics } = parse(text, { ...(data && { data }) });
    expectMistakes(diagnostics, { found, says });
    expect(manifest?.sound ?? false).toBe(diagnostics.every((one) => one.severity === 'warning'));
  });
}

function expectMistakes(
  diagnostics: readonly Diagnostic[],
  { found, says = [] }: { found: string[]; says: string[] | undefined },
): void {
  expect(diagnostics.map((one) => summarize(one).replace('campaign.yaml:', ''))).toEqual(found);
  const words = diagnostics.map(({ message, hint = '' }) => [message, ...adviceLines(hint)].join('\n')).join('\n');
  for (const word of says) expect(words).toContain(word);
  for (const { message, hint, place } of diagnostics) {
    expect(hint, message).toBeTruthy();
    expect(place, message).toBeDefined();
    expect(words).not.toMatch(/undefined|\[object/);
    expect(message).not.toMatch(/[.!]$/);
  }
}
