import { expect, test } from 'vitest';
import { parseManifest } from '../../../src/manifest/parse.ts';

const campaign = (head: string) =>
  `version: 1\n${head}\nname: spring\ntasks: { hero: { kind: image, with: { prompt: A lamp } } }\n`;

function read(text: string, { brand, program = '0.1.0' }: { brand?: string; program?: string } = {}) {
  const included = new Map(brand === undefined ? [] : [['brand.yaml', { text: brand }]]);
  const { manifest, diagnostics } = parseManifest({ file: 'campaign.yaml', text }, included, program);
  const said = diagnostics.map(({ code, message, hint }) => `${code} ${message}; ${String(hint)}`);
  return { said, isRead: manifest !== undefined };
}

test('a version that fits reads a manifest as if nothing were required', () => {
  expect(read(campaign('requires: ">=0.1"'))).toEqual({ said: [], isRead: true });
});

test('a version that does not fit says which it is and what to install, and nothing of keys that another may know', () => {
  const text = campaign('requires: ">=0.3 <2"\nlater: { key: 1 }');
  expect(read(text)).toEqual({
    said: [
      'MB1105 campaign.yaml requires mediabatch >=0.3 <2, and this is mediabatch 0.1.0; install a version that fits, as with npm install --save-dev "mediabatch@>=0.3 <2"',
    ],
    isRead: false,
  });
});

test('an included file requires a version, too', () => {
  const { said, isRead } = read(campaign('include: [brand.yaml]'), { brand: 'requires: "^0.2"\nlater: 1\n' });
  expect(said).toEqual([
    'MB1105 brand.yaml requires mediabatch ^0.2, and this is mediabatch 0.1.0; install a version that fits, as with npm install --save-dev "mediabatch@^0.2"',
  ]);
  expect(isRead).toBe(false);
});

test.each(['"0.3"', '0.3', '">=0.3 or so"', '""', '["^1"]'])('requires: %s is no range', (written) => {
  expect(read(campaign(`requires: ${written}`)).said).toEqual([
    expect.stringMatching(/^MB1103 `requires` is .*; it must be a range of versions in quotes, as in ">=0.3"/),
  ]);
});

test('the schema takes what the reader takes', () => {
  for (const range of ['>=0.1', '<2', '^0.1.0', ' >=0.1  <2 ']) {
    expect(read(campaign(`requires: "${range}"`)).said).toEqual([]);
  }
});
