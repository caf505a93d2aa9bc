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

test('--steps prints each step, with an edge from each that may be picked for it', async () => {
  leaveBought(place.folder, manifest);
  expect(
    (await place.run('status', '--graph', '--list', '--select', '+film@lamp', '--exclude', 'hero@lamp/2')).out,
  ).toBe(
    `flowchart LR
  accTitle: spring
  n0["hero@lamp/1<br/>image<br/>done<br/>5 cr spent"]
  n1["film@lamp<br/>music<br/>done<br/>5 cr spent"]
  n0 --> n1
`,
  );
  expect((await place.run('status', '--graph', '--list')).out.match(/ --> /g)).toHaveLength(4);
  expect(await place.run('status', '--graph', '--select', 'nothing')).toMatchObject({ code: 64 });
});

test('refuses what viewers of Mermaid would not draw', async () => {
  place.write('campaign.yaml', dense(33));
  const refused = await place.run('status', '--graph');
  expect(refused).toMatchObject({ code: 64, out: '' });
  expect(refused.err).toContain('Mermaid takes at most 500 edges and 50\u202f000 characters');
  expect((await place.run('status', '--graph', '--exclude', 't32')).out.match(/ --> /g)).toHaveLength(496);
  const rows = Array.from({ length: 2000 }, (_, index) => `p${index}`).join(', ');
  place.write('campaign.yaml', manifest.replaceAll('[lamp, vase]', `[${rows}]`));
  expect(await place.run('status', '--graph', '--list', '--select', 'hero')).toMatchObject({ code: 64, out: '' });
  expect((await place.run('status', '--graph')).out).toContain('hero<br/>image · 4000 steps');
});
