import type { Json } from '../../ground/json.ts';
import {
  describeValue,
  emptyMap,
  freshCopy,
  isMap,
  isScalar,
  type JsonMap,
  type Path,
  shorten,
  unknownValue,
} from '../../ground/values.ts';
import { findUnsendableInJson, type Unsendable, whyNumberIsUnsendable } from '../../manifest/check/unsendable.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import { renderTemplate } from '../../manifest/template/render-template.ts';
import { isTemplate, type Template, type TemplateFault } from '../../manifest/template/template.ts';
import type { PlacedVar } from '../../manifest/yaml/read-yaml.ts';
import { checkPaths } from '../check/check-paths.ts';
import type { Expansion } from '../expansion.ts';

/**
 * Resolves all vars, as declared or as set from outside (command line, environment or file). Declared values may be
 * templates of other vars; values from outside are never templates. A wrong var is `unknownValue`.
 */
export function resolveVars(expansion: Expansion): JsonMap {
  const vars = emptyMap();
  setVarsOfFiles(vars, expansion);
  for (const [name, text] of Object.entries(expansion.facts.vars)) setFromOutside(vars, { name, text }, expansion);
  const declared = new DeclaredVars(vars, expansion);
  for (const name of Object.keys(expansion.manifest.vars)) declared.resolve(name);
  return vars;
}

function setFromOutside(vars: JsonMap, { name, text }: { name: string; text: string }, expansion: Expansion): void {
  const { vars: declared, places } = expansion.manifest;
  const isDeclared = Object.hasOwn(declared, name);
  const result = isDeclared ? readOverride(declared[name] ?? null, text) : undefined;
  if (result !== undefined && 'value' in result) {
    vars[name] = result.value;
    return;
  }
  // The declaration is wrong, which was reported, so the expected type is unknown.
  if (declared[name] === unknownValue) return;
  const place = places.key(isDeclared ? ['vars', name] : ['vars']);
  if (result === undefined) {
    const message = `the var \`${shorten(name)}\` is set from outside, but the manifest does not declare it`;
    const hint = hintForUndeclared(name, Object.keys(declared));
    expansion.reportError({ code: 'MB1101', message, hint, place });
    return;
  }
  vars[name] = unknownValue;
  if ('unsendable' in result) {
    const { written, problem, hint } = result.unsendable;
    const message = `the var \`${name}\` is set from outside, and ${written ?? 'its text'} ${problem}`;
    expansion.reportError({ code: 'MB1106', message, hint, place });
  } else {
    const message = `the var \`${name}\` is set from outside to "${shorten(text)}", which is not ${result.wanted}`;
    const hint = hintForOverride(name, declared[name] ?? null);
    expansion.reportError({ code: 'MB1103', message, hint, place });
  }
}

class DeclaredVars {
  readonly #vars: JsonMap;
  readonly #expansion: Expansion;
  readonly #open: string[] = [];

  constructor(vars: JsonMap, expansion: Expansion) {
    this.#vars = vars;
    this.#expansion = expansion;
  }

