import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ReviewAsset, ReviewData, WantedVerdict } from '../../src/contract/review.ts';
import { bin, command, temporaryFolder } from '../rig/command.ts';
import { readLockFile } from '../rig/oracle.ts';

const manifest = `version: 1
name: posters
tasks:
  hero: { kind: image, takes: 3, gate: { choose: 1 }, with: { prompt: a lamp, resolution: 1k, model: alpha-2 } }
  poster: { kind: image, with: { prompt: a poster, resolution: 1k, model: alpha-2, referenceImages: ["{{tasks.hero.url}}"] } }
`;
const sandbox = ['--sandbox', '--yes', '--sandbox-speed', '1000'];

interface Review {
  url: string;
  said(): string;
  data(): Promise<ReviewData>;
  at(address: string): Promise<ReviewAsset>;
  judge(verdicts: WantedVerdict[]): Promise<{ status: number; answer: unknown }>;
  /** Ctrl-C. */
  end(): Promise<{ code: number | null; err: string }>;
}

function folderHere(text = manifest): string {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(path, 'campaign.yaml'), text);
  return path;
}

async function apply(cwd: string, code = 5): Promise<void> {
  const applied = await command(['apply', 'campaign.yaml', ...sandbox], { cwd });
  expect(applied.code, applied.err).toBe(code);
}

