import type { Diagnostic } from '../../ground/diagnostic.ts';
import { mustGet, type Path, shorten } from '../../ground/values.ts';
import { besideManifest, pathFrom } from '../../manifest/file-path.ts';
import type { Table } from '../../manifest/manifest.ts';
import { nameSeparator } from '../../manifest/rows/read-csv.ts';
import { extensionOf, readRows } from '../../manifest/rows/read-rows.ts';
import { readSheet } from '../../manifest/rows/read-sheet.ts';
import type { DataFile, Rows } from '../../manifest/rows/rows.ts';
import { nameTasks } from '../check/merge-mistakes.ts';
import type { Expansion } from '../expansion.ts';

type TableOptions = Pick<Table, 'separator' | 'header' | 'sheet'>;

/** Reads a data file once, even for several tasks and tables. `path`: the place that names it. */
export function readFileRows(
  name: string,
  from: TableOptions & { path: Path },
  expansion: Expansion,
): 'unknown' | Rows {
  const id = JSON.stringify([name, from.separator, from.header, from.sheet]);
  const rows = expansion.files.get(id) ?? rowsOfFile(name, from, expansion);
  expansion.files.set(id, rows);
  return rows;
}

function rowsOfFile(
  name: string,
  { path, separator, header, sheet }: TableOptions & { path: Path },
  expansion: Expansion,
): 'unknown' | Rows {
  const { manifest, facts } = expansion;
  const place = manifest.places.value(path);
  if (extensionOf(name) === undefined) {
    const message = `\`${shorten(name)}\` is not the path of a data file`;
    const hint =
      'name a .csv, .tsv, .xlsx, .json, .jsonl, .ndjson, .yaml or .yml file, or write an inline list: [en, de]';
    expansion.reportError({ code: 'MB1103', message, hint, place });
    return 'unknown';
  }
  const file = mustGet(facts.data, name);
  if ('problem' in file) {
    const { code, says, hint } = fileProblems[file.problem];
    const detail = file.detail === undefined ? '' : ` (${shorten(file.detail, 120)})`;
    expansion.reportError({ code, message: `${name} ${says}${detail}`, hint, place, ...usersOf(name, expansion) });
    return 'unknown';
  }
  if ('files' in file) throw new Error(`internal error: the data file ${name} was listed, not read`);
  const shown = besideManifest(manifest.file, name);
  const read =
    'workbook' in file
      ? readSheet(file.workbook, { file: shown, label: name, sheet, header, place })
      : readRows({ path: name, file: shown, text: file.text, separator, header, table: tableAt(path) });
  const { rows } = read;
  if (rows?.separator !== undefined && rows.isGuess === true) {
    expansion.notices.push(`the columns of ${name} are separated by ${nameSeparator(rows.separator)}`);
  }
  const users = read.diagnostics.length === 0 ? {} : usersOf(name, expansion);
  return keepRows({ ...read, diagnostics: read.diagnostics.map((one) => ({ ...one, ...users })) }, expansion);
}

/** Returns the name of the table whose file is named at this place. */
function tableAt([section, name]: Path): string | undefined {
  return section === 'tables' ? String(name) : undefined;
}

function usersOf(name: string, { manifest }: Expansion): Pick<Diagnostic, 'trail'> {
  const users = manifest.tasks.filter(
    ({ rows, folder }) => rows.from === 'file' && pathFrom(folder, rows.path) === name,
  );
  return users.length < 2 ? {} : { trail: [nameTasks(users.map(({ id }) => id))] };
}

export function keepRows({ rows, diagnostics }: ReturnType<typeof readRows>, expansion: Expansion): 'unknown' | Rows {
  for (const diagnostic of diagnostics) expansion.report(diagnostic);
  return rows ?? 'unknown';
}

export const fileProblems = {
  missing: {
    code: 'MB1301',
    says: 'does not exist',
    hint: 'data files are relative to the manifest; check the name and its case',
  },
  outside: {
    code: 'MB1303',
    says: 'is outside the folder of the manifest',
    hint: 'move the file below the folder of the manifest and name it by a relative path',
  },
  'not-a-file': { code: 'MB1301', says: 'is not a regular file', hint: 'name a file, not a folder or a device' },
  'too-large': { code: 'MB1301', says: 'is too large', hint: 'split it into several files, one per task' },
  'no-workbook': {
    code: 'MB1302',
    says: 'cannot be read as a workbook',
    hint: 'open it in a spreadsheet and save it as .xlsx, or save the sheet as “CSV UTF-8”',
  },
  unreadable: {
    code: 'MB1301',
    says: 'cannot be read',
    hint: 'check its permissions and that it is a UTF-8 text; Excel saves one as “CSV UTF-8”',
  },
} as const satisfies Record<Extract<DataFile, { problem: string }>['problem'], object>;
