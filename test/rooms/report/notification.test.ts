import { describe, expect, it, test } from 'vitest';
import { type ExitCode, exitCodes } from '../../../src/contract/exit.ts';
import { type EndedRun, notificationJson, reasonToNotify } from '../../../src/report/run/notification.ts';

const end: NonNullable<EndedRun['end']> = {
  at: '2030-01-02T03:04:05.000Z',
  event: 'run-ended',
  exit: 3,
  outcomes: { done: 116, failed: 2, left: 1 },
  kept: 40,
  spentNow: 236,
  spentEver: 1182,
  held: 0,
  balance: null,
  elapsedMs: 252_000,
};

const run: EndedRun = { campaign: 'aurora-launch', sandbox: false, exit: 3, end };

test.each<[keyof typeof exitCodes, string | undefined]>([
  ['done', 'done'],
  ['someFailed', 'failed'],
  ['needsDecision', 'failed'],
  ['unreachable', 'failed'],
  ['cannotWrite', 'failed'],
  ['keyRefused', 'failed'],
  ['internalError', 'failed'],
  ['outOfCredits', 'budget'],
  ['waitsForPerson', 'gate'],
  ['interrupted', undefined],
])('%s is told as %s', (name, reason) => {
  expect(reasonToNotify(exitCodes[name] as ExitCode)).toBe(reason);
});

describe('a notification', () => {
  it('has a text for chat services, and the fields of the last event', () => {
    expect(notificationJson(run, 'failed')).toEqual({
      mediabatch: 'notification',
      version: 1,
      text: 'aurora-launch: failed (exit 3)\n116 done, 2 failed, 1 not begun, 40 from before\n236 credits spent, 1182 in all, in 4:12',
      reason: 'failed',
      campaign: 'aurora-launch',
      at: '2030-01-02T03:04:05.000Z',
      exit: 3,
      outcomes: { done: 116, failed: 2, left: 1 },
      kept: 40,
      spentNow: 236,
      spentEver: 1182,
      held: 0,
      balance: null,
      elapsedMs: 252_000,
    });
  });

  it('says that it is of a rehearsal, or of a run that an error ended', () => {
    expect(notificationJson({ ...run, sandbox: true, exit: 0 }, 'done')).toMatchObject({
      text: expect.stringMatching(/^aurora-launch \(sandbox\): done\n/),
      sandbox: true,
    });
    expect(notificationJson({ campaign: 'a', sandbox: false, exit: 73 }, 'failed')).toEqual({
      mediabatch: 'notification',
      version: 1,
      text: 'a: failed (exit 73)\nan error ended the run; what was bought is on record',
      reason: 'failed',
      campaign: 'a',
      exit: 73,
    });
  });

  it('has names only where somebody asks for them, few of them, and none that calls everybody', () => {
    const failed = Array.from({ length: 30 }, (_, index) => `hero@<!channel>${index}&`);
    const told = notificationJson({ ...run, details: { failed, gates: [] } }, 'failed') as {
      text: string;
      details: { failed: string[] };
    };
    expect(told.text).toContain('failed: hero@&lt;!channel&gt;0&amp;, ');
    expect(told.text).toContain(' and 25 more');
    expect(told.text).not.toContain('<');
    expect(told.details.failed).toHaveLength(20);
  });
});
