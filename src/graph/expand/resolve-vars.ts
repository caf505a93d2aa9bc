import type { Json } from '../../ground/json.ts';
import {
  defined,
  describeValue,
  emptyMap,
  freshCopy,
  isMap,
  isScalar,
  type JsonMap,
  shorten,
  unknownValue,
} from '../../ground/values.ts';
import {
  findUnsendableInJson,
  type Unsendable,
  whyNumberIsUnsendable,
  whyTextIsUnsendable,
} from '../../manifest/check/unsendable.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { PlacedVar } from '../../manifest/yaml/read-yaml.ts';
import { checkTemplates } from '../check/check-task.ts';
import type { Expansion } from '../expansion.ts';
import { findTemplates, type Site } from '../render/templates.ts';

/**
 * Resolves all vars. A value in the manifest may be a template that uses other vars. A value from the command line, the
 * environment or a file is never a template. A wrong var becomes `unknownValue`.
 */
export function resolveVars(expansion: Expansion): JsonMap {
  const vars = emptyMap();
  const { vars: declared, places } = expansion.manifest;
  for (const given of expansion.facts.varFiles ?? []) setVar(vars, given, expansion);
  for (const [name, text] of Object.entries(expansion.facts.vars)) {
    const place = places.key(Object.hasOwn(declared, name) ? ['vars', name] : ['vars']);
    setVar(vars, { name, place, text, ...readText(text, declared[name] ?? null) }, expansion);
  }
  resolveDeclared(vars, expansion);
  return vars;
}

interface GivenVar extends PlacedVar {
  text?: string;
  unsendable?: Unsendable;
}

function setVar(vars: JsonMap, { name, value, place, text, unsendable }: GivenVar, expansion: Expansion): void {
  const { vars: declared } = expansion.manifest;
  const type = declared[name] ?? null;
  if (!Object.hasOwn(declared, name)) {
    const message = `the var \`${shorten(name)}\` is not declared by the manifest`;
    const hint = `${suggestName(name, Object.keys(declared), { what: 'declared vars' })}; or declare it under \`vars:\``;
    expansion.reportError({ code: 'MB1101', message, hint, place });
    return;
  }
  // The value in the manifest is wrong, which was already reported.
  if (type === unknownValue) return;
  const isRight = unsendable === undefined && (type === null || typeOf(value) === typeOf(type));
  vars[name] = isRight ? value : unknownValue;
  if (isRight || value === unknownValue) return;
  if (unsendable !== undefined) {
    const { written, problem, hint } = unsendable;
    const message = `the var \`${name}\` is set outside of the manifest, and ${written ?? 'its text'} ${problem}`;
    expansion.reportError({ code: 'MB1106', message, hint, place });
    return;
  }
  const wanted = typeOf(type);
  const message = `the var \`${name}\` is ${describeValue(value)}, and the manifest declares it as ${wanted}`;
  const hint =
    text !== undefined
      ? hintForText(name, type)
      : wanted === 'a string' && isScalar(value)
        ? `put it in quotes: "${value}"`
        : `write ${wanted}, or change the declaration`;
  expansion.reportError({ code: 'MB1103', message, hint, place });
}

function resolveDeclared(vars: JsonMap, expansion: Expansion): void {
  const { manifest, templates } = expansion;
  const { vars: declared } = manifest;
  const open: string[] = [];

  const resolve = (name: string): void => {
    if (Object.hasOwn(vars, name)) return;
    open.push(name);
    const value = declared[name] ?? null;
    for (const site of findTemplates(value, ['vars', name])) {
      if (resolveNames(site)) checkTemplates([site], { what: 'a var', roots: ['vars'], vars }, expansion);
      else templates.markUnsound(site.path);
    }
    const rendered = expansion.render(value, ['vars', name], () => ({ names: { vars } }));
    open.pop();
    if (!Object.hasOwn(vars, name)) vars[name] = rendered;
  };

  const resolveNames = (site: Site): boolean => {
    for (const { parts, start, end } of templates.parse(site.text).paths) {
      const name = parts[0] === 'vars' ? parts[1] : undefined;
      if (name === undefined || !Object.hasOwn(declared, name)) continue;
      const from = open.indexOf(name);
      if (from === -1 || Object.hasOwn(vars, name)) {
        resolve(name);
        continue;
      }
      const needed = open.slice(from);
      const circle = [...needed, name].map((part) => `vars.${part}`).join(' → ');
      const message = `vars need each other in a circle: ${circle}`;
      expansion.reportFault({ code: 'MB1404', message, hint: 'give one var a fixed value', start, end }, site);
      for (const part of needed) vars[part] = unknownValue;
      return false;
    }
    return true;
  };

  for (const name of Object.keys(declared)) resolve(name);
}

function hintForText(name: string, declared: Json): string {
  const isList = isMap(declared) || Array.isArray(declared);
  const word = `${name}=${shorten(isList ? JSON.stringify(declared) : String(declared), 200)}`;
  return `write --var ${/^[\w.=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`}`;
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isMap(value)) return 'a map';
  return typeof value === 'string' ? 'a string' : typeof value === 'number' ? 'a number' : 'true or false';
}

function readText(text: string, declared: Json): Pick<GivenVar, 'value' | 'unsendable'> {
  // If a value from the command line or the environment is not UTF-8, its text contains U+FFFD.
  const unsendable = whyTextIsUnsendable(text);
  const isText = unsendable !== undefined || declared === null || typeof declared === 'string';
  if (isText) return { value: text, ...defined({ unsendable }) };
  if (typeof declared === 'boolean') return { value: text === 'true' || (text === 'false' ? false : text) };
  if (typeof declared === 'number') {
    const number = Number(text);
    if (Number.isNaN(number) || !/\d/.test(text)) return { value: text };
    return { value: number, ...defined({ unsendable: whyNumberIsUnsendable(number, text.trim()) }) };
  }
  try {
    const value = freshCopy(JSON.parse(text) as Json);
    return {
      value,
      ...defined({ unsendable: [...findUnsendableInJson(text)].find(({ severity }) => severity === undefined) }),
    };
  } catch {
    return { value: text };
  }
}
