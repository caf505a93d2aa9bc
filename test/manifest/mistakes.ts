import { expect, it } from 'vitest';
import type { DataFile } from '../../src/manifest/parse.ts';
import { load, tasks } from './load.ts';

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

/** A small table of products. */
export const products = 'sku,name\nA1,Lamp\nB2,Vase\n';

/** A task with the rows of `products.csv`; its further lines stand from line 8 on. */
export function productTask(...lines: string[]): string {
  return tasks('  hero:', '    kind: image', '    foreach: products.csv', '    key: "{{row.sku}}"', ...lines);
}

export function testMistakes(cases: readonly MistakeCase[]): void {
  it.each(cases)('$name', ({ text, data, vars, found, says }) => {
    const { graph, diagnostics, found: all } = load(text, { ...(data && { data }), ...(vars && { vars }) });
    expect(all.map((one) => one.replace('campaign.yaml:', ''))).toEqual(found);
    const words = diagnostics.map((one) => `${one.message} ${one.hint}`).join('\n');
    for (const word of says ?? []) expect(words).toContain(word);
    expect(graph === undefined).toBe(diagnostics.some((one) => one.severity === 'error'));
    for (const { message, hint, place } of diagnostics) {
      expect(hint, message).toBeTruthy();
      expect(place, message).toBeDefined();
      expect(`${message} ${hint}`).not.toMatch(/undefined|\[object/);
      expect(message).not.toMatch(/[.!]$/);
    }
  });
}
