import { describe, expect, test } from 'vitest';
import { type Facts, load } from '../manifest/load.ts';

const build = (text: string, data: Facts['data'] = {}) => load(text, { data });

function graphOf(text: string, data: Facts['data'] = {}) {
  const { graph, diagnostics } = build(text, data);
  if (graph === undefined) throw new Error(JSON.stringify(diagnostics, null, 1));
  return graph;
}

const rows = 'sku,live,style\na,true,x\nb,false,\nc,,z\n';
const manifest = (when: string, more = '') => `version: 1
name: t
tasks:
  hero:
    kind: image
    foreach: rows.csv
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "9:16"] }
    when: ${when}
    with: { prompt: "{{row.sku}}", aspectRatio: "{{matrix.ratio}}" }
${more}`;

const addresses = (when: string) => graphOf(manifest(when), { 'rows.csv': rows }).steps.map(({ address }) => address);

describe('when', () => {
  test.each([
    ['"{{row.live}}"', ['hero@a,1:1', 'hero@a,9:16']],
    ['"{{not row.style}}"', ['hero@b,1:1', 'hero@b,9:16']],
    [`"{{and row.live (eq matrix.ratio '1:1')}}"`, ['hero@a,1:1']],
    ['"{{eq key \'c\'}}"', ['hero@c,1:1', 'hero@c,9:16']],
    ['false', []],
  ])('%s', (when, wanted) => {
    expect(addresses(when)).toEqual(wanted);
  });

  test('true leaves everything', () => {
    expect(addresses('true')).toHaveLength(6);
  });

  test.each([
    ['"{{row.sku}}"', 'MB1409', '"a"'],
    ['"yes"', 'MB1103', '"yes"'],
    ['"{{row.lvie}}"', 'MB1203', 'row.lvie'],
    ['"{{tasks.hero.url}}"', 'MB1202', 'tasks'],
  ])('%s is refused: %s', (when, code, seen) => {
    const { diagnostics } = build(manifest(when), { 'rows.csv': rows });
    expect(diagnostics[0]?.code, JSON.stringify(diagnostics)).toBe(code);
    expect(diagnostics[0]?.message).toContain(seen);
  });

  test('a list of steps that are all left out says so', () => {
    const cover = '  cover: { kind: image, with: { prompt: c, referenceImages: "{{tasks.hero.urls}}" } }\n';
    const { diagnostics } = build(manifest('false', cover), { 'rows.csv': rows });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1405']);
    expect(diagnostics[0]?.message).toContain('all steps of `hero` are left out by `when`');
    expect(diagnostics[0]?.hint).toContain('the same `when`');
  });

  test('a reference to a step that is left out says so', () => {
    const cover =
      '  cover: { kind: image, with: { prompt: c, referenceImages: ["{{tasks.hero.url}}"] }, from: { hero: { key: b, ratio: "1:1" } } }\n';
    const { diagnostics } = build(manifest('"{{row.live}}"', cover), { 'rows.csv': rows });
    expect(diagnostics.map(({ code }) => code)).toEqual(['MB1405']);
    expect(diagnostics[0]?.message).toContain('hero@b,1:1 is skipped by its `when`');
  });

  test('`needs` waits for its own row, and for nothing where that is left out', () => {
    const more = '  late: { kind: image, foreach: [a, b], needs: [hero], with: { prompt: "late {{row}}" } }\n';
    const { steps } = graphOf(manifest('"{{row.live}}"', more), { 'rows.csv': rows });
    const needsOf = (address: string) => steps.find((step) => step.address === address)?.needs;
    expect(needsOf('late@a')).toEqual(['hero@a,1:1', 'hero@a,9:16']);
    expect(needsOf('late@b')).toEqual([]);
  });
});
