import type { Diagnostic, DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, mapOf, ownValue, shorten } from '../../ground/values.ts';
import { classifyForeach } from '../rows/read-row-source.ts';
import { extensionOf } from '../rows/read-rows.ts';
import { helpers } from '../template/helpers.ts';
import { isTemplate } from '../template/template.ts';
import type { Places } from '../yaml/places.ts';

/** Names that have a meaning in templates, so that no table can have them. */
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

/** Checks names and files of tables in ways that the schema cannot express. */
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
    } else if (classifyForeach(file) === 'web address') {
      const message = `table \`${name}\` is a web address: tables are read from files only`;
      const hint = 'download the file into the folder of the campaign and name it by a relative path';
      tell(at, 'value', 'MB1103', { message, hint });
    } else if (classifyForeach(file) !== 'file') {
      const message = `table \`${name}\` is not the path of one file`;
      tell(at, 'value', 'MB1103', { message, hint: 'write the path of one file, as in file: copy.csv' });
    } else if (ownValue(written, 'separator') !== undefined && extensionOf(file) !== 'csv') {
      const message = `\`separator\` of table \`${name}\` has no effect: ${shorten(file)} is not a csv file`;
      tell(['separator'], 'key', 'MB1103', { message, hint: 'remove it; it is for .csv and .tsv files' });
    } else if (ownValue(written, 'header') !== undefined && !['csv', 'xlsx'].includes(extensionOf(file) ?? '')) {
      const message = `\`header\` of table \`${name}\` has no effect: ${shorten(file)} is not a .csv, .tsv or .xlsx file`;
      tell(['header'], 'key', 'MB1103', { message, hint: 'remove it; it is for .csv and .xlsx files' });
    } else if (ownValue(written, 'sheet') !== undefined && extensionOf(file) !== 'xlsx') {
      const message = `\`sheet\` of table \`${name}\` has no effect: ${shorten(file)} is not a workbook`;
      tell(['sheet'], 'key', 'MB1103', { message, hint: 'remove it; it is for .xlsx files' });
    }
  }
  return diagnostics;
}
