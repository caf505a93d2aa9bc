import { canonicalJson } from '../json.ts';
import { lineOf } from './join.ts';
import type { Decisions, Lock, LockLine, Output, Purchase } from './record.ts';

export function emptyLock(): Lock {
  return { version: 1, steps: new Map() };
}

/** The text of the file: a header, then one line per step, sorted by address (code units). Equal locks give equal bytes. */
export function writeLock(lock: Lock): string {
  return [...writeLines(lock)].join('');
}

export function* writeLines(lock: Lock): Generator<string> {
  yield writeHeader(lock);
  for (const address of [...lock.steps.keys()].sort()) {
    const record = lock.steps.get(address);
    if (record !== undefined) yield writeLine(lineOf(record));
  }
}

/** The first line of the file, with its LF. */
export function writeHeader(lock: Pick<Lock, 'version' | 'service'>): string {
  const { version, service } = lock;
  return `${JSON.stringify({ mediabatch: 'lock', version, ...(service !== undefined && { service }) })}\n`;
}

/** One line with its LF, fields in fixed order. */
export function writeLine(line: LockLine): string {
  const parts = [
    `"address":${JSON.stringify(line.address)}`,
    `"kind":${JSON.stringify(line.kind)}`,
    purchaseFields(line),
  ];
  if (line.decisions !== undefined) parts.push(`"decisions":${JSON.stringify(orderedDecisions(line.decisions))}`);
  if (line.earlier !== undefined && line.earlier.length > 0) {
    parts.push(`"earlier":[${line.earlier.map((purchase) => `{${purchaseFields(purchase)}}`).join(',')}]`);
  }
  return `{${parts.join(',')}}\n`;
}

/** By hand, because a request is written as canonical JSON: the same request gives the same bytes whoever built it. */
function purchaseFields(purchase: Purchase): string {
  const { fingerprint, generation, attempt, state, key, since, jobId, credits, error } = purchase;
  const { fence, resent, outputs, recordId, url, revision, take, request } = purchase;
  const plain = JSON.stringify({ fingerprint, generation, attempt, state, key, since, jobId, credits, error });
  const parts = [plain.slice(1, -1)];
  if (fence !== undefined) parts.push(`"fence":${JSON.stringify(fence)}`);
  if (resent !== undefined) parts.push('"resent":true');
  if (outputs !== undefined) parts.push(`"outputs":${JSON.stringify(outputs.map(orderedOutput))}`);
  if (recordId !== undefined) parts.push(`"recordId":${JSON.stringify(recordId)}`);
  if (url !== undefined) parts.push(`"url":${JSON.stringify(url)}`);
  if (revision !== undefined) parts.push(`"revision":${revision}`);
  if (take !== undefined) parts.push(`"take":${take}`);
  if (request !== undefined) parts.push(`"request":${canonicalJson(request)}`);
  return parts.join(',');
}

function orderedOutput({ path, sha256, bytes, type, edited }: Output): Output {
  return { path, sha256, bytes, type, ...(edited === true && { edited }) };
}

function orderedDecisions({ pin, accepted, forgotten }: Decisions): Decisions {
  const ordered: Decisions = {};
  if (pin !== undefined) {
    const { fingerprint, revision } = pin;
    ordered.pin = { ...(fingerprint !== undefined && { fingerprint }), revision };
  }
  if (accepted !== undefined) {
    ordered.accepted = accepted.map(({ wanted, fingerprint, revision }) => ({ wanted, fingerprint, revision }));
  }
  if (forgotten !== undefined) ordered.forgotten = forgotten;
  return ordered;
}
