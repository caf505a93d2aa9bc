import { isJobId } from '../ground/job-id.ts';
import { type Json, parseJson } from '../ground/json.ts';
import { defined, isMap } from '../ground/values.ts';
import { envelope, jobStates } from '../kinds/envelope.ts';
import type { Kind } from '../kinds/kind.ts';
import { isServiceError, readAt, readText } from './fields.ts';

type KeyRefusal = 'known' | 'in-progress' | 'form';

const inProgress =
  /\b(in progress|in flight|processing|pending|still|ongoing|concurrent(ly)?|locked|being (handled|processed))\b/;
const reused =
  /\b(re ?use[ds]?|reus\w*|already|used|in use|exists?|duplicat\w*|conflict\w*|mismatch\w*|differ\w*|another|other|previous\w*|earlier|original\w*|prior|same|uniqu\w*|processed|completed?|consumed|seen|known|recogni[sz]ed|replay\w*)\b/;
const ofOtherRequest = /\b(re ?used?|reus\w*|mismatch\w*|differ\w*|another|other|original\w*)\b/;
const malformed =
  /\b(too (long|short)|at most|at least|characters?|length|longer|shorter|malformed|format|pattern|ascii|uuid|required|missing|empty|blank|not supported|unsupported)\b/;
const repeated = [
  /(?<!\b(?:api|access|secret|private|public|license|model|storage|object|file) )\bkey (?:\w+ ){0,4}(re ?used?|reus\w*|already|used|in use|duplicat\w*|conflict\w*|mismatch\w*)\b/,
  /\b(reus\w*|duplicat\w*|conflict\w*|mismatch\w*) (?:\w+ ){0,3}key\b/,
  /\b(duplicate|repeated) (request|create|submission|generation|job)\b/,
  /\brequest (was |is |has |has been )?already\b/,
  /\balready (been )?(\w+ly )?(made|created|processed|submitted|received|completed|handled|accepted|executed|performed|generated)\b/,
  /\b(differ\w*|mismatch\w*|no match|not match\w*|not the same|belongs to) (?:\w+ ){0,4}(first|original|previous|earlier|stored|initial|prior|another|other) (?:\w+ ){0,2}(request|payload|body|parameters|generation|job)\b/,
  /\b(request|payload|body|parameters?) (differ\w*|mismatch\w*|conflict\w*|(does|do|did) not match)\b/,
  /\breplay\w* (?:\w+ ){0,3}(mismatch|conflict|differ)/,
];

/**
 * Reads what a refusal of a create request states about its idempotency key. Returns `undefined` if the refusal does
 * not mention the key. If in doubt, returns `known`: only an error about the form of the key proves that no job exists
 * for it.
 */
export function readKeyRefusal(
  json: Json | undefined,
  { key, body }: { key: string; body: string },
): KeyRefusal | undefined {
  const texts = textsAboutKey(json, key);
  const own = textsOf(parseJson(body)).filter((text) => text.length > 3);
  const isAboutKey = texts.some((text) => {
    if (text.includes(key) || /\bidempot/.test(wordsOf(text))) return true;
    // Ignores words in the error that the service quotes from the request.
    const words = wordsOf(own.reduce((rest, part) => rest.replaceAll(part, ' '), text));
    return repeated.some((pattern) => pattern.test(words));
  });
  if (!isAboutKey) return undefined;
  const all = texts.map(wordsOf).join(' \n ');
  if (inProgress.test(all) && !ofOtherRequest.test(all)) return 'in-progress';
  return malformed.test(all) && !reused.test(all) ? 'form' : 'known';
}

const namesRoute = /\b(route|endpoint|cannot post|no such (operation|path)|unknown (operation|path))\b/;
const namesUser = /\buser (\w+ ){0,3}(not found|not exist|unknown|missing)\b|\b(no such|unknown) user\b/;
const sayNothing =
  /\b(the|requested|resource|page|url|was|could|cannot|be|does|not|find|found|exist|error|err|http|404)\b|\W/g;

/**
 * Returns what is missing according to a 404 answer to a create request: the operation (`route`), the user of the
 * credential (`user`), or something to which the request refers (`invalid`). If the error does not state what is
 * missing, returns `user` for documented kinds, and `route` for other kinds if their path is a guess.
 */
export function readMissing(
  json: Json | undefined,
  { kind, isDocumented, body }: { kind: Kind | undefined; isDocumented: boolean | undefined; body: string },
): 'route' | 'user' | 'invalid' {
  const { message, code, details } = envelope.answer;
  const said = [readText(json, message), readText(json, code)].flatMap((text) => text ?? []);
  // Removes paths from the error message, because their words do not state what is missing.
  const words = said.map((text) => wordsOf(text.replace(/(^|\s)\/\S+/g, ' '))).join(' \n ');
  if (!isServiceError(json) || isDocumented === false || namesRoute.test(words)) return 'route';
  if (namesUser.test(words)) return 'user';
  if (words.replace(sayNothing, '') !== '' || namesField(readAt(json, details), body)) return 'invalid';
  if (kind === undefined || kind.create.documented) return 'user';
  return isDocumented ? 'invalid' : 'route';
}

