import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { importStep, load, plan } from '../../../src/index.ts';
import { temporaryFolder } from '../../rig/command.ts';

const environment = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'sk_live_x' };
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
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const write = (name: string, content: string | Buffer) => {
    const path = join(folder.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  write('campaign.yaml', text);
  write('logo.png', png);
  /** What `plan` tells of a lost lock; undefined: nothing. */
  const told = async () => {
    const campaign = await load(join(folder.path, 'campaign.yaml'), { environment });
    const { notices } = await plan(campaign);
    return notices.flatMap((one) => (one.is === 'notice' && one.code === 'MB3409' ? [one.text] : []))[0];
  };
  return { path: (name: string) => join(folder.path, name), write, told };
}

/** A run on the lock that began so many hours ago. */
function runOf(hours: number, ...events: [event: string, address: string][]) {
  const at = new Date(Date.now() - hours * 3_600_000).toISOString();
  const header = { mediabatch: 'run', version: 1, id: 'x', at, campaign: 'spring', lock: 'campaign.lock.jsonl' };
  const lines = events.map(([event, address]) => ({
    at,
    event,
    address,
    ...(event === 'job-created' && { jobId: `job_${address}` }),
  }));
  return [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}
const run = '.mediabatch/runs/2026-11-22-0435-k3f9.jsonl';

describe('a lost lock is told by', () => {
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

  test('no file that was never an output', async () => {
    const { write, told } = place();
    write('images/pic.png', 'a note');
    write('images/pic.txt', 'a note');
    write('images/pic.jpg', png);
    write('films/film.png', png);
    write('images/other.png', png);
    expect(await told()).toBeUndefined();
  });

  test('what a run here bought, or sent without an answer; not by what was refused, or uploaded, or on another lock', async () => {
    for (const address of ['film', 'tell', 'gone']) {
      const { write, told } = place();
      write(run, runOf(1, ['create-intended', address], ['job-created', address]));
      expect(await told(), address).toContain(`bought ${address}`);
      write(run, runOf(1, ['create-intended', address]));
      expect(await told(), address).toContain(`bought ${address}`);
      write(run, runOf(1, ['create-intended', address], ['step-finished', address]));
      expect(await told(), address).toBeUndefined();
      write(run, runOf(1, ['job-created', address]).replace('campaign.lock', 'other.lock'));
      write('other.lock.jsonl', '');
      expect(await told(), address).toBeUndefined();
    }
    const { write, told } = place();
    write(run, runOf(1, ['create-intended', 'logo'], ['job-created', 'logo']));
    expect(await told()).toBeUndefined();
  });

  test('what a campaign of this name bought on a lock that is gone: it was renamed, or lost under another name', async () => {
    const { write, told } = place();
    const before = runOf(1, ['job-created', 'film']).replace('campaign.lock', 'old.lock');
    write(run, before.replace('"spring"', '"summer"'));
    expect(await told()).toBeUndefined();
    write(run, before);
    expect(await told()).toContain('bought film');
  });

  test('a lock that was written here, where no run tells what it held: a job was imported, or it is long ago', async () => {
    const { path, told, write } = place();
    const campaign = await load(path('campaign.yaml'), { environment });
    await importStep(campaign, { address: 'film', job: 'job_film', credits: 20, offline: true });
    expect(await told()).toBeUndefined();
    rmSync(path('campaign.lock.jsonl'));
    expect(await told()).toContain('this machine wrote one that is gone');
    write(run, runOf(1, ['create-intended', 'pic'], ['step-finished', 'pic']));
    expect(await told()).toBeUndefined();
  });
});

test('pictures heal for a day, as far as this machine knows that it is no longer, and nothing else was bought', async () => {
  const { write, told } = place();
  write('images/pic.png', png);
  write(run, runOf(2, ['job-created', 'pic']));
  expect(await told()).toBeUndefined();
  // The name is part of the key: under another one the service knows of no purchase.
  write(run, runOf(2, ['job-created', 'pic']).replace('"spring"', '"summer"'));
  expect(await told()).toContain('images/pic.png');
  write(run, runOf(26, ['job-created', 'pic']));
  expect(await told()).toContain('images/pic.png');
  // Made anew since: the first of its keys is what is asked for.
  write('.mediabatch/runs/2026-11-23-0435-k3f9.jsonl', runOf(2, ['job-created', 'pic']));
  expect(await told()).toContain('images/pic.png');
  write(run, runOf(2, ['job-created', 'pic'], ['job-created', 'tell']));
  expect(await told()).toContain('tell');
});
