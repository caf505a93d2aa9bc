import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLock } from '../../src/lock/read.ts';
import type { Lock, Output, Purchase } from '../../src/lock/record.ts';

/** What the service has charged: an entry of its ledger, as far as it matters who paid for what. */
export interface Booking {
  id: string;
  kind: string;
  key: string | null;
  credits: number;
  body: { readonly [name: string]: unknown };
}

/** A file under the name of an output. */
export interface FinalFile {
  path: string;
  sha256: string;
  bytes: number;
}

/** The lock on disk as the next run will see it; an unreadable line is an error. Without a file it is empty. */
export function readLockFile(path: string): Lock {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.from('{"mediabatch":"lock","version":2}\n');
  const { lock, diagnostics } = readLock(path, bytes);
  const wrong = diagnostics.filter(({ severity }) => severity === 'error');
  if (wrong.length > 0) throw new Error(wrong.map(({ message }) => message).join('\n'));
  return lock;
}

export function purchasesIn(lock: Lock): Purchase[] {
  return [...lock.steps.values()].flatMap(({ purchases }) => purchases);
}

/**
 * What a booking is for, whatever links its body holds: signed links differ from run to run, the words of a request do
 * not. Steps of a test must differ in their words.
 */
export function subjectOf({ kind, body }: Pick<Booking, 'kind' | 'body'>): string {
  const words = ['prompt', 'text', 'title', 'caption'].flatMap((name) =>
    typeof body[name] === 'string' ? [body[name]] : [],
  );
  return `${kind} ${words.join(' ') || JSON.stringify(body)}`;
}

/** Subjects that were paid for more than once. */
export function paidTwice(ledger: readonly Booking[]): string[] {
  const subjects = ledger.map(subjectOf);
  return subjects.filter((subject, index) => subjects.indexOf(subject) !== index);
}

/** Booked jobs that the lock knows neither by id nor, where a key counted, by an open create. */
export function unrecorded(ledger: readonly Booking[], lock: Lock): string[] {
  const purchases = purchasesIn(lock);
  const ids = new Set(purchases.map(({ jobId }) => jobId));
  const open = purchases.filter(({ state }) => state === 'intent' || state === 'unresolved');
  return ledger.flatMap((booking) => {
    const isOpen = open.some(({ key }) => booking.key === null || key === booking.key);
    return ids.has(booking.id) || isOpen ? [] : [`${subjectOf(booking)} (${booking.id})`];
  });
}

/** Outputs that the lock calls done and that are not there with exactly the recorded size and digest. */
export function damagedOutputs(folder: string, lock: Lock): string[] {
  const outputs = [...lock.steps.values()].flatMap(({ purchases: [newest] }) =>
    newest?.state === 'done' ? (newest.outputs ?? []) : [],
  );
  return outputs.filter((output) => !isIntact(folder, output)).map(({ path }) => path);
}

function isIntact(folder: string, output: Output): boolean {
  const path = join(folder, output.path);
  if (!existsSync(path)) return false;
  const bytes = readFileSync(path);
  return bytes.length === output.bytes && digest(bytes) === output.sha256;
}

/** Files of a folder that have their final names. Temporary ones begin with a dot. */
export function finalFiles(folder: string): FinalFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const bytes = readFileSync(path);
      return { path, sha256: digest(bytes), bytes: bytes.length };
    });
}

/** Files that had their final names while they were something else than what the finished campaign calls them. */
export function partialFiles(seen: readonly FinalFile[], lock: Lock): string[] {
  const known = new Set(purchasesIn(lock).flatMap(({ outputs }) => (outputs ?? []).map(({ sha256 }) => sha256)));
  return seen.filter(({ sha256 }) => !known.has(sha256)).map(({ path, bytes }) => `${path} (${bytes} bytes)`);
}

export function creditsOf(ledger: readonly Booking[]): number {
  return ledger.reduce((sum, { credits }) => sum + credits, 0);
}

export function creditsIn(lock: Lock): number {
  const jobs = new Map(
    purchasesIn(lock).map(({ jobId, credits }) => [jobId, jobId === undefined ? 0 : (credits ?? 0)]),
  );
  return [...jobs.values()].reduce((sum, credits) => sum + credits, 0);
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
