import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import type { Decisions, LockLine, MayHaveUnknown, Purchase } from './record.ts';
import { expected, findViolations, knownKeys, type Violation } from './validate-line.generated.ts';

/** Error in a line. Callers print the message after the words "the line ". */
export class LineProblem extends Error {}

type Fields = { readonly [field: string]: Json };

/** Maximum nesting of a value in a lock line: a deeper value would exhaust the stack. */
const maxDepth = 64;

/**
 * Checks a lock line against the schema and against rules that the schema cannot express. Moves fields of a newer
 * mediabatch version to `unknownFields`. Unknown fields of a line belong to its newest purchase. Throws `LineProblem`.
 */
export function checkLine(fields: Fields): LockLine {
  const [violation] = findViolations(fields);
  if (violation !== undefined) throw new LineProblem(describeViolation(fields, violation));
  const line = checkPurchase<LockLine>(fields);
  if (line.earlier !== undefined) line.earlier = line.earlier.map((one) => checkPurchase({ ...one }));
  if (line.decisions !== undefined) line.decisions = readDecisions({ ...line.decisions });
  return line;
}

/** Moves unknown fields of a header to `unknownFields`. The caller checks the known fields. */
export function checkHeader(
  fields: Fields,
): { [field in 'mediabatch' | 'version' | 'writtenBy' | 'service']?: Json } & MayHaveUnknown {
  return known(fields, 'header');
}

function checkPurchase<T extends Purchase>(fields: object): T {
  const purchase = known<T>(fields, 'purchase');
  const { jobId, recordId, fence, since, url, outputs, request } = purchase;
  refuse('jobId', jobId, isJobId);
  refuse('recordId', recordId, isJobId);
  refuse('fence', fence, (id) => id === '' || isJobId(id));
  refuse('since', since, (time) => !Number.isNaN(Date.parse(time)));
  refuse('url', url, isAssetUrl);
  if (request !== undefined) checkDepth(request, maxDepth, 'request');
  if (outputs !== undefined) purchase.outputs = outputs.map((output) => known(output, 'output'));
  return purchase;
}

function readDecisions(fields: object): Decisions {
  const decisions = known<Decisions>(fields, 'decisions');
  const { pin, accepted, verdicts } = decisions;
  if (pin !== undefined) decisions.pin = known(pin, 'pin');
  if (accepted !== undefined) decisions.accepted = accepted.map((one) => known(one, 'acceptance'));
  if (verdicts !== undefined) decisions.verdicts = verdicts.map((one) => known(one, 'verdict'));
  return decisions;
}

const knownFields = {
  header: new Set(['mediabatch', 'version', 'writtenBy', 'service']),
  // A purchase in `earlier` may have every known field of a line, because it may become the newest purchase of a line.
  purchase: keysAt('#', '#/allOf/0'),
  output: keysAt('#/allOf/0/properties/outputs/items'),
  decisions: keysAt('#/properties/decisions'),
  pin: keysAt('#/properties/decisions/properties/pin'),
  acceptance: keysAt('#/properties/decisions/properties/accepted/items'),
  verdict: keysAt('#/properties/decisions/properties/verdicts/items'),
};

function keysAt(...pointers: string[]): ReadonlySet<string> {
  return new Set(pointers.flatMap((pointer) => knownKeys[pointer] ?? []));
}

function known<T>(fields: object, what: keyof typeof knownFields): T {
  const entries = Object.entries(fields as Fields);
  const unknown = entries.filter(([name]) => !knownFields[what].has(name));
  if (unknown.length === 0) return fields as T;
  for (const [name, value] of unknown) checkDepth(value, maxDepth, name);
  const rest = Object.fromEntries(entries.filter(([name]) => knownFields[what].has(name)));
  return { ...rest, unknownFields: Object.fromEntries(unknown) } as T;
}

function refuse(field: string, value: string | undefined, isRight: (value: string) => boolean): void {
  if (value === undefined || isRight(value)) return;
  throw new LineProblem(describeWrong([field], `#/allOf/0/properties/${field}`, value));
}

function checkDepth(value: Json, left: number, field: string): void {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new LineProblem(`has ${aField(field)} with a number that is too large`);
  }
  if (value === null || typeof value !== 'object') return;
  if (left === 0) throw new LineProblem(`has ${aField(field)} that is nested deeper than ${maxDepth} levels`);
  for (const item of Object.values(value)) checkDepth(item, left - 1, field);
}

function describeViolation(fields: Fields, { instancePath, schemaPath, keyword, params }: Violation): string {
  const path = instancePath.split('/').slice(1);
  const value = path.reduce<Json>((whole, name) => (whole as Fields)[name] ?? null, fields);
  if (/\/oneOf\/\d\/not$/.test(schemaPath)) return `has the state "${(value as Fields).state}" but also a "jobId"`;
  if (/\/oneOf\/\d\/required$/.test(schemaPath)) {
    return `has the state "${(value as Fields).state}" but no "${params.missingProperty}"`;
  }
  if (keyword === 'required') return `has no "${params.missingProperty}"`;
  return describeWrong(path, schemaPath.slice(0, schemaPath.lastIndexOf('/')), value);
}

function describeWrong(path: readonly string[], rule: string, value: Json): string {
  const [name = '', list] = path.toReversed();
  const one = aField(name);
  const many = /..[^s]s$/.test(name) ? `"${name}" that are` : `${one} that is`;
  const which = /^\d+$/.test(name) ? `an item of "${list}" that is` : many;
  return `has ${which} not ${expected[rule]}: ${shown(value)}`;
}

function aField(name: string): string {
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${shown(name)}`;
}

/** Accepts only an http(s) URL without credentials, because requests send the URL to the service. */
export function isAssetUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[!-~]{1,2048}$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

/** Accepts relative `/` paths without empty, `.` or `..` parts, backslashes, drive letters or control characters. */
export function isOutputPath(path: string): boolean {
  if (hasControlCharacter(path) || path.includes('\\') || /^[A-Za-z]:/.test(path)) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}

function hasControlCharacter(value: string): boolean {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  }
  return false;
}

export function shown(value: Json | undefined): string {
  const json = (JSON.stringify(value) ?? 'nothing').replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return json.length > 80 ? `${json.slice(0, 79)}…` : json;
}
