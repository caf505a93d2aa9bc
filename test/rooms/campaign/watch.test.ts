import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import { type Round, type WatchOptions, watchCampaign } from '../../../src/campaign/watch/watch.ts';
import { temporaryFolder } from '../../rig/command.ts';

const manifest = `version: 1
name: looked-at
tasks:
  pic:
    kind: image
    foreach: rows.csv
    key: "{{row.k}}"
    with: { model: alpha-2, resolution: 1k, prompt: "{{row.k}} on an oak table" }
`;
const rows = 'k\nlamp\nvase\n';

interface Watched {
  path(name: string): string;
  write(name: string, text: string): void;
  /** Every round so far. */
  shown: Round[];
  /** The first round from now on, or not taken yet, that fits. Those before it are passed over. */
  next(fits?: (round: Round) => boolean): Promise<Round>;
}

/** Watches campaign.yaml in a folder with these files; the first round is over. */
async function startWatching(files: Record<string, string> = {}, options: WatchOptions = {}): Promise<Watched> {
  const { path: folder, remove } = temporaryFolder();
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries({ 'campaign.yaml': manifest, 'rows.csv': rows, ...files }))
    write(name, text);
  const shown: Round[] = [];
  let taken = 0;
  let wake = () => {};
  const controller = new AbortController();
  const campaign = await openCampaign(join(folder, 'campaign.yaml'));
  const ended = watchCampaign(campaign, options, {
    signal: controller.signal,
    show(round) {
      shown.push(round);
      wake();
    },
  });
  onTestFinished(async () => {
    controller.abort();
    await ended;
    remove();
  });
  const next = async (fits: (round: Round) => boolean = () => true) => {
    for (;;) {
      const round = shown[taken];
      if (round === undefined) {
        await new Promise<void>((done) => {
          wake = done;
        });
      } else {
        taken += 1;
        if (fits(round)) return round;
      }
    }
  };
  const watched = { path: (name: string) => join(folder, name), write, shown, next };
  await next();
  return watched;
}

/** A file to include. */
const manifestOf = (task: string) => `tasks:\n  ${task}: { kind: image, with: { prompt: ${task}, resolution: 1k } }\n`;
const addressesOf = ({ planned }: Round) => planned?.plan.rows.map(({ address }) => address);
const changesOf = ({ difference }: Round) => difference?.steps.map(({ change, address }) => `${change} ${address}`);
const codesOf = ({ diagnostics }: Round) => diagnostics.map(({ code }) => code);

describe('after a save', () => {
  test('what changed is told with its cause, against the last plan', async () => {
    const { write, next, shown } = await startWatching();
    expect(addressesOf(shown[0] as Round)).toEqual(['pic@lamp', 'pic@vase']);
    expect(shown[0]?.difference).toBeUndefined();
    write('campaign.yaml', manifest.replace('oak', 'elm'));
    const { difference } = await next();
    expect(difference?.steps.map(({ text }) => text)).toEqual(Array(2).fill(expect.stringContaining('oak → elm')));
    write('rows.csv', `${rows}bowl\n`);
    expect(changesOf(await next())).toEqual(['added pic@bowl']);
    write('campaign.yaml', `# remark\n${manifest.replace('oak', 'elm')}`);
    expect(changesOf(await next())).toEqual([]);
  });

  test('a cap that comes to hold is told for the steps that it holds back', async () => {
    const prices = '\nprices: { image/alpha-2/resolution=1k: 2 }\n';
    const { write, next } = await startWatching({ 'campaign.yaml': manifest + prices });
    write('campaign.yaml', `${manifest}${prices}budget: { credits: 3 }\n`);
    expect((await next()).difference?.others).toEqual([{ from: 'create', to: 'blocked', addresses: ['pic@vase'] }]);
  });

  test('only steps that were chosen are told', async () => {
    const { write, next } = await startWatching({}, { select: ['pic@lamp'] });
    write('campaign.yaml', manifest.replace('oak', 'elm'));
    expect(changesOf(await next())).toEqual(['changed pic@lamp']);
  });

  test.each<[how: string, save: (watched: Watched, text: string) => void]>([
    ['written in place', ({ write }, text) => write('campaign.yaml', text)],
    [
      'renamed over it',
      ({ write, path }, text) => {
        write('.campaign.yaml.tmp', text);
        renameSync(path('.campaign.yaml.tmp'), path('campaign.yaml'));
      },
    ],
    [
      'the old one moved away first, as vim does',
      ({ write, path }, text) => {
        renameSync(path('campaign.yaml'), path('campaign.yaml~'));
        write('campaign.yaml', text);
        unlinkSync(path('campaign.yaml~'));
      },
    ],
  ])('that was %s, twice', async (_how, save) => {
    const watched = await startWatching();
    for (const wood of ['elm', 'ash']) {
      save(watched, manifest.replace('oak', wood));
      expect(changesOf(await watched.next())).toEqual(['changed pic@lamp', 'changed pic@vase']);
    }
    expect(watched.shown.filter(({ planned }) => planned === undefined)).toEqual([]);
  });
});

