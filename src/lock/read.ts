import { hash } from 'node:crypto';
import { type Advice, type Shell, shell, way } from '../ground/advice.ts';
import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import { type Json, parseJson } from '../ground/json.ts';
import { defined, groupBy, isMap, mustGet } from '../ground/values.ts';
import { isProgramVersion } from '../ground/version.ts';
import { checkHeader, checkLine, LineProblem, shown } from './check-line.ts';
import { countedPurchases, pinnedFingerprint } from './decisions.ts';
import { agreeOnSends, groupOf, type Header, joinHeaders, joinParts, type Part, partOf, recordOf } from './join.ts';
import { type Lock, lockVersion, type Purchase, type StepRecord } from './record.ts';
import { type FileLine, isConflictMarker, isOfRecord, isRunLine, splitLines } from './split-lines.ts';
import { emptyLock, writeLines } from './write.ts';

export interface LockReading {
  /** The lock. Lock read from a file. If `diagnostics` contains errors, the lock is incomplete: only display it. */
  lock: Lock;
  /** Errors: MB2001, MB2002, MB2003. Warnings: MB2004, MB2006. */
  diagnostics: Diagnostic[];
  services: string[];
  /** Byte offset of a line whose write was interrupted. The caller must truncate the file there before it appends. */
  tornTailAt?: number;
  /** True if the file differs from the output of `writeLock` for this lock. */
  needsRewrite: boolean;
}

const maxDamages = 5;

interface Findings {
  steps: Map<string, StepRecord>;
  /** Second and later lines of a step address, joined in one pass: reading many lines about one step is fast. */
  more: Map<string, Part[]>;
  /** Line number of the first header line of each service, by digest. */
  services: Map<string, number>;
  headers: Header[];
  /** True if the file contains lines that a run appended. At the end of a run, one line per step replaces them. */
  hasRunLines: boolean;
  /** Digests of the lines read so far, to skip lines that a merge repeated. Set only for a large file. */
  seen?: Set<string>;
  newer?: { version: number; line: FileLine };
  damages: { line: FileLine; problem: string }[];
  markers: FileLine[];
}

/**
 * Reads a lock. Accepts lines in any order, duplicates, CRLF, a byte order mark and merge conflict markers. `file`:
 * path as the user typed it, for messages. `isOnlyRead`: does not compute `needsRewrite`, which takes as long as
 * reading.
 */
export function readLock(file: string, bytes: Uint8Array, { isOnlyRead = false } = {}): LockReading {
  const source: Source = { file, bytes };
  const findings: Findings = {
    steps: new Map(),
    more: new Map(),
    services: new Map(),
    headers: [],
    hasRunLines: false,
    ...(bytes.length > largeBytes && { seen: new Set<string>() }),
    damages: [],
    markers: [],
  };
  const { lines, torn: begun } = splitLines(bytes);
  for (const line of lines) {
    try {
      readLine(findings, line);
    } catch (error) {
      if (!(error instanceof LineProblem)) throw error;
      if (findings.damages.length < maxDamages) findings.damages.push({ line, problem: error.message });
    }
  }
  const { newer, damages, headers, steps, services, markers } = findings;
  if (newer !== undefined) {
    return {
      lock: emptyLock(),
      diagnostics: [newerVersion(source, newer)],
      services: [],
      needsRewrite: false,
    };
  }
  const lock = foldFindings(findings);
  const diagnostics = damages.map((damage) => damagedLine(source, damage));
  // A damaged file is never truncated.
  const torn = damages.length > 0 ? undefined : begun;
  if (headers.length === 0 && steps.size > 0 && damages.length === 0) diagnostics.push(missingHeader(source));
  if (services.size > 1) diagnostics.push(twoServices(source, [...services.values()]));
  if (torn !== undefined) {
    const isLost = isLostEnd(bytes.subarray(torn.start), { lock, findings });
    diagnostics.push(isLost ? lostEnd(source, torn) : tornTail(source, torn));
  }
  if (markers[0] !== undefined) diagnostics.push(conflictMarkers(source, { first: markers[0], count: markers.length }));
  diagnostics.push(...findDoublePayments(file, lock));
  return {
    lock,
    diagnostics,
    services: [...services.keys()],
    ...defined({ tornTailAt: torn?.start }),
    needsRewrite: !isOnlyRead && !isNormalForm(bytes, lock),
  };
}

/** Size in bytes above which a file may consist mostly of repeated lines. */
const largeBytes = 32 * 1024 ** 2;

