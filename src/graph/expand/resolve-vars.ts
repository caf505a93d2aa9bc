import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { emptyMap, isMap, type JsonMap, type Path, shorten, unknownValue } from '../../ground/values.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import { renderTemplate } from '../../manifest/template/render-template.ts';
import { isTemplate, type Template } from '../../manifest/template/template.ts';
import { checkPaths } from '../check/check-paths.ts';
import { readOverride } from '../render/read-override.ts';
import { placeFault, type TemplateCache } from '../render/templates.ts';

/**
 * The values of all vars: as declared, or as set from outside. Values may be templates of other vars; values from
 * outside never are. A var that is wrong is `unknownValue`.
 */
export function resolveVars(
  manifest: Manifest,
  options: { overrides: Readonly<Record<string, string>>; templates: TemplateCache },
): { vars: JsonMap; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const declared = manifest.vars;
  const vars = emptyMap();
  const open: string[] = [];

  function resolve(name: string): void {
    if (Object.hasOwn(vars, name)) return;
    open.push(name);
    const value = resolveValue(declared[name] ?? null, ['vars', name]);
    open.pop();
    if (!Object.hasOwn(vars, name)) vars[name] = value;
  }

  function resolveValue(value: Json, path: Path): Json {
    if (value === unknownValue) return value;
    if (typeof value === 'string') return isTemplate(value) ? resolveTemplate(value, path) : value;
    if (Array.isArray(value)) return value.map((item, index) => resolveValue(item, [...path, index]));
    if (!isMap(value)) return value;
    const copy = emptyMap();
    for (const [key, item] of Object.entries(value)) copy[key] = resolveValue(item, [...path, key]);
    return copy;
  }

  function resolveTemplate(text: string, path: Path): Json {
    const site = { text, path, places: manifest.places };
    const template = options.templates.get(text);
    if (template === undefined) {
      for (const fault of options.templates.parse(text).faults) diagnostics.push(placeFault(fault, site));
      return unknownValue;
    }
    if (!resolveNames(template, site)) return unknownValue;
    const known = { what: 'a var', roots: ['vars'], vars } as const;
    const { value, faults } = renderTemplate(template, { names: { vars } });
    const wrong = checkPaths(template.paths, known);
    for (const fault of wrong.length > 0 ? wrong : faults) diagnostics.push(placeFault(fault, site));
    return wrong.length > 0 || value === undefined ? unknownValue : value;
  }

  /** False when a var needs itself. */
  function resolveNames(template: Template, site: { text: string; path: Path }): boolean {
    for (const used of template.paths) {
      const name = used.parts[0] === 'vars' ? used.parts[1] : undefined;
      if (name === undefined || !Object.hasOwn(declared, name)) continue;
      const from = open.indexOf(name);
      if (from === -1 || Object.hasOwn(vars, name)) {
        resolve(name);
        continue;
      }
      const circle = [...open.slice(from), name].map((part) => `vars.${part}`).join(' → ');
      const message = `vars need each other in a circle: ${circle}`;
      const fault = {
        code: 'MB1206',
        message,
        hint: 'give one of them a fixed value',
        start: used.start,
        end: used.end,
      } as const;
      diagnostics.push(placeFault(fault, { ...site, places: manifest.places }));
      for (const part of open.slice(from)) vars[part] = unknownValue;
      return false;
    }
    return true;
  }

  for (const [name, text] of Object.entries(options.overrides)) {
    const result = Object.hasOwn(declared, name) ? readOverride(declared[name] ?? null, text) : undefined;
    if (result !== undefined && 'value' in result) {
      vars[name] = result.value;
      continue;
    }
    // What is declared is wrong itself, which has been told: nobody knows what was to come.
    if (declared[name] === unknownValue) continue;
    const place = manifest.places.key(Object.hasOwn(declared, name) ? ['vars', name] : ['vars']);
    const error = { severity: 'error', place } as const;
    if (result === undefined) {
      const message = `the var \`${shorten(name)}\` is set from outside, but the manifest does not declare it`;
      diagnostics.push({ code: 'MB1101', ...error, message, hint: hintForUndeclared(name, Object.keys(declared)) });
    } else if ('unsendable' in result) {
      vars[name] = unknownValue;
      const { written, problem, hint } = result.unsendable;
      const message = `the var \`${name}\` is set from outside, and ${written ?? 'its text'} ${problem}`;
      diagnostics.push({ code: 'MB1106', ...error, message, hint });
    } else {
      vars[name] = unknownValue;
      const message = `the var \`${name}\` is set from outside to "${shorten(text)}", which is not ${result.wanted}`;
      diagnostics.push({
        code: 'MB1103',
        ...error,
        message,
        hint: hintForOverride(name, declared[name] ?? null, text),
      });
    }
  }
  for (const name of Object.keys(declared)) resolve(name);
  return { vars, diagnostics };
}

function hintForUndeclared(name: string, declared: readonly string[]): string {
  if (declared.length === 0) return 'declare it under `vars:`; no vars are declared yet';
  const nearest = nearestName(name, declared);
  const guess = nearest === undefined ? 'declare' : `did you mean \`${nearest}\`? Otherwise declare`;
  return `${guess} it under \`vars:\`, or use a declared var: ${listNames(declared)}`;
}

/** How the value has to be written in a shell. */
function hintForOverride(name: string, declared: Json, text: string): string {
  const example = Array.isArray(declared) ? listFrom(text, declared) : declared;
  const written = shorten(isMap(example) || Array.isArray(example) ? JSON.stringify(example) : String(example), 200);
  const word = `${name}=${written}`;
  return `write it as in --var ${/^[\w.=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`}`;
}

/** What was most likely meant: the parts between the commas, as numbers where the declared list has numbers. */
function listFrom(text: string, declared: readonly Json[]): Json[] {
  const numbers = declared.length > 0 && declared.every((item) => typeof item === 'number');
  return text
    .trim()
    .replaceAll(/^\[|\]$/g, '')
    .split(',')
    .map((part) => part.trim().replaceAll(/^["']|["']$/g, ''))
    .filter((part) => part !== '')
    .map((part) => (numbers && Number.isFinite(Number(part)) ? Number(part) : part));
}
