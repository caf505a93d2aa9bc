import type { Diagnostic } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { describeValue, emptyMap, isMap, type JsonMap, ownValue, shorten, unknownValue } from '../ground/values.ts';
import { fitsRange } from '../ground/version.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { checkShape } from './check/check-shape.ts';
import { checkTables } from './check/check-tables.ts';
import { checkTaskKeys } from './check/check-task-keys.ts';
import { checkKinds, checkTemplatePlaces, findCutTexts } from './check/text-rules.ts';
import { suggestName } from './suggest.ts';
import type { FilePlaces, Places } from './yaml/places.ts';
import { includedFaults, manifestFaults, readYaml } from './yaml/read-yaml.ts';
import { maxManifestBytes, placeBetween, readSource } from './yaml/source.ts';

/** Keys about the whole campaign, which are only allowed in its main manifest. */
const mainKeys: readonly string[] = ['name', 'description', 'budget', 'service', 'outputs'];

/** One file as written, and its mistakes. `content` is omitted when the file is not a map. */
export interface ReadFile {
  content?: { value: JsonMap; places: FilePlaces };
  diagnostics: Diagnostic[];
}

interface ReadOptions {
  main?: string;
  program?: string | undefined;
}

export function readManifestFile(source: { file: string; text: string }, options: ReadOptions): ReadFile {
  const read = readSource(source.file, source.text);
  if (new TextEncoder().encode(source.text).length > maxManifestBytes) {
    const message = `${source.file} is larger than ${maxManifestBytes / 1024 / 1024} MiB`;
    const hint = 'move long lists into data files and read them with `foreach:`';
    return { diagnostics: [{ code: 'MB1007', severity: 'error', message, hint, place: placeBetween(read, 0, 0) }] };
  }
  const { main } = options;
  const { value, places, diagnostics } = readYaml(read, main === undefined ? manifestFaults : includedFaults);
  if (value === undefined || places === undefined) return { diagnostics };
  if (!isMap(value) || value === unknownValue) {
    return { diagnostics: value === unknownValue ? diagnostics : [...diagnostics, describeNoMap(value, places)] };
  }
  const refusal = refuseProgram(value, { file: source.file, places, program: options.program });
  if (refusal !== undefined) return { diagnostics: [refusal] };
  const own = main === undefined ? { value, diagnostics: [] } : withoutMainKeys(value, { places, main });
  const content = { value: own.value, places };
  return {
    content,
    diagnostics: [
      ...diagnostics,
      ...own.diagnostics,
      ...checkShape(own.value, places, { isIncluded: main !== undefined }),
      ...checkKinds(own.value, places),
      ...checkTables(own.value, places),
      ...checkTemplatePlaces(own.value, places),
      ...checkTaskKeys(own.value, places),
      ...checkPrices(own.value, places),
      ...findCutTexts(own.value, places),
    ],
  };
}

function describeNoMap(value: Json, places: FilePlaces): Diagnostic {
  const message = `the manifest is ${describeValue(value)}`;
  const hint = 'it must be a map with `version:`, `name:` and `tasks:`';
  return { code: 'MB1103', severity: 'error', message, hint, place: places.value([]) };
}

/** Reports a file for another version. Nothing else in it is reported: it may have keys unknown to this one. */
function refuseProgram(
  value: JsonMap,
  { file, places, program }: { file: string; places: FilePlaces; program: string | undefined },
): Diagnostic | undefined {
  const range = ownValue(value, 'requires');
  if (program === undefined || typeof range !== 'string' || fitsRange(program, range) !== false) return undefined;
  const message = `${file} requires mediabatch ${shorten(range)}, and this is mediabatch ${program}`;
  const hint = `install a version that fits, as with npm install --save-dev "mediabatch@${shorten(range.trim())}"`;
  return { code: 'MB1105', severity: 'error', message, hint, place: places.value(['requires']) };
}

function withoutMainKeys(
  written: JsonMap,
  from: { places: FilePlaces; main: string },
): { value: JsonMap; diagnostics: Diagnostic[] } {
  const value = emptyMap();
  const diagnostics: Diagnostic[] = [];
  for (const [key, item] of Object.entries(written) as [string, Json][]) {
    if (!mainKeys.includes(key)) {
      value[key] = item;
      continue;
    }
    diagnostics.push({
      code: 'MB1101',
      severity: 'error',
      message: `\`${key}\` is not allowed in an included manifest: it applies to the whole campaign`,
      hint: `move it into ${from.main}`,
      place: from.places.key([key]),
    });
  }
  return { value, diagnostics };
}

/** Finds keys that are no price class: a kind, its model, and fields, as in `image/alpha-2/resolution=4k`. */
function checkPrices(value: Json, places: Places): Diagnostic[] {
  const prices = ownValue(value, 'prices');
  return Object.keys(isMap(prices) ? prices : {}).flatMap((name) => {
    const fault = findFault(name);
    if (fault === undefined) return [];
    const place = places.key(['prices', name]);
    return [{ code: fault.code, severity: 'error', message: fault.message, hint: fault.hint, place }];
  });
}

type Fault = { code: 'MB1101' | 'MB1103'; message: string; hint: string };

function findFault(name: string): Fault | undefined {
  const [kindName = '', ...parts] = name.split('/');
  const kind = kinds[kindName];
  if (kind === undefined) {
    const message = `\`${shorten(name)}\` in \`prices\` does not begin with a kind`;
    return { code: 'MB1101', message, hint: suggestName(kindName, Object.keys(kinds), { what: 'kinds' }) };
  }
  if (kind.free === true) {
    const message = `\`${shorten(name)}\` in \`prices\` has no price: a task of kind ${kind.name} takes no credits`;
    return { code: 'MB1103', message, hint: 'remove it' };
  }
  for (const [index, part] of parts.entries()) {
    const fault = findPartFault(kind, { part, index, name });
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findPartFault(kind: Kind, at: { part: string; index: number; name: string }): Fault | undefined {
  const { part, index } = at;
  const name = shorten(at.name);
  const field = /^([^=~]+)(?:=.+|~[0-9]+)$/.exec(part)?.[1];
  if (field === undefined) {
    if (index > 0 || part === '' || /[=~]/.test(part)) {
      const message = `\`${name}\` in \`prices\` cannot be read at "${shorten(part)}"`;
      const hint = 'write a kind, then a model, then fields with their values: image/alpha-2/resolution=4k';
      return { code: 'MB1103', message, hint };
    }
    const models = kind.model === undefined ? undefined : Object.keys(kind.model.models);
    if (models === undefined || models.includes(part)) return undefined;
    const message = `\`${name}\` in \`prices\` names a model that ${kind.name} does not have: ${shorten(part)}`;
    return { code: 'MB1101', message, hint: suggestName(part, models, { what: 'models', prefix: `${kind.name}/` }) };
  }
  if (kind.pricedBy === 'all' || kind.pricedBy.includes(field)) return undefined;
  const message = `\`${name}\` in \`prices\` names \`${shorten(field)}\`, and the price of ${kind.name} does not depend on it`;
  const hint =
    kind.pricedBy.length === 0
      ? `write ${kind.name}, or ${kind.name}/ and a model`
      : suggestName(field, kind.pricedBy, { what: 'it depends on', prefix: `${kind.name}/` });
  return { code: 'MB1101', message, hint };
}