function namesField(details: Json | undefined, body: string): boolean {
  const request = parseJson(body);
  const names = new Set(isMap(request) ? Object.keys(request).map(wordsOf) : []);
  const said = textsOf(details);
  visit(details, '', (holder) => said.push(...Object.keys(holder)));
  return said.some((text) => names.has(wordsOf(text.replace(/[.[].*/s, ''))));
}

/** `isSure`: true if the ID certainly belongs to a job. If false, only a status query can show whether it does. */
type NamedJob = { job: { jobId: string; recordId?: string }; model: Json | undefined; isSure: boolean };

/**
 * Finds the job whose ID a refusal contains. An ID in an object `generation` or `job`, or next to a state, certainly
 * belongs to a job. Any other ID may be that of the error. Returns `unclear` if the refusal contains several job IDs,
 * or an ID that cannot be queried.
 */
export function findNamedJob(
  json: Json | undefined,
  { kind, location, isKnown }: { kind: Kind | undefined; location: string | undefined; isKnown: boolean },
): NamedJob | 'unclear' | undefined {
  const found = new Map<string, NamedJob>();
  let isOdd = false;
  visit(json, '', (holder, name) => {
    const { named, hasOddId } = namedIn(holder, isHolder(name, kind));
    // A list in the refusal may contain other jobs, too.
    if (hasOddId || (named?.isSure && name.endsWith('[]'))) isOdd = true;
    if (name.endsWith('[]')) return;
    const isPlace = name === '' || name === envelope.answer.data;
    if (named === undefined || !(named.isSure || isKnown || isPlace)) return;
    if (!found.get(named.job.jobId)?.isSure) found.set(named.job.jobId, named);
  });
  const inPath = jobOfPath(location, kind);
  if (inPath !== undefined) found.set(inPath, { job: { jobId: inPath }, model: undefined, isSure: true });
  const sure = [...found.values()].filter(({ isSure }) => isSure);
  if (sure.length > 1 || (sure.length === 0 && isOdd)) return 'unclear';
  const [only, ...others] = sure.length > 0 ? sure : [...found.values()];
  return others.length === 0 ? only : undefined;
}

function namedIn(holder: { [field: string]: Json }, isJob: boolean): { named?: NamedJob; hasOddId: boolean } {
  const { created, job } = envelope;
  const own = holder[created.id];
  const others = Object.entries(holder).flatMap(([field, value]) => (namesJobId(field) ? [value] : []));
  const isState = typeof holder[job.status] === 'string' && jobStates.includes(holder[job.status] as string);
  const [other] = others.filter(isJobId);
  const jobId = other ?? (isJobId(own) ? own : undefined);
  if (jobId === undefined) {
    const ids = isJob || isState ? [own, ...others] : others;
    return { hasOddId: ids.some((id) => (typeof id === 'string' && id !== '') || typeof id === 'number') };
  }
  const recordId = isJobId(own) && own !== jobId ? own : undefined;
  const ids = { jobId, ...defined({ recordId }) };
  return {
    named: { job: ids, model: holder[created.model], isSure: isState || isJob || other !== undefined },
    hasOddId: false,
  };
}

function namesJobId(field: string): boolean {
  return /\b(generation|job) id$/.test(wordsOf(field));
}

function isHolder(name: string, kind: Kind | undefined): boolean {
  const word = /\w*$/.exec(wordsOf(name.replace('[]', '')))?.[0].replace(/s$/, '') ?? '';
  return word === envelope.created.holder || word === 'job' || (word !== '' && word === kind?.name);
}

function jobOfPath(location: string | undefined, kind: Kind | undefined): string | undefined {
  const [path = ''] = (location ?? '').split(/[?#]/);
  for (const pattern of [kind?.status?.path, kind?.status?.alias]) {
    const [before, after] = (pattern ?? '').split('{id}');
    if (before === undefined || after === undefined || !path.includes(before) || !path.endsWith(after)) continue;
    const segment = path.slice(path.lastIndexOf(before) + before.length, path.length - after.length);
    if (segment === '' || segment.includes('/')) continue;
    try {
      const id = decodeURIComponent(segment);
      if (isJobId(id)) return id;
    } catch {
      // The segment is not an ID of the service.
    }
  }
  return undefined;
}

const mostDepth = 8;

function visit(
  value: Json | undefined,
  name: string,
  add: (holder: { [field: string]: Json }, name: string) => void,
  depth = 0,
): void {
  if (value === null || typeof value !== 'object' || depth > mostDepth) return;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 20)) visit(item, `${name}[]`, add, depth + 1);
    return;
  }
  add(value, name);
  for (const [field, item] of Object.entries(value)) visit(item, field, add, depth + 1);
}

function textsOf(value: Json | undefined, depth = 0): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value.slice(0, 4000)];
  if (value === null || typeof value !== 'object' || depth > mostDepth) return [];
  return Object.values(value).flatMap((item) => textsOf(item, depth + 1));
}

function textsAboutKey(value: Json | undefined, key: string, field = '', depth = 0): string[] {
  if (typeof value === 'string') {
    const text = value.slice(0, 4000);
    if (text === '' || text === key) return [];
    return [/idempot/i.test(field) ? `${field} ${text}` : text];
  }
  if (value === null || typeof value !== 'object' || depth > mostDepth) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsAboutKey(item, key, field, depth + 1));
  return Object.entries(value).flatMap(([name, item]) => textsAboutKey(item, key, name, depth + 1));
}

function wordsOf(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}
