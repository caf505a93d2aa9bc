import type { Diagnostic } from '../../ground/diagnostic.ts';
import { mustGet, type Path, shorten } from '../../ground/values.ts';
import { besideManifest, pathFrom } from '../../manifest/file-path.ts';
import { explainFileProblem } from '../../manifest/file-problems.ts';
import type { Table } from '../../manifest/manifest.ts';
import { nameSeparator } from '../../manifest/rows/read-csv.ts';
import { extensionOf, readRows } from '../../manifest/rows/read-rows.ts';
import { readSheet } from '../../manifest/rows/read-sheet.ts';
import type { Rows } from '../../manifest/rows/rows.ts';
import type { Expansion } from '../expansion.ts';
import { nameTasks } from './draft.ts';

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
    expansion.reportError({ ...explainFileProblem(name, file), place, ...usersOf(name, expansion) });
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
  for (const { error, ...cell } of rows?.cellErrors ?? []) {
    expansion.cellErrors.push({ ...cell, error: { ...error, ...usersOf(name, expansion) } });
  }
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