describe('while a file is written', () => {
  test.each([
    ['campaign.yaml', manifest, 40],
    ['campaign.yaml', manifest, manifest.indexOf('row.k') + 2],
    ['rows.csv', `${rows}bowl\ncup\n`, rows.length + 2],
    ['rows.csv', `${rows}bowl\ncup\n`, 0],
  ])('half of %s is not told', async (name, text, cut) => {
    const { write, next, shown } = await startWatching();
    write(name, text.slice(0, cut));
    // Longer than a save is waited for, so that the half is planned.
    await sleep(100);
    write(name, text);
    await next();
    expect(shown).toHaveLength(2);
    expect(shown[1]?.planned).toBeDefined();
    expect(changesOf(shown[1] as Round)).toEqual(name === 'rows.csv' ? ['added pic@bowl', 'added pic@cup'] : []);
  });

  test('a thousand saves in a row are a few plans, and the last one counts', async () => {
    const { write, next, shown } = await startWatching();
    for (let at = 1; at <= 1000; at += 1) write('rows.csv', `k\nrow-${at}\n`);
    await next((round) => addressesOf(round)?.[0] === 'pic@row-1000');
    expect(shown.length).toBeLessThan(20);
  });

  test('what a run does to the steps is shown now and then, and a save at once', async () => {
    const campaign = (credits: number) =>
      `${manifest}prices: { image/alpha-2/resolution=1k: 2 }\nbudget: { credits: ${credits} }\n`;
    const { write, next, shown } = await startWatching({
      'campaign.yaml': campaign(20),
      'rows.csv': `k\n${[...'abcdefghij'].join('\n')}\n`,
    });
    for (let credits = 19; credits > 0; credits -= 2) {
      write('campaign.yaml', campaign(credits));
      await sleep(60);
    }
    expect(shown.length).toBeLessThanOrEqual(2);
    write('campaign.yaml', campaign(3).replace('oak', 'elm'));
    expect(changesOf(await next((round) => (changesOf(round)?.length ?? 0) > 0))).toHaveLength(10);
    expect(shown.length).toBeLessThanOrEqual(3);
  });

  test('saves without an end are shown all the same', async () => {
    const { write, next } = await startWatching();
    let at = 0;
    const timer = setInterval(() => {
      at += 1;
      write('rows.csv', `k\nrow-${at}\n`);
    }, 5);
    onTestFinished(() => clearInterval(timer));
    for (let seen = 0; seen < 2; seen += 1) await next();
    expect(at).toBeGreaterThan(0);
  });
});

