import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const page = new URL('../../../src/page/', import.meta.url).pathname;
const sheets = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));

test('no sheet sets a colour by the shorthand, which takes away the picture that another rule puts behind', () => {
  expect(sheets.length).toBeGreaterThan(3);
  const shorthands = sheets.flatMap((name) =>
    [...readFileSync(join(page, name), 'utf8').matchAll(/^\s*background: (?:var|#|rgb|hsl).*;$/gm)].map(
      ([line]) => `${name}: ${line.trim()}`,
    ),
  );
  expect(shorthands).toEqual([]);
});
