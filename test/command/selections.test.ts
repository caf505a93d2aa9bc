import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RunEvent } from '../../src/contract/event.ts';
import { createRunView, foldEvent } from '../../src/report/run/run-view.ts';
import { doneIn } from '../../src/report/run/run-words.ts';
import { expectExit } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { described, type Manners, terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { runInProcess, workplaceForEach } from './in-process.ts';
import { folderWith, header, record, scripted } from './scripted.ts';

describe('selections', () => {
  const place = workplaceForEach();

  const manifest = `version: 1
name: spring
selectors: { social: tag:social, wide: "hero@*,9:16 cover" }
tasks:
  hero:
    kind: image
    foreach: [lamp, chair]
    matrix: { ratio: ["1:1", "9:16"], lang: [en, de] }
    tags: [launch, "c++"]
    with: { prompt: "{{row}} {{matrix.lang}}", aspectRatio: "{{matrix.ratio}}" }
  cover:
    kind: image
    tags: [social]
    with: { prompt: cover, referenceImages: ["{{tasks.hero.url}}"] }
    from: { hero: { key: lamp, ratio: "9:16", lang: en } }
  song: { kind: music, takes: 2, with: { prompt: calm, model: song-7.5 } }
`;

  describe('a selection that matches no step', () => {
    test.each([
      ['hero@lmap,1:1,en', 'similar: hero@lamp,1:1,en'],
      ['hero@lamp', 'all cells: hero@lamp,*'],
      ['hero@lamp,1:1', 'all cells: hero@lamp,1:1,*'],
      ['sogn/1', 'similar: song/1'],
      ['cover hero@lmap,1:1,en', 'there is no step hero@lmap,1:1,en'],
      ['tag:nothing', 'tags: launch, "c++", social'],
      ['kind:video', 'kinds: image, music'],
      ['state:failed', 'no step has the state failed now'],
      ['hero,kind:music', 'no step matches all conditions'],
      ['x,y,', 'a comma outside an address means “and”'],
    ])('%s is refused with the cause', async (selection, words) => {
      place.write('campaign.yaml', manifest);
      const { code, err } = await place.run('plan', 'campaign.yaml', '-s', selection);
      expect([code, err]).toEqual([64, expect.stringContaining(words)]);
    });

    test('a selected step with an unselected dependency prints how to add it', async () => {
      place.write('campaign.yaml', manifest);
      const alone = await place.run('plan', 'campaign.yaml', '-s', 'selector:social');
      expect(alone.code).toBe(64);
      expect(alone.out).toContain('1 blocked');
      const hint = expect.stringContaining('+ before a name or a condition adds its dependencies');
      expect(alone.err).toEqual(hint);
      const both = await place.run('plan', 'campaign.yaml', '-s', 'cover song');
      expect([both.code, both.err]).toEqual([0, hint]);
      const excluded = await place.run('plan', 'campaign.yaml', '-x', 'hero');
      expect([excluded.code, excluded.err]).toEqual([0, expect.stringContaining('exclude fewer steps')]);
    });
  });
});

describe('selected run', () => {
  const place = workplaceForEach();

  const manifest = `version: 1
name: spring
tasks:
  hero: { kind: image, foreach: [a, b, c], with: { prompt: "{{row}}", resolution: 1k } }
  logo: { kind: image, takes: 2, with: { prompt: logo } }
  film: { kind: image, foreach: [a, b], with: { prompt: "{{row}} 2", referenceImages: ["{{tasks.hero.url}}"] } }
`;

  test('a plan of a done step, and of one whose needs are not selected, ends well', async () => {
    place.write('campaign.yaml', manifest);
    await place.run('apply', '--sandbox', '--yes', '--poll-interval', '10', '-s', 'logo');
    const { code, err } = await place.run('plan', '--sandbox', '-s', 'logo film');
    expect([code, err]).toEqual([0, expect.stringContaining('neither done nor selected')]);
  });

  test('a run with --first reports its own steps only', async () => {
    place.write('campaign.yaml', manifest);
    await place.run('apply', '--sandbox', '--yes', '--poll-interval', '10', '-s', 'hero');
    const { code, out } = await place.run(
      'apply',
      '--sandbox',
      '--yes',
      '--poll-interval',
      '10',
      '--events',
      '-',
      '--first',
      '1',
    );
    expect(code).toBe(0);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunEvent);
    const [first] = events;
    if (first?.event !== 'run-started') throw new Error('the first event is another');
    expect(first.tasks.map(({ id, steps }) => `${id} ${steps}`)).toEqual(['hero 1', 'logo 2', 'film 1']);
    expect(first.tasks.reduce((sum, { steps }) => sum + steps, 0)).toBe(first.steps);
    const view = createRunView();
    for (const event of events) foldEvent(view, event);
    for (const task of view.tasks.values()) expect(doneIn(task)).toBe(task.steps);
  });
});

function campaign(fields: string, env: Record<string, string>) {
  const path = makeFolder();
  const text = `version: 1\nname: q\ntasks:\n  hero: { kind: image, with: { prompt: x, ${fields} } }\n`;
  writeFileSync(join(path, 'campaign.yaml'), text);
  return (...args: string[]) => runInProcess(args, env, path);
}

async function other(manners: Manners): Promise<OtherService> {
  const service = await OtherService.open(manners);
  onTestFinished(() => service.close());
  return service;
}

test.each(['beta-v5-lite', 'beta-5.0-pro'])('%s: a tier is sent where the service lists its field', async (model) => {
  const service = await other(described);
  const run = campaign(`model: ${model}, quality: high`, service.env);
  const before = await run('plan', 'campaign.yaml');
  expect(before.code).toBe(65);
  expect(before.err).toContain('`plan --refresh` with a key reads the fields and models of your service');
  const refreshed = await expectExit(0, run('plan', 'campaign.yaml', '--refresh'));
  expect(refreshed.err).not.toContain('MB1507');
  await expectExit(0, run('apply', 'campaign.yaml', '--yes', '--poll-interval', '10'));
  expect(service.books.jobs.map(({ body }) => body.quality)).toEqual(['high']);
});

test('buys nothing if the service does not list the field', async () => {
  const service = await other(terse);
  const run = campaign('model: beta-v5-lite, quality: high', service.env);
  await run('plan', 'campaign.yaml', '--refresh');
  const { code, err } = await run('apply', 'campaign.yaml', '--yes');
  expect(code).toBe(65);
  // Not to the command that has just been run.
  expect(err).toContain('remove `quality`');
  expect(err).not.toContain('--refresh');
  expect(service.books.jobs).toEqual([]);
});

const manifest = 'version: 1\nname: t\ntasks: { a: { kind: music, with: { model: song-7.5, prompt: x } } }\n';

test('a clipping is removed by its id, whether or not a list shows it', async () => {
  const { env, seen } = await scripted({
    'DELETE /clippings/c-1': [200, { success: true, message: 'gone' }],
  });
  const folder = folderWith({
    'campaign.yaml': manifest,
    'campaign.lock.jsonl': `${header}\n${record({ address: 'talk', kind: 'clipping', jobId: 'c-1', credits: 10 })}\n`,
  });
  await expectExit(0, runInProcess(['destroy', 'campaign.yaml', '--orphans', '--yes'], env, folder));
  expect(seen).toEqual(['DELETE /clippings/c-1']);
});
