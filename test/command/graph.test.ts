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

  test('refuses what viewers of Mermaid would not draw', async () => {
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

  test('marks lines on GitHub, and says on stderr what is fine', async () => {
    write('campaign.yaml', wrong);
    write('other.yaml', manifest);
    const said = await run('validate', 'campaign.yaml', 'other.yaml', '--format', 'github');
    expect(said.code).toBe(65);
    expect(said.out.split('\n')).toEqual([
      expect.stringMatching(/^::error file=campaign.yaml,line=7,endLine=7,col=11,endColumn=15,title=MB1103::/),
      expect.stringMatching(/^::error file=campaign.yaml,line=11,endLine=11,col=18,endColumn=25,title=MB1203::/),
      expect.stringMatching(/^::error file=campaign.yaml,line=12,endLine=12,col=5,endColumn=8,title=MB1101::/),
      '',
    ]);
    expect(said.err).toBe('ok other.yaml: 1 task, 2 steps\n');
  });

  test('its fixes make the manifest right', async () => {
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
