import { canonicalJson } from '../ground/json.ts';
import { agreeOnSends, lineOf } from './join.ts';
import {
  type Acceptance,
  type Decisions,
  type Lock,
  type LockLine,
  lockVersion,
  type MayHaveUnknown,
  type Output,
  type Purchase,
  type StepRecord,
  type Verdict,
} from './record.ts';

export function emptyLock(): Lock {
  return { version: lockVersion, steps: new Map() };
}

/**
 * Returns the text of the file: a header, then one line per step, sorted by address (code units). Equal locks give
 * equal bytes. Omits `closes`, and create requests that were answered or never sent.
 */
export function writeLock(lock: Lock): string {
  return [...writeLines(lock)].join('');
}

export function* writeLines(lock: Lock): Generator<string> {
  const { steps } = agreeOnSends(lock);
  yield writeHeader(lock);
  for (const address of [...steps.keys()].sort()) {
    const record = steps.get(address);
    if (record !== undefined) yield writeRecord(record);
  }
}

export function writeRecord(record: StepRecord): string {
  const line = lineOf(record);
  return line === undefined ? '' : writeLine(line);
}

export function writeHeader(lock: Omit<Lock, 'steps'>): string {
  const { version, writtenBy, service, unknownFields } = lock;
  return `${objectText({ mediabatch: 'lock', version, writtenBy, service }, unknownFields)}\n`;
}

export function writeLine(line: LockLine): string {
  const parts = [
    `"address":${JSON.stringify(line.address)}`,
    `"kind":${JSON.stringify(line.kind)}`,
    purchaseFields(line),
  ];
  if (line.decisions !== undefined) parts.push(`"decisions":${decisionsText(line.decisions)}`);
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

function purchaseFields(purchase: Purchase): string {
  const { fingerprint, generation, attempt, state, key, send, account, digest, since, jobId } = purchase;
  const { credits, error, writtenOff, forgotten, decided, fence, resent, keyKnown } = purchase;
  const { outputs, recordId, url, revision, take, request, unknownFields } = purchase;
  const first = { fingerprint, generation, attempt, state, key, send, account, digest, since, jobId, credits, error };
  const parts = [JSON.stringify({ ...first, writtenOff, forgotten, decided, fence, resent, keyKnown }).slice(1, -1)];
  if (outputs !== undefined) parts.push(`"outputs":[${outputs.map(outputText).join(',')}]`);
  parts.push(JSON.stringify({ recordId, url, revision, take }).slice(1, -1));
  if (request !== undefined) parts.push(`"request":${canonicalJson(request)}`);
  return [...parts, ...unknownText(unknownFields)].filter((part) => part !== '').join(',');
}

function outputText({ path, sha256, bytes, type, edited, accepted, unknownFields }: Output): string {
  return objectText({ path, sha256, bytes, type, edited, accepted }, unknownFields);
}

function decisionsText({ pin, accepted, verdicts, sends, unknownFields }: Decisions): string {
  const parts: string[] = [];
  const listOf = <Any>(all: readonly Any[], textOf: (one: Any) => string) => `[${all.map(textOf).join(',')}]`;
  if (pin !== undefined) {
    parts.push(`"pin":${objectText({ fingerprint: pin.fingerprint, revision: pin.revision }, pin.unknownFields)}`);
  }
  if (accepted !== undefined) parts.push(`"accepted":${listOf(accepted, acceptanceText)}`);
  if (verdicts !== undefined) parts.push(`"verdicts":${listOf(verdicts, verdictText)}`);
  if (sends !== undefined) parts.push(`"sends":${JSON.stringify(sends)}`);
  return `{${[...parts, ...unknownText(unknownFields)].join(',')}}`;
}

function verdictText({ fingerprint, job, is, note, reason, by, revision, unknownFields }: Verdict): string {
  return objectText({ fingerprint, job, is, note, reason, by, revision }, unknownFields);
}

function acceptanceText({ wanted, fingerprint, job, revision, unknownFields }: Acceptance): string {
  return objectText({ wanted, fingerprint, job, revision }, unknownFields);
}

/** Returns the JSON text of an object: known fields in the given order, then unknown fields by name. */
function objectText(known: object, unknown: MayHaveUnknown['unknownFields']): string {
  const parts = [JSON.stringify(known).slice(1, -1), ...unknownText(unknown)];
  return `{${parts.filter((part) => part !== '').join(',')}}`;
}

function unknownText(unknown: MayHaveUnknown['unknownFields']): string[] {
  return unknown === undefined ? [] : [canonicalJson(unknown).slice(1, -1)];
}
