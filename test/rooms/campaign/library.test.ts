import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import {
  apply,
  CampaignError,
  compare,
  cost,
  importStep,
  load,
  type Planned,
  pickFrom,
  plan,
  type RunEvent,
  resolve,
} from '../../../src/index.ts';
import { accountIds } from '../../../src/sandbox/samples.ts';
import { makeFolder } from '../../rig/folder.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';

const manifest = `version: 1
name: spring
defaults: { image: { resolution: 1k } }
tasks:
  hero: { kind: image, foreach: [oak, elm], with: { prompt: "a lamp on {{row}}" } }
  cover: { kind: image, with: { prompt: cover, referenceImages: ["{{tasks.hero.url}}"] }, from: { hero: { key: oak } } }
`;

/** What it threw; anything but a failure is a mistake of ours. */
async function failed(work: Promise<unknown>): Promise<CampaignError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CampaignError)) throw new Error(`no failure: ${String(error)}`);
  return error;
}

const quick = { rehearsal: { speed: 1000 } };

/** A campaign in a folder that goes away with the test, against the embedded service. */
function makeCampaign(text = manifest) {
  const folder = makeFolder();
  const file = join(folder, 'campaign.yaml');
  writeFileSync(file, text);
  const path = (name: string) => join(folder, name);
  return {
    file,
    path,
    write: (next: string) => writeFileSync(file, next),
    load: () => load(file, { sandbox: true }),
    lock: () => readFileSync(path('campaign.sandbox.lock.jsonl'), 'utf8'),
    async plan(): Promise<Planned> {
      return plan(await load(file, { sandbox: true }));
    },
  };
}

const actionsOf = ({ plan: { rows } }: Planned) => rows.map(({ address, action }) => `${address} ${action}`);

test('a campaign is loaded, planned and applied; planned again it has nothing to do', async () => {
  const campaign = makeCampaign();
  const planned = await campaign.plan();
  expect(actionsOf(planned)).toEqual(['hero@oak create', 'hero@elm create', 'cover create']);
  const events: RunEvent[] = [];
  const result = await apply(planned, { ...quick, on: (event) => events.push(event) });
  expect(result.exit).toBe(0);
  expect(Object.fromEntries(result.outcomes)).toEqual({ 'hero@oak': 'done', 'hero@elm': 'done', cover: 'done' });
  expect(events.at(0)?.event).toBe('run-started');
  expect(events.at(-1)).toEqual(result.end);
  expect(result.end?.spentNow).toBeGreaterThan(0);
  expect(actionsOf(await campaign.plan())).toEqual(['hero@oak keep', 'hero@elm keep', 'cover keep']);
});

test('mistakes are data, and nothing can be planned of them', async () => {
  const campaign = await makeCampaign(manifest.replace('prompt: cover', 'promt: cover')).load();
  expect(campaign.graph).toBeUndefined();
  expect(campaign.diagnostics.map(({ code, severity }) => [code, severity])).toContainEqual(['MB1501', 'error']);
  const { failure } = await failed(plan(campaign));
  if (failure.code !== 'MB3100') throw new Error(`not the mistakes of a manifest: ${failure.code}`);
  expect(failure.diagnostics).toEqual(campaign.diagnostics);
  expect(failure.sources.get(campaign.file)).toContain('promt');
});

test('a plan that was applied before buys nothing a second time', async () => {
  const campaign = makeCampaign();
  const planned = await campaign.plan();
  const first = await apply(planned, quick);
  const lines = campaign.lock();
  const again = await apply(planned, quick);
  expect(again.exit).toBe(0);
  expect(again.end?.spentNow).toBe(0);
  expect(again.end?.spentEver).toBe(first.end?.spentNow);
  expect(campaign.lock()).toBe(lines);
});

test('a plan with `retry:` that was interrupted after a failed job goes on with the attempts that it says', async () => {
  const text = manifest.replace('kind: image, foreach', 'kind: image, retry: { attempts: 3 }, foreach');
  const campaign = makeCampaign(`${text}prices: { image: 3 }\n`);
  const planned = await campaign.plan();
  const stop = new AbortController();
  const first = await apply(planned, {
    rehearsal: { speed: 1000, failRate: 1 },
    signal: stop.signal,
    on: ({ event }) => {
      if (event === 'job-retried') stop.abort();
    },
  });
  expect(first.exit).toBe(130);
  expect(actionsOf(await campaign.plan()).filter((action) => action.endsWith('retry')).length).toBeGreaterThan(0);
  const again = await apply(planned, quick);
  expect(again.exit).toBe(0);
  expect(actionsOf(await campaign.plan())).toEqual(['hero@oak keep', 'hero@elm keep', 'cover keep']);
});

