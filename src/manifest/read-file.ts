import type { Diagnostic } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { describeValue, emptyMap, isMap, type JsonMap, unknownValue } from '../ground/values.ts';
import { checkPrices } from './check/check-prices.ts';
import { checkShape } from './check/check-shape.ts';
import { checkTaskKeys } from './check/check-task-keys.ts';
import { checkKinds, checkTemplatePlaces, findCutTexts } from './check/text-rules.ts';
import { maxManifestBytes } from './size-limit.ts';
import type { FilePlaces } from './yaml/places.ts';
import { includedFaults, manifestFaults, readYaml } from './yaml/read-yaml.ts';
import { placeBetween, readSource } from './yaml/source.ts';

/** Keys about the whole campaign, which only its main manifest can have. */
const mainKeys: readonly string[] = ['name', 'description', 'budget', 'service'];

/** One file as written, and its mistakes. `content` is absent when it has no shape at all. */
export interface ReadFile {
  content?: { value: JsonMap; places: FilePlaces };
  diagnostics: Diagnostic[];
}

/** Reads one file and checks its shape. `main` names the manifest that includes it; absent for the main one itself. */
export function readManifestFile(source: { file: string; text: string }, options: { main?: string }): ReadFile {
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
  const own = main === undefined ? { value, diagnostics: [] } : withoutMainKeys(value, { places, main });
  const content = { value: own.value, places };
  return {
    content,
    diagnostics: [
      ...diagnostics,
      ...own.diagnostics,
      ...checkShape(own.value, places, { isIncluded: main !== undefined }),
      ...checkKinds(own.value, places),
      ...checkTemplatePlaces(own.value, places),
      ...checkTaskKeys(own.value, places),
      ...checkPrices(own.value, places),
      ...findCutTexts(own.value, places),
    ],
  };
}

function describeNoMap(value: Json, places: FilePlaces): Diagnostic {
  const message = `the manifest is ${describeValue(value)}`;
  const hint = 'it must be a map, with `tasks:` and what else belongs to a campaign';
  return { code: 'MB1103', severity: 'error', message, hint, place: places.value([]) };
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
      message: `\`${key}\` stands in an included manifest, and it is about the whole campaign`,
      hint: `move it into ${from.main}`,
      place: from.places.key([key]),
    });
  }
  return { value, diagnostics };
}
