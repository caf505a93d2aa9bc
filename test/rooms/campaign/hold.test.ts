import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { ApplySession } from '../../../src/campaign/apply.ts';
import { graphOf } from '../../../src/campaign/checked-graph.ts';
import { pickPlanningOptions } from '../../../src/campaign/option-table.ts';
import type { CampaignPaths } from '../../../src/campaign/paths.ts';
import { holdGuard, requireLock, settleLock } from '../../../src/campaign/read-lock.ts';
import { nameOfPurchases } from '../../../src/campaign/restore-purchases.ts';
import type { Executor, Running } from '../../../src/campaign/run.ts';
import { findFacts } from '../../../src/campaign/service-facts.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { openLockFile } from '../../../src/disk/lock/lock-file.ts';
import { digestOf } from '../../../src/disk/outputs/hash-file.ts';
import { keepAnswer } from '../../../src/disk/state/caches.ts';
import { openPurchases } from '../../../src/disk/state/purchase-journal.ts';
import { outlineOf } from '../../../src/graph/graph.ts';
import { Scope } from '../../../src/ground/scope.ts';
import { importStep, load, plan } from '../../../src/index.ts';
import { readLock } from '../../../src/lock/read.ts';
import { emptyLock, writeHeader, writeLine, writeLines } from '../../../src/lock/write.ts';
import { makeFolder } from '../../rig/folder.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { job, lockOf, picture, stepOf } from '../plan/facts.ts';

test('refuses a lock in a folder that does not exist, or below a file', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'campaign.yaml'), '');
  for (const name of ['x/y/z.jsonl', 'campaign.yaml/z.jsonl']) {
    const lock = join(folder, name);
    const notify = () => undefined;
    for (const used of [
      holdGuard(lock, 0, notify),
      requireLock({ paths: { lock } as CampaignPaths, sandbox: false, notify }, undefined),
    ]) {
      await expect(used).rejects.toMatchObject({ failure: { code: 'MB3407' } });
    }
  }
});

const manifest =
  'version: 1\nname: spring\ntasks:\n  film: { kind: video, with: { prompt: a lamp }, save: films/film }\n';

/** A campaign without a lock that buys a film, and whose carrier is asked once more for a run under way: it has this one then. */
async function hold({ isBought, begun }: { isBought: boolean; begun: Running | undefined }) {
  const folder = makeFolder();
  const write = (name: string, bytes: string | Buffer) => writeFileSync(join(folder, name), bytes);
  write('campaign.yaml', manifest);
  if (isBought) {
    mkdirSync(join(folder, 'films'));
    write('films/film.mp4', Buffer.from('0000001c6674797069736f6d00000200', 'hex'));
  }
  const { campaign, options } = await plan(await load(join(folder, 'campaign.yaml'), { environment: {} }));
  let asked = -1;
  const carrier: Executor = {
    async attach() {
      asked += 1;
      if (asked === 0) return undefined;
      // Whoever attaches holds the lock.
      const guard = await holdGuard(campaign.paths.lock, 0, () => {}, { forEngine: true });
      await guard.release();
      return begun;
    },
    start: () => Promise.reject(new Error('not asked for')),
  };
  const scope = new Scope();
  const checked = graphOf(campaign.checked, campaign, campaign.checked);
  const session = new ApplySession(checked, { campaign, terms: pickPlanningOptions(options), carrier, scope });
  const held = session.plan();
  held.finally(() => session.close()).catch(() => {});
  return { held, asked: () => asked };
}

const theirs = { isWork: true } as Running;

test('who is second to submit a campaign watches the run that has begun since, in place of a lock that seems lost', async () => {
  const { held, asked } = await hold({ isBought: true, begun: theirs });
  expect(await held).toBe(theirs);
  expect(asked()).toBe(1);
});

test('where none has begun the lock is lost', async () => {
  const { held, asked } = await hold({ isBought: true, begun: undefined });
  await expect(held).rejects.toMatchObject({ failure: { code: 'MB3409' } });
  expect(asked()).toBe(1);
});

test('nobody asks for another run where nothing seems lost', async () => {
  const { held, asked } = await hold({ isBought: false, begun: theirs });
  const own = await held;
  expect([own === theirs, asked()]).toEqual([false, 0]);
});

const environment = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'sk_live_x' };

function loadPicture(name: string) {
  const file = join(makeFolder(), 'campaign.yaml');
  writeFileSync(file, `version: 1\nname: ${name}\ntasks:\n  pic: { kind: image, with: { prompt: a lamp } }\n`);
  return load(file, { environment });
}

test('a new lock keeps a request whose answer is open', async () => {
  const campaign = await loadPicture('renewed');
  const first = await plan(campaign);
  const { key = '', fingerprint = '' } = first.plan.rows[0]?.order ?? {};
  const journal = await openPurchases(nameOfPurchases(campaign, 'renewed') ?? '', { clock: systemClock });
  const send = { address: 'pic', kind: 'image', generation: 1, attempt: 1, send: 's1', state: 'intent' } as const;
  await journal?.add({ ...send, key, fingerprint, since: new Date().toISOString() });
  await journal?.close();
  const renewed = await plan(campaign, { new: true });
  expect(renewed.plan.rows.map(({ send, order }) => send ?? order?.send?.id)).toEqual(['s1']);
});

