import { realpathSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Approval } from '../../contract/approval.ts';
import { namesIn } from '../fs/folders.ts';
import { orAbsent } from '../fs/plain-file.ts';
import { digestOf } from '../outputs/hash-file.ts';
import { findOwn, makeOwn, readSealedFile, writeSealedFile } from './sealed-file.ts';

/** Returns the canonical path of a lock. Two paths to the same file have the same canonical path. */
export function lockName(path: string): string {
  const whole = resolve(path);
  try {
    return join(realpathSync(dirname(whole)), basename(whole));
  } catch {
    return whole;
  }
}

const approvalsFolder = 'approvals';
const mostApprovalBytes = 1 << 16;
const approvalFile = /^[0-9a-f]{32}\.json$/;

/** Reads an approval. Returns `undefined` if this user did not approve exactly this plan and lock on this machine. */
export function readApproval(of: Pick<Approval, 'digest' | 'lock'>): Promise<Approval | undefined> {
  return readNamed(approvalName(of));
}

/** Lists this user's approvals, newest first. */
export async function listApprovals(): Promise<Approval[]> {
  const own = findOwn()?.folder;
  if (own === undefined) return [];
  const names = namesIn(join(own, approvalsFolder)).filter((name) => approvalFile.test(name));
  const found = await Promise.all(names.map((name) => readNamed(`${approvalsFolder}/${name}`)));
  return found.flatMap((one) => one ?? []).sort((a, b) => b.at.localeCompare(a.at));
}

/** Stores an approval. Returns false if this user has no writable state folder. */
export async function keepApproval(approval: Approval): Promise<boolean> {
  const own = (await makeOwn())?.folder;
  return own !== undefined && writeSealedFile(own, approvalName(approval), JSON.stringify(approval));
}

export async function dropApproval(approval: Approval): Promise<void> {
  const own = findOwn()?.folder;
  if (own !== undefined) await orAbsent(unlink(join(own, approvalName(approval))));
}

function approvalName({ digest, lock }: Pick<Approval, 'digest' | 'lock'>): string {
  return `${approvalsFolder}/${digestOf(Buffer.from(`${digest}\0${lock}`)).sha256.slice(0, 32)}.json`;
}

async function readNamed(name: string): Promise<Approval | undefined> {
  const own = findOwn()?.folder;
  const bytes = own === undefined ? undefined : await readSealedFile(own, name, { mostBytes: mostApprovalBytes });
  const approval = bytes && (JSON.parse(bytes.toString('utf8')) as Approval);
  return approval?.version === 1 && approvalName(approval) === name ? approval : undefined;
}