describe('what is wrong', () => {
  test('is shown when it stays, and the next plan is compared with the last one', async () => {
    const { write, next } = await startWatching();
    write('campaign.yaml', manifest.replace('kind', 'knid'));
    const wrong = await next();
    expect(wrong.planned).toBeUndefined();
    expect(codesOf(wrong)).toContain('MB1101');
    write('campaign.yaml', manifest.replace('oak', 'elm'));
    expect(changesOf(await next())).toHaveLength(2);
  });

  test('may hide what else is read: it is still watched', async () => {
    const { write, next } = await startWatching();
    write('campaign.yaml', 'tasks: [\n');
    await next();
    write('rows.csv', 'k\nbowl\n');
    await next(({ planned }) => planned === undefined);
    write('campaign.yaml', manifest);
    expect(changesOf(await next())).toEqual(['added pic@bowl', 'removed pic@lamp', 'removed pic@vase']);
  });

  test.each([
    ['the manifest', 'campaign.yaml', manifest],
    ['a table', 'rows.csv', rows],
  ])('%s may go and come back', async (_what, name, text) => {
    const { path, write, next } = await startWatching();
    for (let time = 1; time <= 2; time += 1) {
      rmSync(path(name));
      expect((await next()).planned).toBeUndefined();
      write(name, text);
      expect(changesOf(await next())).toEqual([]);
    }
  });

  test('a folder in the place of a table, a lock that is none, and a selection that finds nothing end nothing', async () => {
    const { path, write, next } = await startWatching({}, { select: ['pic@lamp'] });
    rmSync(path('rows.csv'));
    mkdirSync(path('rows.csv'));
    expect(codesOf(await next())).toEqual(['MB1301']);
    rmSync(path('rows.csv'), { recursive: true });
    write('rows.csv', 'k\nbowl\n');
    expect((await next()).failure?.code).toBe('MB3002');
    write('rows.csv', rows);
    await next(({ planned }) => planned !== undefined);
    write('campaign.lock.jsonl', 'nothing\n');
    expect((await next()).failure?.code).toBe('MB3407');
    rmSync(path('campaign.lock.jsonl'));
    expect(changesOf(await next())).toEqual([]);
  });
});

describe('what the manifest names', () => {
  test('is watched from the save on that names it, in folders that come later, too', async () => {
    const { path, write, next } = await startWatching();
    write('campaign.yaml', manifest.replace('tasks:', 'include: [parts/deep/more.yaml]\ntasks:'));
    expect((await next()).planned).toBeUndefined();
    mkdirSync(path('parts'));
    mkdirSync(path('parts/deep'));
    write('parts/deep/more.yaml', manifestOf('song'));
    expect(changesOf(await next(({ planned }) => planned !== undefined))).toEqual(['added song']);
    write('parts/deep/more.yaml', manifestOf('tune'));
    expect(changesOf(await next())).toEqual(['added tune', 'removed song']);
    renameSync(path('parts'), path('gone'));
    expect((await next()).planned).toBeUndefined();
    renameSync(path('gone'), path('parts'));
    await next(({ planned }) => planned !== undefined);
    write('parts/deep/more.yaml', manifestOf('air'));
    expect(changesOf(await next())).toEqual(['added air', 'removed tune']);
  });

  test('by a pattern is noticed in new folders', async () => {
    const { path, write, next } = await startWatching({
      'campaign.yaml': manifest.replace('rows.csv', '"in/**/*.txt"').replaceAll('row.k', 'row.name'),
    });
    mkdirSync(path('in/new'), { recursive: true });
    write('in/new/a.txt', '');
    expect(addressesOf(await next(({ planned }) => planned !== undefined))).toHaveLength(1);
    write('in/new/b.txt', '');
    expect(changesOf(await next())).toHaveLength(1);
  });

  test('is followed through links', async () => {
    const { path, write, next } = await startWatching({ 'other.csv': rows });
    mkdirSync(path('real'));
    write('real/rows.csv', rows);
    rmSync(path('rows.csv'));
    symlinkSync('real/rows.csv', path('rows.csv'));
    await next();
    write('real/rows.csv', `${rows}bowl\n`);
    expect(changesOf(await next())).toEqual(['added pic@bowl']);
    rmSync(path('rows.csv'));
    symlinkSync('other.csv', path('rows.csv'));
    expect(changesOf(await next())).toEqual(['removed pic@bowl']);
  });

  test('is looked at again where its bytes decide: a file to upload', async () => {
    const { write, next } = await startWatching({
      'campaign.yaml': manifest.replace('prompt:', 'referenceImages: [\'{{upload "logo.png"}}\'], prompt:'),
      'logo.png': 'one',
    });
    write('logo.png', 'two');
    expect(changesOf(await next())?.length).toBeGreaterThan(0);
    write('logo.png', 'six');
    expect(changesOf(await next())?.length).toBeGreaterThan(0);
  });
});
