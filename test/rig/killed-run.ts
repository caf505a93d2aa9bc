import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CommandOptions, type CommandResult, command, root } from './command.ts';
import { type Booking, damagedOutputs, paidTwice, purchasesIn, readLockFile, subjectOf, unrecorded } from './oracle.ts';
import type { Place } from './place.ts';

const preload = pathToFileURL(join(root, 'test/rig/die-at-write.mjs')).href;

/** An operation on the lock, counted from 1, just before or after which a run is killed. */
export interface WritePoint {
  write: number;
  when: 'before' | 'after';
  /** The control: intents never reach the disk. */
  dropsIntents?: boolean;
}

/** How a command is run that dies by SIGKILL at a write of its lock. */
export function dyingAt(
  { write, when, dropsIntents }: WritePoint,
  env: Record<string, string> = {},
): Pick<CommandOptions, 'env' | 'preload'> {
  const death = { KILL_AT: String(write), KILL_WHEN: when, ...(dropsIntents && { DROP_INTENTS: '1' }) };
  return { env: { ...env, ...death }, preload };
}

/** A command that lives, and how many operations on the lock it took. */
export async function countWrites(
  run: (options: Pick<CommandOptions, 'env' | 'preload'>) => Promise<CommandResult>,
): Promise<{ ended: CommandResult; writes: number }> {
  const ended = await run({ env: { REPORT_COUNT: '1' }, preload });
  return { ended, writes: Number(/lock operations: (\d+)/.exec(ended.err)?.[1]) };
}

/** A campaign as it was left: its folder, its lock, and the books of its service. */
export interface Remains {
  folder: string;
  lock: string;
  ledger: readonly Booking[];
}

export function remainsOf({ folder, lock, service }: Place): Remains {
  return { folder, lock, ledger: service.ledger() };
}

/** What is not as promised, however a run ended; empty is good. */
export function findLosses({ folder, lock: path, ledger }: Remains): string[] {
  const lock = readLockFile(path);
  return [
    ...paidTwice(ledger).map((subject) => `paid twice: ${subject}`),
    ...unrecorded(ledger, lock).map((subject) => `not on record: ${subject}`),
    ...damagedOutputs(folder, lock).map((file) => `damaged: ${file}`),
  ];
}

/**
 * What cannot be asked again is looked up in the service's books, as a person would, and put on record. `subjectOfStep`:
 * what the booking of a step is called in them. Returns how many were decided.
 */
export async function decideByTheBooks(
  { folder, lock: path, ledger }: Remains,
  env: Record<string, string>,
  subjectOfStep: (address: string, kind: string) => string,
): Promise<number> {
  const lock = readLockFile(path);
  const known = new Set(purchasesIn(lock).map(({ jobId }) => jobId));
  const open = [...lock.steps.values()].filter(({ purchases }) =>
    purchases.some(({ state }) => state === 'unresolved'),
  );
  for (const { address, kind } of open) {
    const subject = subjectOfStep(address, kind);
    const job = ledger.find((booking) => !known.has(booking.id) && subjectOf(booking) === subject);
    const found = job === undefined ? ['--not-spent'] : ['--job', job.id, '--credits', String(job.credits)];
    const { code, err } = await command(['resolve', 'campaign.yaml', address, ...found], { cwd: folder, env });
    if (code !== 0) throw new Error(`resolve ${address} ended with ${code}: ${err}`);
  }
  return open.length;
}
