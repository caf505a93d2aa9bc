import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, isScalar, ownValue, type Path, shorten, unknownValue, valueAt } from '../../ground/values.ts';
import { curlyHint, hasCurlyQuotes, nearestName, suggestName } from '../suggest.ts';
import { isTemplate } from '../template/template.ts';
import type { Places } from '../yaml/places.ts';
import { readPointer } from './json-schema.ts';
import { templateFields } from './text-rules.ts';
import { expected, findViolations, knownKeys, type Violation } from './validate.generated.ts';

const namedThings: Readonly<Record<string, string>> = {
  tasks: 'a task',
  rows: 'rows',
  tables: 'a table',
  selectors: 'a selector',
};

/**
 * Checks a manifest against the schema. Returns at most one mistake per value. No key is required in an included
 * manifest.
 */
export function checkShape(value: Json, places: Places, options: { isIncluded?: boolean } = {}): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const reported = new Set<string>();
  const violations = findViolations(value);
  const meant = findIntendedKeys(violations);
  for (const violation of violations) {
    if (diagnostics.length > 200) break;
    const path = readPointer(violation.instancePath, value);
    if (isUnknown(value, path)) continue;
    const key = violation.propertyName ?? violation.params.additionalProperty ?? violation.params.missingProperty ?? '';
    const id = JSON.stringify([violation.instancePath, key]);
    if (reported.has(id) || violation.keyword === 'propertyNames') continue;
    if (violation.keyword === 'if') continue;
    const isRoot = path.length === 0;
    if (violation.keyword === 'required' && (meant.has(id) || (isRoot && options.isIncluded === true))) continue;
    if (isMisplacedTemplate(path, valueAt(value, path))) continue;
    reported.add(id);
    diagnostics.push(describeViolation(violation, { value, path, places }));
  }
  return diagnostics;
}

function findIntendedKeys(violations: readonly Violation[]): Set<string> {
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
    const what = namedThings[String(path[0])] ?? 'a var';
    return {
      code: 'MB1103',
      severity: 'error',
      message: `\`${shorten(name)}\` cannot be the name of ${what}`,
      hint: `use ${wordsFor(ruleOf(violation), '')}`,
      place: places.key([...path, name]),
    };
  }
  const value = valueAt(found.value, path);
  if (path.length === 1 && path[0] === 'version' && typeof value === 'number') {
    const message = `manifest version ${value} is not supported`;
    const hint = 'this version of mediabatch reads only `version: 1`: write that version, or update mediabatch';
    return { code: 'MB1105', severity: 'error', message, hint, place: places.value(path) };
  }
  if (isAxis(path) && isScalar(value)) {
    const message = `the axis \`${path[3]}\` of task \`${path[1]}\` is ${describeValue(value)}, not a list`;
    const hint = `write a list: [${value === '' ? '"1:1", "9:16"' : JSON.stringify(typeof value === 'string' ? shorten(value) : value)}]`;
    return { code: 'MB1103', severity: 'error', message, hint, place: places.value(path) };
  }
  // A null value is usually a key without a value.
  const isEmpty = violation.keyword === 'minProperties' || value === null;
  const seen = isEmpty ? 'empty' : describeValue(value);
  const quotes = typeof value === 'string' && hasCurlyQuotes(value) ? `; ${curlyHint}` : '';
  return {
    code: 'MB1103',
    severity: 'error',
    message: `${subjectOf(path)} is ${seen}`,
    hint: `it must be ${wordsFor(ruleOf(violation), '')}${quotes}`,
    place: places.value(path),
  };
}

function describeUnknownKey(
  key: string,
  violation: Violation,
  found: { value: Json; path: Path; places: Places },
): Diagnostic {
  const { path, places } = found;
  const place = places.key([...path, key]);
  const variable = path.length === 1 && path[0] === 'service' ? environmentVariableFor(key) : undefined;
  if (variable !== undefined) {
    const message = `the manifest cannot set \`service.${shorten(key)}\``;
    const hint =
      variable === 'MEDIABATCH_BASE_URL'
        ? 'remove the address and set MEDIABATCH_BASE_URL in the environment: a manifest must not send your key to another host'
        : 'remove the key and set MEDIABATCH_API_KEY in the environment; if the key was real, replace it with a new key';
    return { code: 'MB1104', severity: 'error', message, hint, place };
  }
  const message = `\`${shorten(key)}\` is not a key of ${subjectOf(path)}`;
  const known = knownKeys[ruleOf(violation)] ?? [];
  const free = path.length === 0 ? '; keys of your own start with x-' : '';
  const near = nearestName(key, known);
  return {
    ...{ code: 'MB1101', severity: 'error', message, place },
    hint: `${suggestName(key, known, { what: 'known keys' })}${free}${hasCurlyQuotes(key) ? `; ${curlyHint}` : ''}`,
    ...(near !== undefined &&
      ownValue(valueAt(found.value, path), near) === undefined && { fix: { place, text: near } }),
  };
}

function isMisplacedTemplate(path: Path, value: Json | undefined): boolean {
  if (typeof value !== 'string' || !isTemplate(value)) return false;
  if (path[0] === 'include' || path[0] === 'selectors') return true;
  return path[0] === 'tasks' && path.length > 2 && !templateFields.includes(String(path[2]));
}

function isAxis(path: Path): boolean {
  return (
    path.length === 4 && path[0] === 'tasks' && path[2] === 'matrix' && path[3] !== 'include' && path[3] !== 'exclude'
  );
}

function subjectOf(path: Path): string {
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

function ruleOf(violation: Violation): string {
  const pointer = violation.schemaPath.replace(/^#\/then\//, '#/');
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

function wordsFor(pointer: string, before: string): string {
  const words = expected[pointer];
  return words === undefined ? '' : `${before}${words}`;
}

function isUnknown(root: Json, path: Path): boolean {
  for (let length = 0; length <= path.length; length += 1) {
    if (valueAt(root, path.slice(0, length)) === unknownValue) return true;
  }
  return false;
}

function environmentVariableFor(key: string): 'MEDIABATCH_BASE_URL' | 'MEDIABATCH_API_KEY' | undefined {
  const plain = key.toLowerCase().replaceAll(/[-_]/g, '');
  if (/^(?:(?:base)?url|base|endpoint|host|server)$/.test(plain)) return 'MEDIABATCH_BASE_URL';
  return /^(?:(?:api)?key|token|bearer|authorization|secret|password)$/.test(plain) ? 'MEDIABATCH_API_KEY' : undefined;
}
