import type { Diagnostic, DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap, mapOf, ownValue, shorten } from '../../ground/values.ts';
import { classifyForeach } from '../rows/read-row-source.ts';
import { extensionOf } from '../rows/read-rows.ts';
import { helpers } from '../template/helpers.ts';
import { isTemplate } from '../template/template.ts';
import type { Places } from '../yaml/places.ts';

/** Names that templates use for something else, so that no table can have them. */
const takenNames: readonly string[] = [
  'vars',
  'row',
  'matrix',
  'key',
  'take',
  'tasks',
  'tables',
  'this',
  'env',
  'process',
];

export function checkTables(value: Json, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  for (const [name, written] of Object.entries(mapOf(ownValue(value, 'tables')))) {
    const tell = (
      at: string[],
      of: 'key' | 'value',
      code: DiagnosticCode,
      words: { message: string; hint: string },
    ) => {
      diagnostics.push({ code, severity: 'error', ...words, place: places[of](['tables', name, ...at]) });
    };
    if (takenNames.includes(name) || Object.hasOwn(helpers, name)) {
      const message = `a table cannot be named \`${name}\`: the name is reserved in templates`;
      tell([], 'key', 'MB1103', { message, hint: 'choose another name, such as copy' });
    }
    const at = isMap(written) ? ['file'] : [];
    const file = isMap(written) ? ownValue(written, 'file') : written;
    if (typeof file !== 'string') continue;
    if (isTemplate(file)) {
      const message = `the file of table \`${name}\` cannot be a template`;
      tell(at, 'value', 'MB1202', { message, hint: 'write the path of one file, as in file: copy.csv' });
      continue;
    }
    const found = findFileMistake(isMap(written) ? written : { file }, (part) => {
      return part === undefined ? `table \`${name}\`` : `\`${part}\` of table \`${name}\``;
    });
    if (found?.part === 'file') tell(at, 'value', 'MB1103', found);
    else if (found !== undefined) tell([found.part], 'key', 'MB1103', found);
  }
  return diagnostics;
}

const optionsOf = { separator: ['csv'], header: ['csv', 'xlsx'], sheet: ['xlsx'] } as const;

/** Finds the mistake of a data file and its options. `nameOf` names an option, or the source itself. */
export function findFileMistake(
  given: JsonMap,
  nameOf: (part?: string) => string,
): { part: 'file' | keyof typeof optionsOf; message: string; hint: string } | undefined {
  const file = ownValue(given, 'file');
  if (typeof file !== 'string' || isTemplate(file)) return undefined;
  if (classifyForeach(file) !== 'file') {
    const message = `${nameOf()} is not the path of one file`;
    const hint = 'write the path of one file, as in file: copy.csv; download a file that has a web address';
    return { part: 'file', message, hint };
  }
  const extension: string = extensionOf(file) ?? '';
  for (const part of ['separator', 'header', 'sheet'] as const) {
    const fitting: readonly string[] = optionsOf[part];
    if (ownValue(given, part) === undefined || fitting.includes(extension)) continue;
    const message = `${nameOf(part)} has no effect on ${shorten(file)}`;
    return { part, message, hint: `remove it; it is for .${fitting.join(' and .')} files` };
  }
  return undefined;
}