function start(cwd: string, words: string[], env: Record<string, string> = {}): ChildProcess & { said(): string } {
  const child = spawn(process.execPath, [bin, 'review', 'campaign.yaml', ...words], {
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return Object.assign(child, { said: () => text });
}

async function review(cwd: string, words: string[] = ['--sandbox', '--no-open'], env = {}): Promise<Review> {
  const child = start(cwd, words, env);
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  let url: string | undefined;
  while (url === undefined) {
    expect(child.exitCode, child.said()).toBeNull();
    url = /review {2}(http:\S+)\n {2}.*\n/.exec(child.said())?.[1];
    await wait(5);
  }
  const own = url;
  const data = async () => (await (await fetch(`${own}data.json`)).json()) as ReviewData;
  return {
    url,
    data,
    said: child.said,
    async at(address) {
      const found = (await data()).assets.find((asset) => asset.address === address);
      if (found === undefined) throw new Error(`${address} is not shown`);
      return found;
    },
    async judge(verdicts) {
      const answer = await fetch(`${own}verdicts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: new URL(own).origin },
        body: JSON.stringify({ verdicts }),
      });
      return { status: answer.status, answer: await answer.json() };
    },
    async end() {
      child.kill('SIGINT');
      return { code: await ended, err: child.said() };
    },
  };
}

const wanted = ({ address, job = '' }: ReviewAsset, is: WantedVerdict['is']): WantedVerdict => ({ address, is, job });

describe('review', () => {
  test('says what is open, serves page, data, pictures and small ones, records verdicts, and sums up at Ctrl-C', async () => {
    const cwd = folderHere();
    await apply(cwd);
    const { url, at, judge, said, end } = await review(cwd);
    expect(said()).toContain('  1 gate is open, 3 outputs to look at; Ctrl-C ends it\n');
    const html = await (await fetch(url)).text();
    for (const name of [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')) {
      expect((await fetch(`${url}${name}`)).status, name).toBe(200);
    }
    const [first, second, third] = [await at('hero/1'), await at('hero/2'), await at('hero/3')];
    const [file] = first.files;
    const picture = Buffer.from(await (await fetch(`${url}${file?.url}`)).arrayBuffer());
    expect(picture).toEqual(readFileSync(join(cwd, 'campaign.sandbox', file?.path ?? '')));
    const thumb = await fetch(`${url}${file?.thumb}`);
    expect(thumb.headers.get('content-type')).toBe('image/jpeg');
    const small = Buffer.from(await thumb.arrayBuffer());
    expect([small.readUInt16BE(0), small.length < 60_000]).toEqual([0xffd8, true]);
    // The others are made while nobody asks for anything.
    const kept = ({ files: [one] }: typeof first) => join(cwd, '.mediabatch/thumbs', `${one?.sha256}.jpg`);
    while (![first, second, third].every((one) => existsSync(kept(one)))) await wait(5);
    expect(await judge([wanted(first, 'picked'), wanted(second, 'rejected'), wanted(third, 'picked')])).toMatchObject({
      status: 200,
      answer: { is: 'recorded', refused: [] },
    });
    const { code, err } = await end();
    expect(code).toBe(0);
    expect(err).toMatch(
      /picked 1, rejected 1, every gate is decided\n {2}then: mediabatch apply campaign\.yaml --sandbox\n$/,
    );
    const { steps } = readLockFile(join(cwd, 'campaign.sandbox.lock.jsonl'));
    expect(steps.get('hero/3')?.decisions?.verdicts).toMatchObject([{ is: 'picked', job: third.job }]);
    await apply(cwd, 0);
  });

  test('a picture that cannot be read answers with a reason, and the next one is made', async () => {
    const cwd = folderHere();
    await apply(cwd);
    const path = join(cwd, 'campaign.sandbox.lock.jsonl');
    const { url, at } = await review(cwd);
    const [first] = (await at('hero/1')).files;
    const bytes = readFileSync(join(cwd, 'campaign.sandbox', first?.path ?? ''));
    bytes.fill(7, 40);
    writeFileSync(join(cwd, 'campaign.sandbox', first?.path ?? ''), bytes);
    const refused = await fetch(`${url}${first?.thumb}`);
    expect(refused.status).toBe(404);
    expect(await refused.json()).toEqual({ error: { text: `${first?.path} is not the one that was saved` } });
    const [second] = (await at('hero/2')).files;
    expect((await fetch(`${url}${second?.thumb}`)).status).toBe(200);
    expect(readFileSync(path, 'utf8')).not.toContain('verdict');
  });

  test('takes of a run in another process appear', async () => {
    const cwd = folderHere();
    const open = await review(cwd);
    expect(open.said()).toContain('nothing is bought yet');
    expect((await open.data()).assets.every(({ state }) => state === 'planned')).toBe(true);
    const changes = await fetch(`${open.url}changes`);
    const reader = changes.body?.pipeThrough(new TextDecoderStream()).getReader();
    await apply(cwd);
    let heard = '';
    while (!/"revision":([2-9]|\d\d)/.test(heard)) heard += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    while ((await open.at('hero/3')).state !== 'done') await wait(50);
    const { judge, at } = open;
    expect(await judge([wanted(await at('hero/2'), 'picked')])).toMatchObject({ status: 200 });
    const { code, err } = await open.end();
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('picked 1, rejected 0') });
  });

  test('verdicts that are under way at Ctrl-C are recorded', async () => {
    const cwd = folderHere();
    await apply(cwd);
    const { at, judge, end } = await review(cwd);
    const judged = judge([wanted(await at('hero/2'), 'picked')]).catch(() => undefined);
    await wait(3);
    const { code } = await end();
    const answer = await judged;
    expect(code).toBe(0);
    const verdicts = readLockFile(join(cwd, 'campaign.sandbox.lock.jsonl')).steps.get('hero/2')?.decisions?.verdicts;
    // It had arrived, or it had not: what was answered is in the lock.
    if (answer !== undefined) expect(verdicts).toMatchObject([{ is: 'picked' }]);
  });

  test.skipIf(process.platform !== 'linux')(
    'opens the address as one word, and says how to go on where nothing opens it',
    async () => {
      const cwd = folderHere();
      await apply(cwd);
      mkdirSync(join(cwd, 'bin'));
      const opener = (does: string) =>
        writeFileSync(join(cwd, 'bin/xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${cwd}/asked'\n${does}\n`, {
          mode: 0o755,
        });
      const env = { PATH: `${join(cwd, 'bin')}:/usr/bin:/bin` };
      opener('exit 0');
      const first = await review(cwd, ['--sandbox'], env);
      while (!readOr(join(cwd, 'asked')).includes('http')) await wait(5);
      const [count, entrance = ''] = readFileSync(join(cwd, 'asked'), 'utf8').split('\n');
      expect(count).toBe('1');
      // Everybody on this machine can read what a program is called with: it leads to the page once.
      expect(entrance).not.toBe(first.url);
      expect((await fetch(entrance)).url).toBe(first.url);
      expect((await fetch(entrance)).status).toBe(403);
      await first.end();
      opener('exit 3');
      const second = await review(cwd, ['--sandbox'], env);
      while (!second.said().includes('no browser was opened')) await wait(5);
      expect((await second.end()).code).toBe(0);
    },
    60_000,
  );

  test('a port that is taken, a selection that finds nothing, a manifest with mistakes: said, and nothing is served', async () => {
    const cwd = folderHere();
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.close();
    });
    while (!server.listening) await wait(1);
    const { port } = server.address() as AddressInfo;
    const taken = await command(['review', 'campaign.yaml', '--no-open', '--port', String(port)], { cwd });
    expect(taken).toMatchObject({ code: 64, err: expect.stringContaining(`port ${port} is taken`) });
    const none = await command(['review', 'campaign.yaml', '--no-open', '-s', 'nothing'], { cwd });
    expect(none).toMatchObject({ code: 64, err: expect.stringContaining('matches no step') });
    writeFileSync(join(cwd, 'campaign.yaml'), manifest.replace('kind: image', 'kind: imago'));
    expect(await command(['review', 'campaign.yaml', '--no-open'], { cwd })).toMatchObject({ code: 65 });
  });
});

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
