import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { graphOf } from '../../rig/campaign.ts';
import { type AnyFacts, sendBy } from '../../rig/facts-of-purchase.ts';

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Bytes that begin like a PNG: enough for what goes by the start of a file. */
export function png(text: string): Uint8Array {
  return Buffer.concat([Buffer.from(signature), Buffer.from(text)]);
}

/** The id of the send that is open there. */
function sendAt(address: string): string {
  return `send-${address.replaceAll(/[^a-z0-9]/gi, '-')}`;
}

/**
 * Leaves a folder as a finished run would: a file for each step of the manifest, and a lock that says what it was bought
 * for: 5 credits each, by jobs that are named after their steps. `more`: what is otherwise in the record of a step.
 */
export function leaveBought(
  folder: string,
  manifest: string,
  more: { [address: string]: AnyFacts | 'not bought' } = {},
): void {
  const lock: Lock = { version: 2, steps: new Map() };
  for (const { address, kind, fingerprint, paidRequest, save } of graphOf(manifest).steps) {
    const given = more[address] ?? {};
    if (given === 'not bought') continue;
    const bytes = png(address);
    const path = `${save}.png`;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const hasNoJob = given.state !== undefined && ['intent', 'unresolved', 'refused'].includes(given.state);
    const isDone = given.state === undefined || given.state === 'done';
    if (isDone) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
    const purchase = {
      fingerprint,
      generation: 1,
      attempt: 1,
      state: 'done',
      key: `key-${address}`,
      ...(hasNoJob ? {} : { jobId: `job-${address}`, credits: 5 }),
      ...(given.state !== undefined && sendBy(given.state, sendAt(address))),
      ...(isDone && { outputs: [{ path, sha256, bytes: bytes.length, type: 'image/png' }] }),
      request: paidRequest,
      ...given,
    } as Purchase;
    lock.steps.set(address, { address, kind, purchases: [purchase] });
  }
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  writeFileSync(join(folder, 'campaign.lock.jsonl'), writeLock(lock));
}
