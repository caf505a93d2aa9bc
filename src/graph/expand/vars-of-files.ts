import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, isScalar, type JsonMap, shorten, unknownValue } from '../../ground/values.ts';
import type { PlacedVar } from '../../manifest/read-var-file.ts';
import { listNames, nearestName } from '../../manifest/suggest.ts';
import type { Expansion } from '../expansion.ts';

/** Sets declared vars to the values that files have for them; of two files the later one counts. */
export function setVarsOfFiles(vars: JsonMap, expansion: Expansion): void {
  const { vars: declared } = expansion.manifest;
  for (const given of expansion.facts.varFiles ?? []) {
    const { name, value, place } = given;
    if (!Object.hasOwn(declared, name)) {
      const message = `the var \`${shorten(name)}\` is not declared by the manifest`;
      expansion.reportError({ code: 'MB1101', message, hint: hintForUndeclared(name, Object.keys(declared)), place });
      continue;
    }
    // One of the two is wrong and was reported.
    if (declared[name] === unknownValue) continue;
    vars[name] = isOfType(value, declared[name] ?? null) ? value : unknownValue;
    if (vars[name] === unknownValue && value !== unknownValue) reportType(given, declared[name] ?? null, expansion);
  }
}

/** A var that is declared as `null` takes anything. */
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

/** For a var that is set from outside and that no manifest declares. */
export function hintForUndeclared(name: string, declared: readonly string[]): string {
  if (declared.length === 0) return 'declare it under `vars:`; no vars are declared yet';
  const nearest = nearestName(name, declared);
  const guess = nearest === undefined ? 'declare' : `did you mean \`${nearest}\`? Otherwise declare`;
  return `${guess} it under \`vars:\`, or use a declared var: ${listNames(declared)}`;
}