test('what a plan does not name is not bought: a lock that was lost since is no reason to buy again', async () => {
  const campaign = makeCampaign();
  await apply(await campaign.plan(), quick);
  const kept = await campaign.plan();
  const lock = campaign.path('campaign.sandbox.lock.jsonl');
  writeFileSync(lock, '{"mediabatch":"lock","version":2,"service":"sandbox"}\n');
  await expect(apply(kept, quick)).rejects.toThrow(/nothing can be bought/);
  expect(campaign.lock().split('\n')).toHaveLength(2);
});

test('a plan is of the campaign as it was loaded, whatever the file says by now', async () => {
  const campaign = makeCampaign();
  const planned = await campaign.plan();
  campaign.write(manifest.replace('a lamp on', 'a chair on'));
  const result = await apply(planned, quick);
  expect(result.exit).toBe(0);
  expect(campaign.lock()).not.toContain('a chair on');
  expect(actionsOf(await campaign.plan())).toEqual(['hero@oak redo', 'hero@elm redo', 'cover redo']);
});

test('a signal that was aborted before stops all spending, and the next run goes on', async () => {
  const campaign = makeCampaign();
  const planned = await campaign.plan();
  const stopped = await apply(planned, { ...quick, signal: AbortSignal.abort('enough') });
  expect(stopped.exit).toBe(130);
  expect(stopped.end?.spentNow).toBe(0);
  expect((await apply(planned, quick)).exit).toBe(0);
});

test('two programs at once: the second is told who holds the lock, and buys nothing', async () => {
  const campaign = makeCampaign();
  const planned = await campaign.plan();
  let second: Promise<CampaignError> | undefined;
  const first = await apply(planned, {
    ...quick,
    on() {
      second ??= failed(apply(planned, quick));
    },
  });
  expect((await second)?.failure).toMatchObject({
    code: 'MB3401',
    lock: expect.stringMatching(/campaign\.sandbox\.lock\.jsonl$/),
    holder: { id: expect.any(String), pid: process.pid, host: hostname(), since: expect.any(String) },
  });
  expect(first.exit).toBe(0);
});

test('what a campaign cost, and what it changes since a commit, are data', async () => {
  const campaign = makeCampaign();
  const commit = (...words: string[]) =>
    execFileSync('git', words, { cwd: campaign.path('.'), env: gitEnvironment, stdio: 'pipe' });
  const { end } = await apply(await campaign.plan(), quick);
  const loaded = await campaign.load();
  const { totals } = await cost(loaded);
  expect(totals).toMatchObject({ spent: end?.spentNow, delivered: end?.spentNow });
  expect((await failed(compare(loaded, 'HEAD'))).failure.code).toBe('MB3601');
  commit('init', '--quiet');
  commit('add', '.');
  commit('commit', '--quiet', '-m', 'bought');
  campaign.write(manifest.replace('a lamp', 'a red lamp'));
  const { steps, discarded } = await compare(await campaign.load(), 'HEAD');
  expect(steps.map(({ change }) => change)).toEqual(['changed', 'changed', 'changed']);
  expect(discarded).toBe(totals.spent);
});

test('what only the command may pass has no effect when a program passes it', async () => {
  const campaign = makeCampaign();
  await apply(await campaign.plan(), quick);
  const stray = {
    saved: {},
    chosen: { redo: new Set(['hero@oak']) },
    askAboutMove: () => 'no',
    given: 'x',
    verify: () => {},
    isRun: true,
  };
  const planned = await plan(await campaign.load(), stray as object);
  expect(actionsOf(planned)).toEqual(['hero@oak keep', 'hero@elm keep', 'cover keep']);
  const again = await apply({ ...planned, options: stray as object }, { ...quick, ...(stray as object) });
  expect(again.end?.spentNow).toBe(0);
});

test('a listener that throws gets no more events, and the run goes on', async () => {
  const campaign = makeCampaign();
  const told: string[] = [];
  const loaded = await load(campaign.file, {
    sandbox: true,
    notify: (notice) => {
      if (notice.is === 'notice') told.push(notice.text);
    },
  });
  let heard = 0;
  const result = await apply(await plan(loaded), {
    ...quick,
    on() {
      heard += 1;
      throw new Error('broken');
    },
  });
  expect([result.exit, heard]).toEqual([0, 1]);
  expect(told).toContain('events are no longer reported, because the event listener threw: broken');
});

test('the key is in nothing that is printed or serialized', async () => {
  const { file } = makeCampaign();
  const token = 'live_0123456789abcdef0123456789abcdef';
  const campaign = await load(file, { environment: { baseUrl: 'https://service.example/api/v1', token } });
  expect(campaign.environment.token).toBe(token);
  const planned = await plan(campaign);
  for (const text of [JSON.stringify(planned), inspect(planned, { depth: 9 })]) expect(text).not.toContain(token);
});

