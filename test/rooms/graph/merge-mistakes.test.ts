import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../../src/graph/build.ts';
import { parseManifest } from '../../../src/manifest/parse.ts';

/** A campaign of so many tasks over the same file. */
function mistakesOf(count: number, csv: string, task: { with?: string; key?: string } = {}) {
  const { with: request = '{ prompt: "{{row.name}}", aspectRatio: "{{row.ratio}}" }', key = '{{row.sku}}' } = task;
  const tasks = Array.from(
    { length: count },
    (_none, index) => `  t${index}:
    kind: image
    foreach: p.csv
    key: "${key}"
    matrix: { size: [1k, 2k] }
    with: ${request.replace('{ ', '{ resolution: "{{matrix.size}}", ')}
    save: t${index}/{{key}}-{{matrix.size}}
`,
  );
  const text = `version: 1\nname: x\ntasks:\n${tasks.join('')}`;
  const { manifest, diagnostics } = parseManifest({ file: 'campaign.yaml', text });
  if (manifest === undefined) throw new Error(JSON.stringify(diagnostics));
  const built = buildGraph(manifest, { data: new Map([['p.csv', { text: csv }]]), vars: {} });
  return [...diagnostics, ...built.diagnostics];
}

const rows = 'sku,name,ratio\n';

describe('a mistake in a data file', () => {
  test.each([
    ['two equal keys', `${rows}a,A,1:1\na,B,1:1\nc,C,1:1\n`, 'MB1402'],
    ['a key that cannot be one', `${rows}a,A,1:1\nb b,B,1:1\n`, 'MB1401'],
    ['a value that the request cannot have', `${rows}a,A,1:1\nb,B,7:7\nc,C,1:1\n`, 'MB1503'],
    ['a line that is too short', `${rows}a,A,1:1\nb\n`, 'MB1302'],
    ['no rows', rows, 'MB1408'],
    ['a file that cannot be read as a table', `${rows}"a`, 'MB1302'],
  ])('is one error, whoever uses it: %s', (_what, csv, code) => {
    for (const count of [1, 2, 6]) {
      const found = mistakesOf(count, csv);
      expect(found.map((one) => one.code)).toEqual([code]);
      const [users = ''] = found[0]?.trail ?? [];
      if (count === 2) expect(users).toBe('tasks t0, t1');
      if (count === 6) expect(users).toBe('6 tasks: t0, t1, t2, t3, t4 …');
    }
  });

  test('two mistakes are two, and keep their rows', () => {
    const found = mistakesOf(3, `${rows}a,A,7:7\nb,B,1:1\nc,C,8:8\n`);
    expect(found.map(({ trail }) => trail)).toEqual([
      ['tasks t0, t1, t2', 'row 1 of p.csv'],
      ['tasks t0, t1, t2', 'row 3 of p.csv'],
    ]);
  });
});
