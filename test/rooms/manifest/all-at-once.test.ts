import { expect, it } from 'vitest';
import { maxManifestBytes } from '../../../src/manifest/yaml/source.ts';
import { image, load, tasks } from './load.ts';

it('all mistakes of a manifest are found at once', () => {
  const text = `vars: { a: 1 }
version: 1
name: x
service: { url: "https://x" }
tasks:
  a:
    kind: image
    colour: x
    foreach: missing.csv
    with: { promt: x, model: alpha-3, prompt: "{{vars.b}}" }
    save: ../x
  b:
    kind: music
    with: { prompt: "{{tasks.c.url}} {{upper}}" }
    needs: [d]
`;
  expect(
    load(text)
      .found.map((one) => one.slice(0, 6))
      .sort(),
  ).toEqual(
    ['MB1101', 'MB1104', 'MB1202', 'MB1203', 'MB1301', 'MB1403', 'MB1403', 'MB1501', 'MB1502', 'MB1503'].sort(),
  );
});

it('a manifest has at most as many bytes as are read of it', () => {
  const text = image('prompt: x');
  const fill = (bytes: number) => `${text}#${'é'.repeat((bytes - text.length - 1) / 2)}`;
  const odd = (maxManifestBytes - text.length - 1) % 2;
  expect(load(fill(maxManifestBytes - odd)).found).toEqual([]);
  expect(load(fill(maxManifestBytes - odd + 2)).found).toEqual(['MB1007 campaign.yaml:1:1']);
});

it('brackets without end are refused, however deep the parser gets', () => {
  const { diagnostics } = load(`a: ${'['.repeat(5000)}`);
  expect(diagnostics.map((one) => one.code)).toEqual(['MB1007']);
});

it('tells at most a hundred mistakes', () => {
  const text = tasks(...Array.from({ length: 300 }, (_, index) => `  t${index}: { kind: image, with: { promt: x } }`));
  const { diagnostics } = load(text);
  expect(diagnostics.length).toBe(100);
});
