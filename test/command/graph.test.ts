import { beforeEach, describe, expect, test } from 'vitest';
import { leaveBought } from './decisions/bought.ts';
import { manifest, products, workplaceForEach } from './in-process.ts';

describe('graph', () => {
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

  /** A manifest of so many tasks, each of which needs all before it. */
  function dense(count: number): string {
    const tasks = Array.from({ length: count }, (_, index) => {
      const needs = Array.from({ length: index }, (_each, before) => `t${before}`).join(', ');
      return `  t${index}: { kind: music, with: { model: song-7.5, prompt: x }, needs: [${needs}] }`;
    });
    return `version: 1\nname: dense\ntasks:\n${tasks.join('\n')}\n`;
  }

  test('prints tasks with their edges, states and credits', async () => {
    leaveBought(place.folder, manifest, { 'film@lamp': 'not bought', 'film@vase': { state: 'failed', credits: 7 } });
    expect(await place.run('status', '--graph')).toEqual({
      code: 0,
      err: '',
      out: `flowchart LR
  accTitle: spring
  n0["hero<br/>image · 4 steps<br/>4 done<br/>20 cr spent"]
  n1["film<br/>music · 2 steps<br/>1 failed · 1 not bought<br/>7 cr spent"]
  n0 --> n1
`,
    });
  });

  test('refuses a graph that viewers of Mermaid cannot draw', async () => {
    place.write('campaign.yaml', dense(33));
    const refused = await place.run('status', '--graph');
    expect(refused).toMatchObject({ code: 64, out: '' });
    expect(refused.err).toContain('Mermaid supports at most 500 edges and 50\u202f000 characters');
    expect((await place.run('status', '--graph', '--exclude', 't32')).out.match(/ --> /g)).toHaveLength(496);
    const rows = Array.from({ length: 400 }, (_, index) => `p${index}-${'x'.repeat(60)}`).join(', ');
    place.write('campaign.yaml', manifest.replaceAll('[lamp, vase]', `[${rows}]`));
    expect(await place.run('status', '--graph', '--list', '--select', 'hero')).toMatchObject({ code: 64, out: '' });
    expect((await place.run('status', '--graph')).out).toContain('hero<br/>image · 800 steps');
  });
});

describe('validate', () => {
  const workplace = workplaceForEach();
  const { run, write } = workplace;
  const wrong = manifest
    .replace('row.name', 'row.nmae')
    .replace('kind: image', 'kind: imgae')
    .replace('save:', 'svae:');

  beforeEach(() => write('products.csv', products));

  test('reports the mistakes of one file, and checks the next one', async () => {
    write('campaign.yaml', wrong);
    write('other.yaml', manifest);
    const { out, code, err } = await run('validate', 'campaign.yaml', 'other.yaml');
    expect([code, out]).toEqual([65, 'ok other.yaml: 1 task, 2 steps\n']);
    expect(err.match(/MB1\d+ /g)).toHaveLength(3);
  });

  test('its fixes make the manifest valid', async () => {
    write('campaign.yaml', wrong);
    const { out } = await run('validate', 'campaign.yaml', '--json');
    const report = JSON.parse(out);
    type Fix = { range: { start: { offset: number }; end: { offset: number } }; text: string };
    const fixes = report.diagnostics.map(({ fix }: { fix: Fix }) => fix) as Fix[];
    const fixed = fixes
      .toSorted((a, b) => b.range.start.offset - a.range.start.offset)
      .reduce(
        (text, { range, text: meant }) => text.slice(0, range.start.offset) + meant + text.slice(range.end.offset),
        wrong,
      );
    expect(fixed).toBe(manifest);
  });
});
