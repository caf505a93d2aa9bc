import { realpathSync } from 'node:fs';
import { readdir, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Approval } from '../../contract/approval.ts';
import type { Json } from '../../ground/json.ts';
import { isErrno, orAbsent } from '../fs/plain-file.ts';
import { digestOf } from '../outputs/hash-file.ts';
import { findOwnFolder, makeOwnFolder } from './own-secret.ts';
import { readSealedFile, writeSealedFile } from './sealed-file.ts';

/** Returns a document of this user's state folder; `undefined` if none was sealed under this name. */
async function readOwnFile(name: string, mostBytes: number): Promise<Json | undefined> {
  const own = findOwnFolder();
  const bytes = own === undefined ? undefined : await readSealedFile(own, name, mostBytes);
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString('utf8')) as Json);
}

/** Stores a document in this user's state folder. Returns false if there is no writable state folder. */
async function keepOwnFile(name: string, document: object): Promise<boolean> {
  const own = await makeOwnFolder();
  return own !== undefined && writeSealedFile(own, name, JSON.stringify(document));
}

async function dropOwnFile(name: string): Promise<void> {
  const own = findOwnFolder();
  if (own !== undefined) await orAbsent(unlink(join(own, name)));
}

function nameIn(folder: string, subject: string): string {
  return `${folder}/${digestOf(Buffer.from(subject)).sha256.slice(0, 32)}.json`;
}

/** Canonical path of a lock, by which files about it are named: different paths to the same file are equal. */
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

/** Returns the approval of exactly this plan for exactly this lock; `undefined` if none was sealed on this machine. */
export function readApproval(of: Pick<Approval, 'digest' | 'lock'>): Promise<Approval | undefined> {
  return readNamed(approvalName(of));
}

/** Returns the approvals on this machine, newest first. */
export async function listApprovals(): Promise<Approval[]> {
  const own = findOwnFolder();
  if (own === undefined) return [];
  const names = await readdir(join(own, approvalsFolder)).catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return [];
    throw error;
  });
  const found = await Promise.all(
    names.filter((name) => approvalFile.test(name)).map((name) => readNamed(`${approvalsFolder}/${name}`)),
  );
  return found.flatMap((one) => one ?? []).sort((a, b) => b.at.localeCompare(a.at));
}

/** Stores an approval or its new state. Returns false if this user has no writable state folder. */
export function keepApproval(approval: Approval): Promise<boolean> {
  return keepOwnFile(approvalName(approval), approval);
}

export function dropApproval(approval: Approval): Promise<void> {
  return dropOwnFile(approvalName(approval));
}

/** Returns a name for plan and lock. The seal covers it, so a copy under another name is invalid. */
function approvalName({ digest, lock }: Pick<Approval, 'digest' | 'lock'>): string {
  return nameIn(approvalsFolder, `${digest}\0${lock}`);
}

async function readNamed(name: string): Promise<Approval | undefined> {
  const approval = (await readOwnFile(name, mostApprovalBytes)) as Approval | undefined;
  return approval?.version === 1 && approvalName(approval) === name ? approval : undefined;
}
