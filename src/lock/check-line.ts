import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import type { Decisions, LockLine, Output, Purchase, PurchaseState } from './record.ts';

/** What is wrong with a line, in words that follow "the line ". */
export class LineProblem extends Error {}

type Fields = { readonly [field: string]: Json };

/** How deep a request may be nested. Deeper ones are not ours and would exhaust the stack. */
const maxDepth = 64;

/** States of a purchase whose job id is not known, and of one whose job id is. */
const joblessStates: readonly string[] = ['intent', 'refused', 'unresolved'] satisfies PurchaseState[];
const jobStates: readonly string[] = ['running', 'lost', 'failed', 'done'] satisfies PurchaseState[];

/** A fresh value that holds only what a line may hold. Fields that are not known are left out. Throws `LineProblem`. */
export function checkLine(fields: Fields): LockLine {
  const address = text(fields, 'address', { max: 4096 });
  if (hasControlCharacter(address)) throw new LineProblem('has an address with control characters');
  const kind = checkKind(fields);
  const newest = checkPurchase(fields);
  const { decisions, earlier, closes } = fields;
  const line: LockLine = { address, kind, ...newest };
  if (decisions !== undefined) line.decisions = checkDecisions(fieldsOf(decisions, 'decisions'));
  if (closes !== undefined) line.closes = checkSends(closes, 'closes');
  if (earlier !== undefined) {
    if (!Array.isArray(earlier)) throw new LineProblem('has an "earlier" that is not a list');
    line.earlier = earlier.map((item) => checkEarlier(fieldsOf(item, 'earlier')));
  }
  return line;
}

/** One of another kind than the record's says so. */
function checkEarlier(fields: Fields): Purchase {
  const purchase = checkPurchase(fields);
  if (fields.kind !== undefined) purchase.kind = checkKind(fields);
  return purchase;
}

function checkKind(fields: Fields): string {
  return text(fields, 'kind', { max: 64, pattern: /^[a-z][a-z0-9_-]*$/, form: 'a kind of generation' });
}

/** Ids of sends. */
function checkSends(list: Json, field: string): string[] {
  if (!Array.isArray(list)) throw new LineProblem(`has a "${field}" that is not a list`);
  return list.map((id) => {
    if (typeof id === 'string' && sendForm.test(id)) return id;
    throw new LineProblem(`has something in "${field}" that is not the id of a send: ${shown(id)}`);
  });
}

const sendForm = /^[A-Za-z0-9-]{1,64}$/;

/** Kinds of decisions that are not known are left out: whoever wrote them has a newer version, and no money is in them. */
function checkDecisions(fields: Fields): Decisions {
  const { pin, accepted, sends } = fields;
  const decisions: Decisions = {};
  if (pin !== undefined) {
    const pinned = fieldsOf(pin, 'decisions');
    const fingerprint = pinned.fingerprint === undefined ? {} : { fingerprint: checkDigest(pinned, 'fingerprint') };
    decisions.pin = { ...fingerprint, revision: count(pinned, 'revision', 1) };
  }
  if (accepted !== undefined) {
    if (!Array.isArray(accepted)) throw new LineProblem('has "accepted" decisions that are not a list');
    decisions.accepted = accepted.map((item) => {
      const one = fieldsOf(item, 'decisions');
      const [wanted, fingerprint] = [checkDigest(one, 'wanted'), checkDigest(one, 'fingerprint')];
      return { wanted, fingerprint, revision: count(one, 'revision', 1) };
    });
  }
  if (sends !== undefined) decisions.sends = checkSends(sends, 'sends');
  return decisions;
}

function checkDigest(fields: Fields, field: string): string {
  return text(fields, field, { max: 256, pattern: /^[!-~]+$/, form: 'a digest' });
}

function checkPurchase(fields: Fields): Purchase {
  const jobId = fields.jobId === undefined ? undefined : checkId(fields, 'jobId');
  const state = checkState(fields, jobId !== undefined);
  const { outputs, request } = fields;
  const purchase: Purchase = {
    fingerprint: checkDigest(fields, 'fingerprint'),
    generation: count(fields, 'generation', 1),
    attempt: count(fields, 'attempt', 1),
    state,
    key: text(fields, 'key', { max: 128, pattern: /^[ -~]+$/, form: 'printable ASCII' }),
  };
  if (fields.send !== undefined && jobId === undefined) {
    purchase.send = text(fields, 'send', { max: 64, pattern: sendForm, form: 'the id of a send' });
  }
  if (fields.account !== undefined && jobId === undefined) purchase.account = checkDigest(fields, 'account');
  if (fields.digest !== undefined && jobId === undefined) purchase.digest = checkDigest(fields, 'digest');
  if (fields.writtenOff === true && jobId === undefined) purchase.writtenOff = true;
  if (fields.forgotten === true) purchase.forgotten = true;
  if (fields.since !== undefined) purchase.since = checkTime(fields);
  if (fields.fence !== undefined && jobId === undefined) purchase.fence = checkFence(fields);
  if (fields.resent === true && jobId === undefined) purchase.resent = true;
  if (jobId !== undefined) purchase.jobId = jobId;
  if (fields.credits !== undefined) purchase.credits = checkCredits(fields);
  if (fields.error !== undefined) purchase.error = text(fields, 'error', { max: 4096 });
  if (outputs !== undefined) purchase.outputs = checkOutputs(outputs);
  if (fields.recordId !== undefined && jobId !== undefined) purchase.recordId = checkId(fields, 'recordId');
  if (fields.url !== undefined && jobId !== undefined) purchase.url = checkUrl(fields);
  if (fields.revision !== undefined) purchase.revision = count(fields, 'revision', 0);
  if (fields.take !== undefined) purchase.take = count(fields, 'take', 1);
  if (request !== undefined) purchase.request = checkRequest(request);
  return purchase;
}

