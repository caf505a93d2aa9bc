import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, type TestContext, test } from 'vitest';
import type { Fault, FaultAction } from '../../src/sandbox/index.ts';
import { type CommandResult, command, root, temporaryFolder } from '../rig/command.ts';
import { paidTwice, readLockFile, unrecorded } from '../rig/oracle.ts';
import { type ServiceHere, serviceHere } from '../rig/service-here.ts';

const preload = pathToFileURL(join(root, 'test/rig/kill-at-write.mjs')).href;

/** One step per task; `known` is bought first, so its kind's list has shown what it gives back. */
const steps: Record<string, { known: string; asked: string }> = {
  voiceover: { known: 'text: first words, voice_id: Aria', asked: 'text: other words, voice_id: Aria' },
  video: { known: 'prompt: a first video, resolution: 720p', asked: 'prompt: another video, resolution: 720p' },
  thumbnail: {
    known: 'title: First, link: "https://youtu.be/a1"',
    asked: 'title: Second, link: "https://youtu.be/b2"',
  },
};

function manifest(kind: string, tasks: ('known' | 'asked')[]): string {
  const lines = tasks.map((task) => `  ${task}: { kind: ${kind}, with: { ${steps[kind]?.[task]} } }`);
  return `version: 1\nname: recovery\ntasks:\n${lines.join('\n')}\n`;
}

interface Trial {
  service: ServiceHere;
  lock: string;
  write(text: string): void;
  apply(options?: { env?: Record<string, string>; kill?: boolean }): Promise<CommandResult>;
}

async function makeTrial({ onTestFinished }: TestContext): Promise<Trial> {
  const { path, remove } = temporaryFolder();
  const service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    remove();
  });
  return {
    service,
    lock: join(path, 'campaign.lock.jsonl'),
    write: (text) => writeFileSync(join(path, 'campaign.yaml'), text),
    apply: ({ env = {}, kill = false } = {}) =>
      command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], {
        cwd: path,
        env: { ...service.env, ...env },
        ...(kill && { preload }),
      }),
  };
}

async function withKnown(kind: string, context: TestContext): Promise<Trial> {
  const trial = await makeTrial(context);
  trial.write(manifest(kind, ['known']));
  const bought = await trial.apply();
  expect(bought.code, bought.err).toBe(0);
  trial.write(manifest(kind, ['known', 'asked']));
  return trial;
}

function expectPaidOnce({ service, lock }: Trial, count: number): void {
  expect(paidTwice(service.ledger())).toEqual([]);
  expect(service.ledger()).toHaveLength(count);
  expect(unrecorded(service.ledger(), readLockFile(lock))).toEqual([]);
}

const lost: [string, FaultAction][] = [
  ['reset after it was booked', { type: 'reset', booked: true }],
  ['reset before', { type: 'reset' }],
  ['a login page after it was booked', { type: 'html', booked: true }],
  ['502 after it was booked', { type: 'status', status: 502, booked: true }],
  ['504 before', { type: 'status', status: 504 }],
  ['408 before', { type: 'status', status: 408 }],
  ['409 after it was booked', { type: 'status', status: 409, booked: true }],
  ['a redirect after it was booked', { type: 'status', status: 307, booked: true }],
  ['an answer without an id', { type: 'answer', body: { success: true } }],
];

// Most of the time is waiting: for the service to list what it has made.
describe.concurrent('a lost answer, through the command', () => {
  test.for(lost)('voiceover: %s: paid once, in the same run', async ([, action], context) => {
    const trial = await withKnown('voiceover', context);
    const fault: Fault = { on: 'create', do: action };
    trial.service.addFaults([fault]);
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    expectPaidOnce(trial, 2);
  });

  test.for(['video', 'thumbnail'])('%s: found in its list', async (kind, context) => {
    const trial = await withKnown(kind, context);
    trial.service.addFaults([{ on: 'create', do: { type: 'reset', booked: true } }]);
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    expect(err).toContain("is in the service's list");
    expectPaidOnce(trial, 2);
  });

  test('nothing shows that the list can be trusted: left to a person, with the job that it may be', async (context) => {
    const trial = await makeTrial(context);
    trial.write(manifest('voiceover', ['asked']));
    trial.service.addFaults([{ on: 'create', do: { type: 'reset', booked: true } }]);
    const { code, err } = await trial.apply();
    expect(code, err).toBe(6);
    const [job] = trial.service.ledger();
    expect(err).toContain(`it may be ${job?.id}`);
    expect(err).toContain('--not-spent or --spend-again: mediabatch resolve campaign.yaml asked\n');
    expect(trial.service.ledger()).toHaveLength(1);
  });
});

test('killed at any write of the lock: the next run finds what was made', async (context) => {
  const points = Array.from({ length: 7 }, (_, index) => index + 1);
  const kills = await Promise.all(
    points.map(async (at) => {
      const trial = await withKnown('voiceover', context);
      const killed = await trial.apply({ env: { KILL_AT: String(at) }, kill: true });
      const { code, err } = await trial.apply();
      expect(paidTwice(trial.service.ledger()), `write ${at}`).toEqual([]);
      expect(code, `write ${at}: ${err}${readFileSync(trial.lock, 'utf8')}`).toBe(0);
      expectPaidOnce(trial, 2);
      return killed.code !== 0;
    }),
  );
  expect(kills.filter(Boolean).length).toBeGreaterThan(4);
});
