import type { exitCodes } from '../../contract/exit.ts';

/** Cases in which a command ends with each exit code. */
export const exitWords: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done, or nothing to do',
  internalError: 'a bug of ours',
  changesPending:
    '`plan --detailed-exitcode`: there is something to do, or with `--compare` something differs (4: more than the budget carries)',
  someFailed: 'finished, some steps failed',
  outOfCredits:
    'stopped by the budget, by a charge above what the plan says, or by the balance; what was running is collected',
  waitsForPerson: 'somebody is to decide: posts wait for consent, or steps for a pick at a gate',
  needsDecision: 'the outcome of a create is not known: run again, or decide with `resolve`',
  wrongUsage: 'wrong usage',
  wrongInput: 'the manifest, a data file or the lock is wrong, or git has no such commit',
  unreachable: 'the service cannot be reached, or git cannot be run',
  cannotWrite: 'outputs or lock cannot be written',
  lockHeld: 'another run holds the lock',
  keyRefused: 'key missing or refused',
  interrupted: 'interrupted; everything paid is on record',
};