  resolve(name: string): void {
    if (Object.hasOwn(this.#vars, name)) return;
    this.#open.push(name);
    const value = this.#resolveValue(this.#expansion.manifest.vars[name] ?? null, ['vars', name]);
    this.#open.pop();
    if (!Object.hasOwn(this.#vars, name)) this.#vars[name] = value;
  }

  #resolveValue(value: Json, path: Path): Json {
    if (value === unknownValue) return value;
    if (typeof value === 'string') return isTemplate(value) ? this.#resolveTemplate(value, path) : value;
    if (Array.isArray(value)) return value.map((item, index) => this.#resolveValue(item, [...path, index]));
    if (!isMap(value)) return value;
    const copy = emptyMap();
    for (const [key, item] of Object.entries(value)) copy[key] = this.#resolveValue(item, [...path, key]);
    return copy;
  }

  #resolveTemplate(text: string, path: Path): Json {
    const site = { text, path };
    const { template, faults } = this.#expansion.templates.parse(text);
    if (template === undefined) return this.#refuse(faults, site);
    if (!this.#resolveNames(template, site)) return unknownValue;
    const names = { vars: this.#vars };
    const misnamed = checkPaths(template.paths, { what: 'a var', roots: ['vars'], ...names });
    if (misnamed.length > 0) return this.#refuse(misnamed, site);
    const rendered = renderTemplate(template, { names });
    return rendered.value === undefined ? this.#refuse(rendered.faults, site) : rendered.value;
  }

  #refuse(faults: readonly TemplateFault[], site: { text: string; path: Path }): Json {
    for (const fault of faults) this.#expansion.reportFault(fault, site);
    return unknownValue;
  }

  #resolveNames(template: Template, site: { text: string; path: Path }): boolean {
    const { vars: declared } = this.#expansion.manifest;
    for (const { parts, start, end } of template.paths) {
      const name = parts[0] === 'vars' ? parts[1] : undefined;
      if (name === undefined || !Object.hasOwn(declared, name)) continue;
      const from = this.#open.indexOf(name);
      if (from === -1 || Object.hasOwn(this.#vars, name)) {
        this.resolve(name);
        continue;
      }
      const needed = this.#open.slice(from);
      const circle = [...needed, name].map((part) => `vars.${part}`).join(' → ');
      const message = `vars need each other in a circle: ${circle}`;
      const hint = 'give one of them a fixed value';
      this.#expansion.reportFault({ code: 'MB1404', message, hint, start, end }, site);
      for (const part of needed) this.#vars[part] = unknownValue;
      return false;
    }
    return true;
  }
}

function hintForOverride(name: string, declared: Json): string {
  const isList = isMap(declared) || Array.isArray(declared);
  const word = `${name}=${shorten(isList ? JSON.stringify(declared) : String(declared), 200)}`;
  return `write it as in --var ${/^[\w.=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`}`;
}

/** Sets vars from files. If several files have a var, the last one counts. */
function setVarsOfFiles(vars: JsonMap, expansion: Expansion): void {
  const { vars: declared } = expansion.manifest;
  for (const given of expansion.facts.varFiles ?? []) {
    const { name, value, place } = given;
    if (!Object.hasOwn(declared, name)) {
      const message = `the var \`${shorten(name)}\` is not declared by the manifest`;
      expansion.reportError({ code: 'MB1101', message, hint: hintForUndeclared(name, Object.keys(declared)), place });
      continue;
    }
    // One of the two values is wrong, which was reported.
    if (declared[name] === unknownValue) continue;
    vars[name] = isOfType(value, declared[name] ?? null) ? value : unknownValue;
    if (vars[name] === unknownValue && value !== unknownValue) reportType(given, declared[name] ?? null, expansion);
  }
}

function isOfType(value: Json, declared: Json): boolean {
  return declared === null || typeOf(value) === typeOf(declared);
}

function reportType({ name, value, place }: PlacedVar, declared: Json, expansion: Expansion): void {
  const wanted = typeOf(declared);
  const message = `the var \`${name}\` is ${describeValue(value)}, and the manifest declares it as ${wanted}`;
  const hint =
    wanted === 'a text' && isScalar(value)
      ? `put it in quotes: "${value}"`
      : `write ${wanted}, or change the declaration`;
  expansion.reportError({ code: 'MB1103', message, hint, place });
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isMap(value)) return 'a map';
  return typeof value === 'string' ? 'a text' : typeof value === 'number' ? 'a number' : 'true or false';
}

function hintForUndeclared(name: string, declared: readonly string[]): string {
  if (declared.length === 0) return 'declare it under `vars:`; no vars are declared yet';
  const nearest = nearestName(name, declared);
  const guess = nearest === undefined ? 'declare' : `did you mean \`${nearest}\`? Otherwise declare`;
  return `${guess} it under \`vars:\`, or use a declared var: ${listNames(declared)}`;
}

function readOverride(declared: Json, text: string): { value: Json } | { wanted: string } | { unsendable: Unsendable } {
  // Text that is not UTF-8, from the command line or the environment, contains this character.
  if (text.includes('\ufffd')) {
    const problem = 'is not UTF-8 text';
    return { unsendable: { problem, hint: 'give it in UTF-8; a file in another encoding has to be converted first' } };
  }
  if (declared === null || typeof declared === 'string') return { value: text };
  if (typeof declared === 'number') {
    const number = Number(text);
    if (text.trim() === '' || Number.isNaN(number) || !/\d/.test(text)) return { wanted: 'a number' };
    const unsendable = whyNumberIsUnsendable(number, text.trim());
    return unsendable === undefined ? { value: number } : { unsendable };
  }
  if (typeof declared === 'boolean') {
    return text === 'true' || text === 'false' ? { value: text === 'true' } : { wanted: '`true` or `false`' };
  }
  const wanted = `${describeValue(declared)} written as JSON`;
  try {
    const value = freshCopy(JSON.parse(text) as Json);
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(declared)) {
      return { wanted };
    }
    const [unsendable] = findUnsendableInJson(text);
    return unsendable === undefined ? { value } : { unsendable };
  } catch {
    return { wanted };
  }
}
