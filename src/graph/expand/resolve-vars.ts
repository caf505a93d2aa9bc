import type { Json } from '../../ground/json.ts';
import {
  defined,
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
  const { vars: declared, places } = expansion.manifest;
  for (const given of expansion.facts.varFiles ?? []) setVar(vars, given, expansion);
  for (const [name, text] of Object.entries(expansion.facts.vars)) {
    const place = places.key(Object.hasOwn(declared, name) ? ['vars', name] : ['vars']);
    setVar(vars, { name, place, text, ...readText(text, declared[name] ?? null) }, expansion);
  }
  const resolving = new DeclaredVars(vars, expansion);
  for (const name of Object.keys(declared)) resolving.resolve(name);
  return vars;
}

/** `text`: the value as written, if it is not from a file. */
interface GivenVar extends PlacedVar {
  text?: string;
  unsendable?: Unsendable;
}

function setVar(vars: JsonMap, { name, value, place, text, unsendable }: GivenVar, expansion: Expansion): void {
  const { vars: declared } = expansion.manifest;
  const type = declared[name] ?? null;
  if (!Object.hasOwn(declared, name)) {
    const message = `the var \`${shorten(name)}\` is not declared by the manifest`;
    expansion.reportError({ code: 'MB1101', message, hint: hintForUndeclared(name, Object.keys(declared)), place });
    return;
  }
  // One of the two values is wrong, which was reported.
  if (type === unknownValue) return;
  const isRight = unsendable === undefined && (type === null || typeOf(value) === typeOf(type));
  vars[name] = isRight ? value : unknownValue;
  if (isRight || value === unknownValue) return;
  if (unsendable !== undefined) {
    const { written, problem, hint } = unsendable;
    const message = `the var \`${name}\` is set from outside, and ${written ?? 'its text'} ${problem}`;
    expansion.reportError({ code: 'MB1106', message, hint, place });
    return;
  }
  const wanted = typeOf(type);
  const message = `the var \`${name}\` is ${describeValue(value)}, and the manifest declares it as ${wanted}`;
  const hint =
    text !== undefined
      ? hintForText(name, type)
      : wanted === 'a text' && isScalar(value)
        ? `put it in quotes: "${value}"`
        : `write ${wanted}, or change the declaration`;
  expansion.reportError({ code: 'MB1103', message, hint, place });
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

function hintForText(name: string, declared: Json): string {
  const isList = isMap(declared) || Array.isArray(declared);
  const word = `${name}=${shorten(isList ? JSON.stringify(declared) : String(declared), 200)}`;
  return `write it as in --var ${/^[\w.=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`}`;
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

/** Reads a text as a value of the declared type. A text that is none stays a text, and its type is then wrong. */
function readText(text: string, declared: Json): Pick<GivenVar, 'value' | 'unsendable'> {
  // Text that is not UTF-8, from the command line or the environment, contains this character.
  if (text.includes('\ufffd')) {
    const hint = 'give it in UTF-8; a file in another encoding has to be converted first';
    return { value: text, unsendable: { problem: 'is not UTF-8 text', hint } };
  }
  switch (typeof declared) {
    case 'string':
      return { value: text };
    case 'boolean':
      return { value: text === 'true' || (text === 'false' ? false : text) };
    case 'number': {
      const number = Number(text);
      if (Number.isNaN(number) || !/\d/.test(text)) return { value: text };
      return { value: number, ...defined({ unsendable: whyNumberIsUnsendable(number, text.trim()) }) };
    }
    default:
  }
  if (declared === null) return { value: text };
  try {
    const value = freshCopy(JSON.parse(text) as Json);
    return { value, ...defined({ unsendable: [...findUnsendableInJson(text)][0] }) };
  } catch {
    return { value: text };
  }
}
