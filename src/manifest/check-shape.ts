import type { Diagnostic } from '../diagnostic.ts';
import type { Json } from '../json.ts';
import { curlyHint, hasCurlyQuotes } from './curly-quotes.ts';
import { environmentVariableFor, futureManifestKeys, futureTaskKeys } from './future-keys.ts';
import type { Places } from './places.ts';
import { nearestName, suggestName } from './suggest.ts';
import { isTemplate } from './template.ts';
import { expected, findViolations, knownKeys, type Violation } from './validate.generated.ts';
import { describeValue, isScalar, type Path, shorten, unknownValue, valueAt } from './values.ts';

/** Every place where a manifest is not as its schema says, in words. One mistake per value. */
export function checkShape(value: Json, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const told = new Set<string>();
  const violations = findViolations(value);
  const meant = findMeantKeys(violations);
  for (const violation of violations) {
    if (diagnostics.length > 200) break;
    const path = readPointer(value, violation.instancePath);
    if (isUnknown(value, path)) continue;
    const key = violation.propertyName ?? violation.params.additionalProperty ?? violation.params.missingProperty ?? '';
    const id = JSON.stringify([violation.instancePath, key]);
    if (told.has(id) || violation.keyword === 'propertyNames') continue;
    if (violation.keyword === 'required' && meant.has(id)) continue;
    if (violation.keyword === 'pattern' && isAxis(path) && isTemplate(String(valueAt(value, path)))) continue;
    told.add(id);
    diagnostics.push(describeViolation(violation, { value, path, places }));
  }
  return diagnostics;
}

/** Keys that are missing only because they are written with a typing mistake, which is told where it is. */
function findMeantKeys(violations: readonly Violation[]): Set<string> {
  const meant = new Set<string>();
  for (const violation of violations) {
    if (violation.keyword !== 'additionalProperties') continue;
    const written = String(violation.params.additionalProperty);
    const nearest = nearestName(written, knownKeys[ruleOf(violation)] ?? []);
    if (nearest !== undefined) meant.add(JSON.stringify([violation.instancePath, nearest]));
  }
  return meant;
}

function describeViolation(violation: Violation, found: { value: Json; path: Path; places: Places }): Diagnostic {
  const { path, places } = found;
  const { params } = violation;
  if (violation.keyword === 'additionalProperties') {
    return describeUnknownKey(String(params.additionalProperty), violation, found);
  }
  if (violation.keyword === 'required') {
    const key = String(params.missingProperty);
    const hint = `add \`${key}:\`${wordsFor(`${ruleOf(violation)}/properties/${key}`, ' – it must be ')}`;
    const message = `${subjectOf(path)} has no \`${key}\``;
    return { code: 'MB1102', severity: 'error', message, hint, place: places.key(path) };
  }
  if (violation.propertyName !== undefined) {
    const name = violation.propertyName;
    const what = path[0] === 'tasks' ? 'the name of a task' : 'the name of a var';
    return {
      code: 'MB1103',
      severity: 'error',
      message: `\`${shorten(name)}\` cannot be ${what}`,
      hint: `use ${wordsFor(ruleOf(violation), '')}`,
      place: places.key([...path, name]),
    };
  }
  const value = valueAt(found.value, path);
  if (path.length === 1 && path[0] === 'version' && typeof value === 'number') {
    const message = `manifest version ${value} is not supported`;
    const hint = 'this version of mediabatch reads `version: 1`; a newer one may read more';
    return { code: 'MB1105', severity: 'error', message, hint, place: places.value(path) };
  }
  if (isAxis(path) && isScalar(value)) {
    const message = `the axis \`${path[3]}\` of task \`${path[1]}\` is ${describeValue(value)}, not a list`;
    const hint = `write a list: [${value === '' ? '"1:1", "9:16"' : JSON.stringify(typeof value === 'string' ? shorten(value) : value)}]`;
    return { code: 'MB1407', severity: 'error', message, hint, place: places.value(path) };
  }
  const seen = violation.keyword === 'minProperties' ? 'empty' : describeValue(value);
  const quotes = typeof value === 'string' && hasCurlyQuotes(value) ? `; ${curlyHint}` : '';
  return {
    code: 'MB1103',
    severity: 'error',
    message: `${subjectOf(path)} is ${seen}`,
    hint: `it must be ${wordsFor(ruleOf(violation), '')}${quotes}`,
    place: places.value(path),
  };
}

function describeUnknownKey(key: string, violation: Violation, found: { path: Path; places: Places }): Diagnostic {
  const { path, places } = found;
  const place = places.key([...path, key]);
  const variable = path.length === 1 && path[0] === 'service' ? environmentVariableFor(key) : undefined;
  if (variable !== undefined) {
    const message = `the manifest cannot set \`service.${shorten(key)}\``;
    const hint =
      variable === 'MEDIABATCH_BASE_URL'
        ? 'remove it and set MEDIABATCH_BASE_URL in the environment: a manifest must not be able to send your key elsewhere'
        : 'remove it and set MEDIABATCH_API_KEY in the environment; if it was a real key, replace it by a new one';
    return { code: 'MB1104', severity: 'error', message, hint, place };
  }
  const message = `\`${shorten(key)}\` is not a key of ${subjectOf(path)}`;
  const future =
    path.length === 0 ? futureManifestKeys : path.length === 2 && path[0] === 'tasks' ? futureTaskKeys : [];
  const known = knownKeys[ruleOf(violation)] ?? [];
  const unknown = { code: 'MB1101', severity: 'error', message, place } as const;
  if (future.includes(key)) return { ...unknown, hint: 'this version does not support it yet: remove it' };
  const free = path.length === 0 ? '; keys of your own start with x-' : '';
  const later = nearestName(key, known) === undefined ? nearestName(key, future) : undefined;
  const guess = later === undefined ? '' : `\`${later}\` is not supported by this version yet. `;
  return {
    ...unknown,
    hint: `${guess}${suggestName(key, known, { what: 'known keys' })}${free}${hasCurlyQuotes(key) ? `; ${curlyHint}` : ''}`,
  };
}

/** An axis of a matrix, and neither `include` nor `exclude`. */
function isAxis(path: Path): boolean {
  return (
    path.length === 4 && path[0] === 'tasks' && path[2] === 'matrix' && path[3] !== 'include' && path[3] !== 'exclude'
  );
}

/** What a person calls the value at a path. */
export function subjectOf(path: Path): string {
  if (path.length === 0) return 'the manifest';
  if (path[0] === 'tasks' && path.length === 2) return `task \`${path[1]}\``;
  if (path[0] === 'tasks' && path.length > 2) return `\`${dotted(path.slice(2))}\` of task \`${path[1]}\``;
  return `\`${dotted(path)}\``;
}

function dotted(path: Path): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part + 1}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
}

/** The part of the schema that a rule belongs to. */
function ruleOf(violation: Violation): string {
  const pointer = violation.schemaPath;
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

function wordsFor(pointer: string, before: string): string {
  const words = expected[pointer];
  return words === undefined ? '' : `${before}${words}`;
}

function readPointer(root: Json, pointer: string): Path {
  const path: (string | number)[] = [];
  for (const part of pointer.split('/').slice(1)) {
    const inList = Array.isArray(valueAt(root, path));
    path.push(inList ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return path;
}

/** A value that could not be read, or something in it: it has been reported. */
function isUnknown(root: Json, path: Path): boolean {
  for (let length = 0; length <= path.length; length += 1) {
    if (valueAt(root, path.slice(0, length)) === unknownValue) return true;
  }
  return false;
}