test('a rehearsal of a campaign that is not one is refused before anything is sent', async () => {
  const { file } = makeCampaign();
  const planned = await plan(await load(file));
  expect((await failed(apply(planned, quick))).failure.code).toBe('MB3000');
});

test('what nobody can read again is not recorded', async () => {
  const campaign = makeCampaign();
  const loaded = await campaign.load();
  for (const wrong of [
    { job: 'a b' },
    { job: '..' },
    { job: 'job-1', credits: Number.NaN },
    { job: 'job-1', credits: -5 },
    { job: 'job-1', credits: 1.5 },
  ]) {
    const error = await failed(importStep(loaded, { address: 'hero@oak', offline: true, ...wrong }));
    expect(error.failure.code).toBe('MB3000');
  }
  const finding = { is: 'job', jobId: 'a b' } as const;
  expect((await failed(resolve(loaded, { address: 'hero@oak', finding }))).failure.code).toBe('MB3000');
  expect(existsSync(campaign.path('campaign.sandbox.lock.jsonl'))).toBe(false);
});

test('picks of a file are recorded only for steps and jobs that are still there, and all or none', async () => {
  const campaign = makeCampaign(`version: 1
name: spring
defaults: { image: { resolution: 1k } }
tasks:
  a: { kind: image, takes: 3, gate: { choose: 1, reasons: [dark, blurred] }, with: { prompt: a } }
  b: { kind: image, with: { prompt: b, referenceImages: ["{{tasks.a.url}}"] } }
`);
  await apply(await campaign.plan(), quick);
  const file = campaign.path('picks.json');
  const pick = async (...verdicts: object[]) => {
    writeFileSync(file, JSON.stringify({ mediabatch: 'picks', version: 1, by: 'Ann', verdicts }));
    const decided = await pickFrom(await campaign.load(), file);
    return 'rulings' in decided ? decided.rulings.map(({ is, address }) => `${is} ${address}`) : decided.is;
  };
  expect(
    await pick(
      { address: 'gone', is: 'picked' },
      { address: 'a/3', is: 'picked', job: 'another' },
      { address: 'a/1', is: 'rejected', reason: 'dark' },
      { address: 'a/2', is: 'picked' },
    ),
  ).toEqual(['recorded a/1', 'recorded a/2', 'unchanged gone', 'unchanged a/3']);
  const lines = campaign.lock();
  expect(lines).toContain('"reason":"dark"');
  const misspelt = pick({ address: 'a/3', is: 'picked' }, { address: 'a/1', is: 'rejected', reason: 'drak' });
  await expect(misspelt).rejects.toThrow('a/1 cannot have the reason "drak", which is not a reason of a');
  const two = pick({ address: 'a/1', is: 'picked' }, { address: 'a/3', is: 'picked' });
  await expect(two).rejects.toThrow('can have only 1 pick');
  expect(campaign.lock()).toBe(lines);
  expect(await pick({ address: 'a/2', is: 'rejected', reason: 'dark' }, { address: 'a/3', is: 'picked' })).toEqual([
    'recorded a/2',
    'recorded a/3',
  ]);
  const picked = await campaign.plan();
  expect(actionsOf(picked).filter((action) => action.startsWith('b '))).toEqual(['b create']);
});

test('a selection never publishes a post again, its exact address does', async () => {
  const campaign = makeCampaign(`version: 1
name: spring
defaults: { image: { resolution: 1k } }
tasks:
  a: { kind: image, with: { prompt: a } }
  share: { kind: post, with: { caption: look, accountIds: [${accountIds[0]}], media: ["{{tasks.a.url}}"] } }
`);
  const planned = await campaign.plan();
  const { outcomes } = await apply(planned, { ...quick, publish: true });
  expect(Object.fromEntries(outcomes)).toEqual({ a: 'done', share: 'done' });
  const notices: string[] = [];
  const loaded = await load(campaign.file, {
    sandbox: true,
    notify: (notice) => notices.push('text' in notice ? notice.text : ''),
  });
  expect(actionsOf(await plan(loaded, { redo: ['*'] }))).toEqual(['a redo', 'share keep']);
  expect(notices.join()).toContain('share is already posted');
  expect(notices.join()).toContain('--redo share');
  expect(actionsOf(await plan(loaded, { redo: ['share'] }))).toEqual(['a keep', 'share redo']);
  expect((await failed(plan(loaded, { redo: ['sh*'] }))).failure.code).toBe('MB3005');
});
