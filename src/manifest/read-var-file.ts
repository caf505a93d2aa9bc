import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { describeValue, isMap } from '../ground/values.ts';
import { dataFaults, readYaml } from './yaml/read-yaml.ts';
import { readSource } from './yaml/source.ts';

export interface PlacedVar {
  name: string;
  /** `unknownValue` if it is wrong. */
  value: Json;
  place: Place;
}

const varFaults = { ...dataFaults, emptyHint: 'write one var per line, as in product: Aurora Lamp' };

/** Reads a map in YAML or JSON. Messages show `file` unchanged. */
export function readVarFile(file: string, text: string): { vars: PlacedVar[]; diagnostics: Diagnostic[] } {
  const { value, places, diagnostics } = readYaml(readSource(file, text), varFaults);
  if (value === undefined || places === undefined) return { vars: [], diagnostics };
  if (!isMap(value)) {
    const message = `${file} is ${describeValue(value)}, not a map of vars`;
    const wrong: Diagnostic = {
      code: 'MB1302',
      severity: 'error',
      message,
      hint: varFaults.emptyHint,
      place: places.value([]),
    };
    return { vars: [], diagnostics: [...diagnostics, wrong] };
  }
  const vars = Object.entries(value).map(([name, one]) => ({ name, value: one, place: places.key([name]) }));
  return { vars, diagnostics };
}