test('a stored document leads to no unknown path', async () => {
  const campaign = await loadPicture('spring');
  const takes = (field: string) => ({ content: { 'application/json': { schema: { properties: { [field]: {} } } } } });
  const paths = {
    '/videos/other': { post: { requestBody: takes('prompt') } },
    '/voiceovers': { post: { requestBody: takes('text') } },
  };
  await keepAnswer(campaign.paths.state, campaign.service, 'document', { openapi: '3.1.0', paths });
  const { facts } = await findFacts(campaign, {});
  expect(Object.keys(facts.document?.creates ?? {}).sort()).toEqual(['video', 'voiceover']);
  expect(facts.createRoutes).toEqual({ voiceover: { path: '/voiceovers' } });
});

describe('a lost lock is told by', () => {
  const manifest = `version: 1
name: spring
tasks:
  pic: { kind: image, with: { prompt: a lamp, resolution: 1k }, save: images/pic }
  film: { kind: video, with: { prompt: a lamp }, save: films/film }
  clips: { kind: clipping, with: { videoUrl: "https://example.com/talk.mp4" }, save: clips/talk }
  logo: { kind: upload, with: { file: logo.png } }
  tell: { kind: post, with: { postContent: { caption: Hello }, accounts: [acc_1] } }
`;
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const mp4 = Buffer.from('0000001c6674797069736f6d00000200', 'hex');

  function place(text = manifest) {
    const folder = makeFolder();
    const write = (name: string, content: string | Buffer) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    };
    write('campaign.yaml', text);
    write('logo.png', png);
    /** What `plan` tells of a lost lock; undefined: nothing. */
    const told = async () => {
      const campaign = await load(join(folder, 'campaign.yaml'), { environment });
      const { notices } = await plan(campaign);
      return notices.flatMap((one) => (one.is === 'notice' && one.code === 'MB3409' ? [one.text] : []))[0];
    };
    return { path: (name: string) => join(folder, name), write, told };
  }

  const home = process.env.XDG_STATE_HOME;
  afterEach(() => {
    process.env.XDG_STATE_HOME = home;
  });

  test('a file where a step saves, with bytes that its kind makes', async () => {
    for (const [name, bytes] of [
      ['images/pic.png', png],
      ['films/film.mp4', mp4],
      ['clips/talk-1.mp4', mp4],
      ['images/pic.jpg', 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n'],
    ] as const) {
      const { write, told } = place();
      expect(await told()).toBeUndefined();
      write(name, bytes);
      expect(await told(), name).toContain(name);
    }
  });

  test('a file beside a lock of refused requests', async () => {
    const { write, told } = place();
    const refused = { state: 'refused', fingerprint: '1:aa', generation: 1, attempt: 1, key: 'mb1-pic-1' } as const;
    write('campaign.lock.jsonl', writeHeader(emptyLock()) + writeLine({ address: 'pic', kind: 'image', ...refused }));
    write('images/pic.png', png);
    expect(await told()).toContain('images/pic.png');
  });

  test('no file that was never an output', async () => {
    const { write, told } = place();
    write('images/pic.png', 'a note');
    write('images/pic.txt', 'a note');
    write('images/pic.jpg', png);
    write('films/film.png', png);
    write('images/other.png', png);
    expect(await told()).toBeUndefined();
  });

  test('the lock of the last commit, or of the one before it was removed', async () => {
    const { path, told, write } = place();
    const git = (...words: string[]) => execFileSync('git', words, { cwd: dirname(path('x')), env: gitEnvironment });
    git('init', '-q');
    const campaign = await load(path('campaign.yaml'), { environment });
    await importStep(campaign, { address: 'film', job: 'job_film', credits: 20, offline: true });
    git('add', '-A');
    git('commit', '-qm', 'bought');
    write('campaign.lock.jsonl', '');
    // Another machine: its journal is empty.
    process.env.XDG_STATE_HOME = path('home');
    expect(await told()).toContain('git has a version of the lock with 1 job');
    git('rm', '-q', '-f', 'campaign.lock.jsonl');
    git('commit', '-qm', 'removed');
    expect(await told()).toMatch(/commit [0-9a-f]+ has a version of the lock with 1 job/);
  });
});

test('a lock that another program replaced during a run keeps what both recorded', async () => {
  const path = join(makeFolder(), 'campaign.lock.jsonl');
  const graph = graphOfSteps([picture('ours'), picture('theirs')]);
  const lock = (address: string) => lockOf({ [address]: [job(stepOf(graph, address))] }, { kind: 'image' });
  const header = writeHeader(emptyLock());
  writeFileSync(path, header);
  const file = await openLockFile(path, { header, read: digestOf(Buffer.from(header)) });
  onTestFinished(() => file.close());
  writeFileSync(`${path}.new`, [...writeLines(lock('theirs'))].join(''));
  renameSync(`${path}.new`, path);
  const events: string[] = [];
  await settleLock(file, {
    ledger: { lock: lock('ours'), recorded: true },
    outline: outlineOf(graph),
    loaded: { needsRewrite: false },
    emit: ({ event }) => void events.push(event),
  });
  expect([...readLock(path, readFileSync(path)).lock.steps.keys()].sort()).toEqual(['ours', 'theirs']);
  expect(events).toEqual(['noticed']);
});