function readLine(findings: Findings, line: FileLine): void {
  if (line.text === undefined) throw new LineProblem('is not UTF-8 text');
  // A byte order mark may be in the middle of the lock if a user joined two files.
  const text = line.text.startsWith('\ufeff') ? line.text.slice(1) : line.text;
  if (text.trim() === '') return;
  if (isConflictMarker(text)) {
    findings.markers.push(line);
    return;
  }
  // Skips a repeated line: joining is idempotent, so it has no effect.
  const id = findings.seen && hash('sha256', text, 'base64');
  if (id !== undefined && findings.seen?.has(id) === true) return;
  const value = parseLine(text);
  findings.hasRunLines ||= isRunLine(text);
  if (Object.hasOwn(value, 'mediabatch')) readHeader(findings, line, value);
  else readRecord(findings, value);
  if (id !== undefined) findings.seen?.add(id);
}

function readRecord({ steps, more }: Findings, value: { [field: string]: Json }): void {
  const line = checkLine(value);
  const { address } = line;
  if (!steps.has(address)) {
    steps.set(address, recordOf(line));
    return;
  }
  const known = more.get(address);
  if (known === undefined) more.set(address, [partOf(line)]);
  else known.push(partOf(line));
}

function parseLine(text: string): { [field: string]: Json } {
  const value = parseJson(text);
  if (value === undefined) throw new LineProblem(`is not JSON: ${shown(text)}`);
  if (!isMap(value)) throw new LineProblem(`is not an object: ${shown(value)}`);
  return value;
}

function readHeader(findings: Findings, line: FileLine, header: { [field: string]: Json }): void {
  const { mediabatch, version, service, writtenBy, unknownFields } = checkHeader(header);
  if (mediabatch !== 'lock') throw new LineProblem(`belongs to ${shown(mediabatch)}, not to a lock`);
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
    throw new LineProblem(`has a "version" that is not a whole number of at least 1: ${shown(version)}`);
  }
  if (version < lockVersion)
    throw new LineProblem(`has version ${version}, which no release of mediabatch has written`);
  if (version > lockVersion) {
    findings.newer ??= { version, line };
    return;
  }
  if (writtenBy !== undefined && !isProgramVersion(writtenBy)) {
    throw new LineProblem(`has a "writtenBy" that is not a version: ${shown(writtenBy)}`);
  }
  if (service !== undefined && (typeof service !== 'string' || !/^[!-~]{1,256}$/.test(service))) {
    throw new LineProblem(`has a "service" that is not a digest: ${shown(service)}`);
  }
  findings.headers.push(defined({ writtenBy, service, unknownFields }));
  if (service !== undefined && !findings.services.has(service)) findings.services.set(service, line.number);
}

/**
 * Returns whether the end of a finished lock is missing. If false, the incomplete last line comes from an interrupted
 * append, which begins differently. A line of zero bytes means a missing end only if no run has appended lines.
 */
function isLostEnd(torn: Uint8Array, { lock, findings }: { lock: Lock; findings: Findings }): boolean {
  if (lock.writtenBy === undefined) return false;
  return torn[0] === 0 ? !findings.hasRunLines : isOfRecord(torn); // I12 (record)
}

function foldFindings(findings: Findings): Lock {
  const { steps, more, headers } = findings;
  for (const [address, parts] of more) steps.set(address, joinParts(address, [mustGet(steps, address), ...parts]));
  return agreeOnSends({ version: lockVersion, ...headers.reduce(joinHeaders, {}), steps });
}

function isNormalForm(bytes: Uint8Array, lock: Lock): boolean {
  let at = 0;
  for (const line of writeLines(lock)) {
    const expected = Buffer.from(line);
    if (!expected.equals(bytes.subarray(at, at + expected.length))) return false;
    at += expected.length;
  }
  return at === bytes.length;
}

const mostNamed = 5;

/**
 * Reports purchases with several jobs: two users or git branches paid for the same request. All jobs stay in the lock.
 * After a later decision about the step (`--redo`, `pin` or `forget`), no longer reports its double payment.
 */
function findDoublePayments(file: string, lock: Lock): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const record of lock.steps.values()) {
    const { address } = record;
    if (record.purchases.length < 2 || pinnedFingerprint(record) !== undefined) continue;
    const counted = countedPurchases(record);
    const newest = counted.filter((one) => one.jobId !== undefined && one.generation === counted[0]?.generation);
    for (const jobs of groupBy(newest, groupOf).values()) {
      if (jobs.length > 1) found.push(doublePayment(file, address, jobs));
    }
  }
  return found;
}

function doublePayment(file: string, address: string, jobs: readonly Purchase[]): Diagnostic {
  const others = jobs.length > mostNamed ? ` and ${jobs.length - mostNamed} more` : '';
  const named = jobs
    .slice(0, mostNamed)
    .map(({ jobId, credits, state }) => `${jobId} (${state}, ${price(credits)})`)
    .join(' and ');
  return {
    code: 'MB2006',
    severity: 'warning',
    message: `${address} was paid for ${jobs.length === 2 ? 'twice' : `${jobs.length} times`} in ${file}: ${named}${others}`,
    hint: 'The lock keeps all jobs of the step, and the first job is used. Nothing more is paid for this step',
  };
}

