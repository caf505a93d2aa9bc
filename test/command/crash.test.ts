import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type CommandResult,
  command,
  root,
  type SandboxProcess,
  sandboxProcess,
  temporaryFolder,
} from '../rig/command.ts';

const preload = pathToFileURL(join(root, 'test/rig/kill-at-write.mjs')).href;
const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});

/** 6 steps: pictures, one that refers to another, songs. */
const manifest = `version: 1
name: crash
tasks:
  pic: { kind: image, foreach: [a, b, c, d], with: { prompt: "a {{row}}", resolution: 1k } }
  over: { kind: image, with: { prompt: over, resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] }, from: { pic: { key: a } } }
  song: { kind: music, foreach: [k], with: { model: song-7.5, prompt: "{{row}}", output_format: wav } }
`;

interface Trial {
  folder: string;
  lock: string;
  sandbox: SandboxProcess;
  apply(env?: Record<string, string>): Promise<CommandResult>;
}

async function makeTrial(): Promise<Trial> {
  const folder = temporaryFolder();
  folders.push(folder);
  writeFileSync(join(folder.path, 'campaign.yaml'), manifest);
  const sandbox = await sandboxProcess(join(folder.path, 'service'));
  return {
    folder: folder.path,
    lock: join(folder.path, 'campaign.lock.jsonl'),
    sandbox,
    apply: (env = {}) =>
      command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], {
        cwd: folder.path,
        env: { ...sandbox.env, ...env },
        preload,
      }),
  };
}

function readLock(trial: Trial): string {
  try {
    return readFileSync(trial.lock, 'utf8');
  } catch {
    return '';
  }
}

/** Each trial has a service of its own, and with it another port; all else must be equal to the byte. */
function withoutAddress(lock: string): string {
  return lock.replace(/"service":"[0-9a-f]+"/, '"service":"…"');
}

/** The promise: whatever the service has charged was on record before it was asked. */
function keysWithoutIntent(trial: Trial): string[] {
  const recorded = readLock(trial);
  return trial.sandbox.ledger().flatMap(({ key }) => (key === null || recorded.includes(key) ? [] : [key]));
}

async function countOperations(): Promise<{ operations: number; lock: string }> {
  const trial = await makeTrial();
  try {
    const { code, err } = await trial.apply({ REPORT_COUNT: '1' });
    expect(code, err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(6);
    return {
      operations: Number(/lock operations: (\d+)/.exec(err)?.[1]),
      lock: readLock(trial),
    };
  } finally {
    await trial.sandbox.stop();
  }
}

describe('killed with SIGKILL at every write of the lock', () => {
  test('running again books 6 creates and ends in the same bytes', async () => {
    const { operations, lock } = await countOperations();
    expect(operations).toBeGreaterThan(6);
    const points = Array.from({ length: operations }, (_, index) => index + 1);
    const tryPoint = async (point: number) => {
      const trial = await makeTrial();
      try {
        const killed = await trial.apply({ KILL_AT: String(point), KILL_WHEN: point % 2 === 0 ? 'before' : 'after' });
        // Groups of lines differ from run to run, so the last points may lie behind the end.
        if (killed.signal !== 'SIGKILL') expect(killed.code, killed.err).toBe(0);
        expect(keysWithoutIntent(trial)).toEqual([]);
        const again = await trial.apply();
        expect(again.code, again.err).toBe(0);
        expect(trial.sandbox.ledger()).toHaveLength(6);
        expect(withoutAddress(readLock(trial))).toBe(withoutAddress(lock));
        return killed.signal === 'SIGKILL';
      } finally {
        await trial.sandbox.stop();
      }
    };
    let kills = 0;
    for (let start = 0; start < points.length; start += 2) {
      const results = await Promise.all(points.slice(start, start + 2).map(tryPoint));
      kills += results.filter(Boolean).length;
    }
    expect(kills).toBeGreaterThan(operations / 2);
  }, 400_000);

  test('control: without intents on disk the same check fails', async () => {
    let missing: string[] = [];
    for (let point = 4; point < 24 && missing.length === 0; point += 1) {
      const trial = await makeTrial();
      try {
        await trial.apply({ KILL_AT: String(point), KILL_WHEN: 'before', DROP_INTENTS: '1' });
        missing = keysWithoutIntent(trial);
      } finally {
        await trial.sandbox.stop();
      }
    }
    expect(missing).not.toEqual([]);
  }, 60_000);
});
