import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import type { LockLine, Purchase } from './record.ts';
import { expected, findViolations, type Violation } from './validate-line.generated.ts';
import { orderedDecisions, orderedOutput } from './write.ts';

/** A fault of a line, in words that follow "the line ". */
export class LineProblem extends Error {}

type Fields = { readonly [field: string]: Json };

/** Maximum nesting of a request. Deeper ones are not ours and would exhaust the stack. */
const maxDepth = 64;

/**
 * Checks a line against the schema and against rules across fields that no schema can express. Unknown fields are
 * dropped: a newer version wrote them, and they never concern money. Throws `LineProblem`.
 */
export function checkLine(fields: Fields): LockLine {
  const [violation] = findViolations(fields);
  if (violation !== undefined) throw new LineProblem(describeViolation(fields, violation));
  const { decisions, ...line } = fields as unknown as LockLine;
  checkPurchase(line);
  for (const purchase of line.earlier ?? []) checkPurchase(purchase);
  return decisions === undefined ? line : { ...line, decisions: orderedDecisions(decisions) };
}

function checkPurchase(purchase: Purchase): void {
  const { jobId, recordId, fence, since, url, outputs, request } = purchase;
  refuse('jobId', jobId, isJobId);
  refuse('recordId', recordId, isJobId);
  refuse('fence', fence, (id) => id === '' || isJobId(id));
  refuse('since', since, (time) => !Number.isNaN(Date.parse(time)));
  refuse('url', url, isAssetUrl);
  if (request !== undefined) checkDepth(request, maxDepth);
  if (outputs !== undefined) purchase.outputs = outputs.map(orderedOutput);
}

function refuse(field: string, value: string | undefined, isRight: (value: string) => boolean): void {
  if (value === undefined || isRight(value)) return;
  throw new LineProblem(describeWrong([field], `#/allOf/0/properties/${field}`, value));
}

function checkDepth(value: Json, left: number): void {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new LineProblem('has a "request" with a number that is too large');
  }
  if (value === null || typeof value !== 'object') return;
  if (left === 0) throw new LineProblem(`has a "request" that is nested deeper than ${maxDepth} levels`);
  for (const item of Object.values(value)) checkDepth(item, left - 1);
}

/** Puts a violation into words, using the schema's own text about the rule. */
function describeViolation(fields: Fields, { instancePath, schemaPath, keyword, params }: Violation): string {
  const path = instancePath.split('/').slice(1);
  const value = path.reduce<Json>((whole, name) => (whole as Fields)[name] ?? null, fields);
  if (schemaPath.endsWith('/then/not')) return `has the state "${(value as Fields).state}" and yet a "jobId"`;
  if (schemaPath.endsWith('/then/required')) return `has the state "${(value as Fields).state}" but no "jobId"`;
  if (keyword === 'required') return `has no "${params.missingProperty}"`;
  return describeWrong(path, schemaPath.slice(0, schemaPath.lastIndexOf('/')), value);
}

function describeWrong(path: readonly string[], rule: string, value: Json): string {
  const [name = '', list] = path.toReversed();
  const one = /^[aeio]/.test(name) ? `an "${name}"` : `a "${name}"`;
  const many = /..[^s]s$/.test(name) ? `"${name}" that are` : `${one} that is`;
  const which = /^\d+$/.test(name) ? `something in "${list}" that is` : many;
  return `has ${which} not ${expected[rule]}: ${shown(value)}`;
}

/** Accepts a plain web address without a login, and nothing else: it will be sent to the service in requests. */
export function isAssetUrl(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[!-~]{1,2048}$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}

/** Accepts relative `/` paths without empty, `.` or `..` parts, backslash, drive letter or control character. */
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

/** Formats a value from the file for a message: short, with every character outside plain ASCII made visible. */
export function shown(value: Json | undefined): string {
  const json = (JSON.stringify(value) ?? 'nothing').replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return json.length > 80 ? `${json.slice(0, 79)}…` : json;
}
