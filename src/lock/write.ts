import { canonicalJson } from '../ground/json.ts';
import { agreeOnSends, lineOf } from './join.ts';
import { type Decisions, type Lock, type LockLine, lockVersion, type Output, type Purchase } from './record.ts';

export function emptyLock(): Lock {
  return { version: lockVersion, steps: new Map() };
}

/**
 * Returns the text of the file: a header, then one line per step, sorted by address (code units). Equal locks give
 * equal bytes, and settled sends leave no trace: neither they nor their closing are written.
 */
export function writeLock(lock: Lock): string {
  return [...writeLines(lock)].join('');
}

export function* writeLines(lock: Lock): Generator<string> {
  const { steps } = agreeOnSends(lock);
  yield writeHeader(lock);
  for (const address of [...steps.keys()].sort()) {
    const record = steps.get(address);
    if (record !== undefined && record.purchases.length > 0) yield writeLine(lineOf(record));
  }
}

/** Returns the first line of the file, with its LF. */
export function writeHeader(lock: Pick<Lock, 'version' | 'service'>): string {
  const { version, service } = lock;
  return `${JSON.stringify({ mediabatch: 'lock', version, ...(service !== undefined && { service }) })}\n`;
}

/** Returns one line with its LF, fields in fixed order. */
export function writeLine(line: LockLine): string {
  const parts = [
    `"address":${JSON.stringify(line.address)}`,
    `"kind":${JSON.stringify(line.kind)}`,
    purchaseFields(line),
  ];
  if (line.decisions !== undefined) parts.push(`"decisions":${JSON.stringify(orderedDecisions(line.decisions))}`);
  if (line.earlier !== undefined && line.earlier.length > 0) {
    parts.push(`"earlier":[${line.earlier.map(earlierText).join(',')}]`);
  }
  if (line.closes !== undefined) parts.push(`"closes":${JSON.stringify(line.closes)}`);
  return `{${parts.join(',')}}\n`;
}

function earlierText(purchase: Purchase): string {
  const kind = purchase.kind === undefined ? '' : `"kind":${JSON.stringify(purchase.kind)},`;
  return `{${kind}${purchaseFields(purchase)}}`;
}

/** Built by hand, because a request is written as canonical JSON: the same request always gives the same bytes. */
function purchaseFields(purchase: Purchase): string {
  const { fingerprint, generation, attempt, state, key, send, account, digest, since, jobId } = purchase;
  const { credits, error } = purchase;
  const { writtenOff, forgotten, fence, resent, outputs, recordId, url, revision, take, request } = purchase;
  const named = { fingerprint, generation, attempt, state, key, send, account, digest, since, jobId, credits, error };
  const parts = [JSON.stringify(named).slice(1, -1)];
  if (writtenOff) parts.push('"writtenOff":true');
  if (forgotten) parts.push('"forgotten":true');
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

export function orderedOutput({ path, sha256, bytes, type, edited }: Output): Output {
  return { path, sha256, bytes, type, ...(edited === true && { edited }) };
}

export function orderedDecisions({ pin, accepted, verdicts, sends }: Decisions): Decisions {
  const ordered: Decisions = {};
  if (pin !== undefined) {
    const { fingerprint, revision } = pin;
    ordered.pin = { ...(fingerprint !== undefined && { fingerprint }), revision };
  }
  if (accepted !== undefined) {
    ordered.accepted = accepted.map(({ wanted, fingerprint, revision }) => ({ wanted, fingerprint, revision }));
  }
  if (verdicts !== undefined) {
    ordered.verdicts = verdicts.map(({ fingerprint, job, is, note, revision }) => ({
      ...{ fingerprint, job },
      ...(is !== undefined && { is }),
      ...(note !== undefined && { note }),
      revision,
    }));
  }
  if (sends !== undefined) ordered.sends = sends;
  return ordered;
}
