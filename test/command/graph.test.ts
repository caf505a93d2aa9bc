import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leaveBought } from './decisions/bought.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

const manifest = `version: 1
name: spring
tasks:
  hero:
    kind: image
    foreach: [lamp, vase]
    takes: 2
    gate: { choose: 1 }
    with: { prompt: "{{row}}", model: alpha-2 }
  film: { kind: music, foreach: [lamp, vase], with: { prompt: "{{tasks.hero.url}}", model: song-7.5 } }
`;

const rows = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`).join(', ');

const many = (count: number) => `version: 1
name: many
tasks:
  a: { kind: music, foreach: [${rows(count)}], with: { prompt: "{{row}}", model: song-7.5 } }
  b: { kind: music, needs: [a], with: { prompt: x, model: song-7.5 } }
`;

test('is Mermaid, unless somebody asks for another format', async () => {
  place.write('campaign.yaml', manifest);
  const plain = await place.run('graph');
  expect(plain).toMatchObject({ code: 0, err: '' });
  expect(plain.out).toContain('n1{{"hero<br/>gate#58; pick 1<br/>2 open"}}');
  expect(plain.out).toContain('n1 -->|"by key"| n2');
  expect((await place.run('graph', '--format', 'mermaid')).out).toBe(plain.out);
  expect((await place.run('graph', '--format', 'dot')).out).toContain('digraph "spring" {');
  expect((await place.run('graph', '--format', 'svg')).out).toContain('<title id="graph-title">spring</title>');
  const json = await place.run('graph', '--json');
  expect(JSON.parse(json.out)).toMatchObject({ mediabatch: 'graph', version: 1, campaign: 'spring', by: 'task' });
  expect((await place.run('graph', '--format', 'png')).code).toBe(64);
});

test('knows what the lock knows, and only the steps that are selected', async () => {
  place.write('campaign.yaml', manifest);
  leaveBought(place.folder, manifest);
  const { out } = await place.run('graph', '--json');
  const { nodes } = JSON.parse(out) as { nodes: { id: string; states: Record<string, number>; credits?: object }[] };
  expect(nodes[0]?.states.done).toBeGreaterThan(0);
  const some = await place.run('graph', '--json', '--steps', '--select', 'hero@lamp/*', '--exclude', 'hero@lamp/2');
  expect(JSON.parse(some.out).nodes.map(({ id }: { id: string }) => id)).toEqual(['hero@lamp/1', 'gate:hero@lamp']);
  expect(await place.run('graph', '--select', 'nothing')).toMatchObject({ code: 64 });
});

test.each([
  ['graph.svg', '<!-- mediabatch graph -->\n<svg '],
  ['graph.mmd', '%% mediabatch graph\nflowchart LR\n'],
  ['graph.md', '<!-- mediabatch graph -->\n\n```mermaid\n%% mediabatch graph\n'],
  ['graph.dot', '// mediabatch graph\ndigraph '],
  ['graph.gv', '// mediabatch graph\ndigraph '],
  ['graph.json', '{\n  "mediabatch": "graph",\n'],
])('--out %s says the format, and may be written again', async (name, start) => {
  place.write('campaign.yaml', manifest);
  for (const _again of [false, true]) {
    expect(await place.run('graph', '--out', name)).toEqual({ code: 0, out: '', err: `saved  ${name}\n` });
    expect(place.read(name).startsWith(start)).toBe(true);
  }
});

test('--out writes over nothing but an earlier graph', async () => {
  place.write('campaign.yaml', manifest);
  for (const name of ['README.md', 'products.json', 'logo.svg']) {
    place.write(name, '{ "of": "somebody" }');
    const refused = await place.run('graph', '--out', name);
    expect(refused).toMatchObject({ code: 73, out: '' });
    expect(refused.err).toContain(
      `error MB3301 --out: ${name} is there already, and is no graph that was drawn before`,
    );
    expect(place.read(name)).toBe('{ "of": "somebody" }');
  }
  mkdirSync(join(place.folder, 'elsewhere'));
  symlinkSync('elsewhere/graph.svg', join(place.folder, 'link.svg'));
  expect(await place.run('graph', '--out', 'link.svg')).toMatchObject({ code: 73 });
  expect(existsSync(join(place.folder, 'elsewhere/graph.svg'))).toBe(false);
  expect(await place.run('graph', '--out', 'no/such/graph.svg')).toMatchObject({ code: 73 });
  const lock = await place.run('graph', '--lock', 'own.json', '--out', './own.json');
  expect(lock).toMatchObject({ code: 73, err: expect.stringContaining('is the lock of this campaign') });
  expect(existsSync(join(place.folder, 'own.json'))).toBe(false);
});

test.each([
  [['--out', 'graph.png'], 'let it end in one of .svg, .mmd'],
  [['--out', 'graph'], 'let it end in one of .svg, .mmd'],
  [['--out', 'graph.svg', '--format', 'dot'], '--format dot does not go with --out graph.svg'],
])('%j is refused before anything is read', async (args, why) => {
  expect(await place.run('graph', 'campaign.yaml', ...args)).toMatchObject({
    code: 64,
    err: expect.stringContaining(why),
  });
});

test('says how many steps are too many to draw, and how to choose', async () => {
  place.write('campaign.yaml', many(300));
  const refused = await place.run('graph', '--steps');
  expect(refused.code).toBe(64);
  expect(refused.err).toContain('--steps draws at most 300 steps, and these are 301 steps');
  expect(refused.err).toContain('--select');
  expect((await place.run('graph', '--steps', '--select', 'a')).code).toBe(0);
  expect((await place.run('graph')).out).toContain('a<br/>music · 300 steps');
});

test('says which formats have no limit', async () => {
  const tasks = Array.from(
    { length: 34 },
    (_, index) =>
      `  t${index}: { kind: music, with: { model: song-7.5, prompt: x }, needs: [${Array.from({ length: index }, (_each, before) => `t${before}`).join(', ')}] }`,
  );
  place.write('campaign.yaml', `version: 1\nname: dense\ntasks:\n${tasks.join('\n')}\n`);
  const refused = await place.run('graph');
  expect(refused).toMatchObject({ code: 64, out: '' });
  expect(refused.err).toContain(
    '--format mermaid draws at most 50\u202f000 characters and 500 edges, and these are 34 nodes and 561 edges',
  );
  expect((await place.run('graph', '--format', 'dot')).out.match(/ -> /g)).toHaveLength(561);
});

test('a mistake of the manifest is told as everywhere', async () => {
  place.write('campaign.yaml', manifest.replace('kind: image', 'kind: imaage'));
  expect(await place.run('graph')).toMatchObject({ code: 65, out: '', err: expect.stringContaining('imaage') });
});