function checkState(fields: Fields, hasJob: boolean): PurchaseState {
  const state = text(fields, 'state', { max: 16 });
  if (!joblessStates.includes(state) && !jobStates.includes(state)) {
    throw new LineProblem(`has a "state" that is not known: ${shown(state)}`);
  }
  if (hasJob !== jobStates.includes(state)) {
    throw new LineProblem(`has the state "${state}" ${hasJob ? 'and yet a' : 'but no'} "jobId"`);
  }
  return state as PurchaseState;
}

function checkId(fields: Fields, field: 'jobId' | 'recordId' | 'fence'): string {
  const id = text(fields, field, { max: 256 });
  if (!isJobId(id)) throw new LineProblem(`has a "${field}" that cannot be an id of the service: ${shown(id)}`);
  return id;
}

function checkFence(fields: Fields): string {
  return fields.fence === '' ? '' : checkId(fields, 'fence');
}

/** It will be sent to the service as a part of requests: a plain web address without a login, and nothing else. */
export function isAssetUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[!-~]{1,2048}$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

function checkUrl(fields: Fields): string {
  const { url } = fields;
  if (!isAssetUrl(url)) throw new LineProblem(`has a "url" that is not a web address: ${shown(url)}`);
  return url;
}

function checkTime(fields: Fields): string {
  const form = 'a time like 2030-01-31T08:00:00.000Z';
  const time = text(fields, 'since', { max: 40, pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, form });
  if (Number.isNaN(Date.parse(time))) throw new LineProblem(`has a "since" that is not ${form}: ${shown(time)}`);
  return time;
}

function checkCredits(fields: Fields): number {
  const { credits } = fields;
  if (typeof credits !== 'number' || !Number.isSafeInteger(credits) || credits < 0) {
    throw new LineProblem(`has "credits" that are not a whole number from 0 up: ${shown(credits)}`);
  }
  return credits;
}

function checkOutputs(outputs: Json): Output[] {
  if (!Array.isArray(outputs)) throw new LineProblem('has "outputs" that are not a list');
  return outputs.map((item) => {
    const fields = fieldsOf(item, 'outputs');
    const path = text(fields, 'path', { max: 4096 });
    if (!isOutputPath(path))
      throw new LineProblem(`has an output path that is not a plain relative path: ${shown(path)}`);
    return {
      path,
      sha256: text(fields, 'sha256', { max: 64, pattern: /^[0-9a-f]{64}$/, form: '64 hexadecimal digits' }),
      bytes: count(fields, 'bytes', 0),
      type: text(fields, 'type', { max: 128, pattern: /^[!-~]+$/, form: 'a media type' }),
      ...(fields.edited === true && { edited: true as const }),
    };
  });
}

/** Relative, `/` between names, none of them empty, `.` or `..`; no backslash, drive letter or control character. */
export function isOutputPath(path: string): boolean {
  if (hasControlCharacter(path) || path.includes('\\') || /^[A-Za-z]:/.test(path)) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

function checkRequest(request: Json): { [field: string]: Json } {
  if (request === null || typeof request !== 'object' || Array.isArray(request)) {
    throw new LineProblem('has a "request" that is not an object');
  }
  checkDepth(request, maxDepth);
  return request;
}

function checkDepth(value: Json, left: number): void {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new LineProblem('has a "request" with a number that is too large');
  }
  if (value === null || typeof value !== 'object') return;
  if (left === 0) throw new LineProblem(`has a "request" that is nested deeper than ${maxDepth} levels`);
  for (const item of Object.values(value)) checkDepth(item, left - 1);
}

function fieldsOf(value: Json, field: string): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new LineProblem(`has something in "${field}" that is not an object`);
  }
  return value;
}

function text(fields: Fields, field: string, rule: { max: number; pattern?: RegExp; form?: string }): string {
  const value = fields[field];
  if (value === undefined) throw new LineProblem(`has no "${field}"`);
  if (typeof value !== 'string' || value === '')
    throw new LineProblem(`has a "${field}" that is not a text: ${shown(value)}`);
  if (value.length > rule.max) throw new LineProblem(`has a "${field}" of more than ${rule.max} characters`);
  if (rule.pattern !== undefined && !rule.pattern.test(value)) {
    throw new LineProblem(`has a "${field}" that is not ${rule.form ?? 'of the right form'}: ${shown(value)}`);
  }
  return value;
}

/** Far above what anybody does, far below where counting on would stop being exact. */
const mostCount = 1_000_000_000;

function count(fields: Fields, field: string, least: number): number {
  const value = fields[field];
  if (value === undefined) throw new LineProblem(`has no "${field}"`);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > mostCount) {
    throw new LineProblem(`has a "${field}" that is not a whole number from ${least} to ${mostCount}: ${shown(value)}`);
  }
  return value;
}

function hasControlCharacter(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

/** A value from the file for a message: short, and with every character that is not plain ASCII made visible. */
export function shown(value: Json | undefined): string {
  const json = (JSON.stringify(value) ?? 'nothing').replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return json.length > 80 ? `${json.slice(0, 79)}…` : json;
}