function price(credits: number | undefined): string {
  return credits === undefined ? 'charge unknown' : credits === 1 ? '1 credit' : `${credits} credits`;
}

interface Source {
  file: string;
  bytes: Uint8Array;
}

function damagedLine(source: Source, { line, problem }: { line: FileLine; problem: string }): Diagnostic {
  return {
    code: 'MB2001',
    severity: 'error',
    message: `${source.file}:${line.number}: the line ${problem}`,
    hint: wayBack(source.file, 'or repair this line by hand'),
    place: placeOf(source, line),
  };
}

function missingHeader(source: Source): Diagnostic {
  return {
    code: 'MB2001',
    severity: 'error',
    message: `${source.file}:1: the file has records but no header line, so its version is not known`,
    hint: wayBack(
      source.file,
      `or insert {"mediabatch":"lock","version":${lockVersion}} as the first line of the file`,
    ),
    place: placeOf(source, { text: '', start: 0, number: 1 }),
  };
}

function twoServices(source: Source, lines: number[]): Diagnostic {
  const numbers = lines.sort((a, b) => a - b).join(' and ');
  return {
    code: 'MB2003',
    severity: 'error',
    message: `${source.file} mixes records of different services (header lines ${numbers})`,
    hint: [
      'Nothing was sent. If the records belong to one service with a new address, add --service-moved',
      'if the records belong to different services, use a separate lock for each service: --lock FILE',
      way('to see the lock of a branch, for example', shell('git', 'show', `main:./${source.file}`)),
    ],
    place: placeOf(source, { text: '', start: 0, number: lines[0] ?? 1 }),
  };
}

function newerVersion(source: Source, { version, line }: { version: number; line: FileLine }): Diagnostic {
  return {
    code: 'MB2002',
    severity: 'error',
    message: `${source.file} was made by a newer mediabatch: the lock has version ${version}, and this mediabatch reads up to version ${lockVersion}`,
    hint: 'Nothing was sent and the file was not touched. Update mediabatch to the version that wrote the file',
    place: placeOf(source, line),
  };
}

export function newerProgram(file: string, writtenBy: string): Diagnostic {
  return {
    code: 'MB3414',
    severity: 'warning',
    message: `mediabatch ${writtenBy} wrote ${file}, and this version is older: records that it cannot read are kept unchanged`,
    hint: 'Steps with decisions unknown to this version are not bought. Update mediabatch to use all records',
  };
}

function tornTail(source: Source, torn: { start: number; number: number }): Diagnostic {
  const bytes = source.bytes.length - torn.start;
  return {
    code: 'MB2004',
    severity: 'warning',
    message: `${source.file} ends in an incomplete line (line ${torn.number}), as after an interrupted write; its ${bytes} bytes are ignored`,
    hint: 'A run was probably interrupted while it wrote. No request is sent before its line is complete, so nothing is lost',
    place: placeOf(source, { text: '', ...torn }),
  };
}

function lostEnd(source: Source, torn: { start: number; number: number }): Diagnostic {
  return {
    code: 'MB2001',
    severity: 'error',
    message: `${source.file}:${torn.number}: the file was cut off in this line; it was complete before`,
    hint: wayBack(source.file, 'or restore it from a copy: missing steps would be bought, and posts published, again'),
    place: placeOf(source, { text: '', ...torn }),
  };
}

function conflictMarkers(source: Source, { first, count }: { first: FileLine; count: number }): Diagnostic {
  const others = count === 1 ? '' : ` and ${count - 1} more`;
  return {
    code: 'MB2004',
    severity: 'warning',
    message: `${source.file} holds merge conflict markers (line ${first.number}${others}); the records of both sides are used`,
    hint: 'No purchase is lost. The next run removes the markers; "*.lock.jsonl merge=union" in .gitattributes avoids conflicts',
    place: placeOf(source, first),
  };
}

function wayBack(file: string, otherwise: string): Advice<Shell> {
  return [way('Nothing was sent; to restore the file', shell('git', 'restore', file)), otherwise];
}

function placeOf({ file, bytes }: Source, line: FileLine): Place {
  const offset = new TextDecoder().decode(bytes.subarray(0, line.start)).length;
  const length = line.text?.length ?? 1;
  return {
    file,
    start: { line: line.number, column: 1, offset },
    end: { line: line.number, column: 1 + length, offset: offset + length },
  };
}
