import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { importStep, load, plan } from '../../../src/index.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';

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

const home = process.env.XDG_STATE_HOME;
afterEach(() => {
  process.env.XDG_STATE_HOME = home;
});

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
    expect(await told()).toContain('the last commit has it with 1 job');
    git('rm', '-q', '-f', 'campaign.lock.jsonl');
    git('commit', '-qm', 'removed');
    expect(await told()).toMatch(/commit [0-9a-f]+ has it with 1 job/);
  });
});
