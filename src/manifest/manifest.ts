import { countDiagnostics, type Diagnostic, type Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { JsonMap, Path, Scalar } from '../ground/values.ts';
import type { Places } from './yaml/places.ts';

/**
 * A manifest as written, checked for shape: defaults are merged into each task, and whatever was wrong is absent or
 * `unknownValue`, so that the next stage can look for further mistakes.
 */
export interface Manifest {
  /** The path as the user gave it. */
  file: string;
  name: string;
  description?: string;
  /** Hard cap over all runs, in credits. */
  budget?: number;
  concurrency?: number;
  /** Path of the list of files that each run writes, relative to the folder of outputs. */
  index?: string;
  vars: JsonMap;
  /** Named data, in the order in which they are written. */
  tables: Table[];
  /** Request fields by kind, for known kinds only. */
  defaults: { [kind: string]: JsonMap };
  /** Named selections, by name, as in `selectors: { launch: "tag:launch kind:video" }`. */
  selectors: { [name: string]: string };
  /** Prices given by the user: credits by price class, or by a prefix of one (`image/alpha-2`). */
  prices: { [priceClass: string]: number };
  /** Rights to the outputs, in names of the author's choice. Never part of a request. */
  rights: Rights;
  /** Tasks in the order in which they are written; those of included manifests come first. */
  tasks: Task[];
  places: Places;
  /** False when the manifest has errors: then it only serves to find more of them. */
  sound: boolean;
  warnings: Diagnostic[];
}

/** A data file that templates know by a name. Its path in the manifest is `['tables', name]`. */
export interface Table {
  name: string;
  /** From the main manifest's folder. Omitted when it is invalid (reported already). */
  file?: string;
  separator?: string;
  /** Number of the row that names the columns. Defaults to the first that is not empty. */
  header?: number;
  /** Sheet of a workbook. Optional when it has only one. */
  sheet?: string;
  /** Path, from the main manifest's folder, of a JSON Schema that every row must match. */
  schema?: string;
  /**
   * How the row of a step is found: values by column, as templates. Without a value it is that of the same name in the matrix or
   * row of the step. Empty: no step has a row in it.
   */
  on: { column: string; value?: Scalar }[];
}

export interface Task {
  id: string;
  /** Absent when the kind is unknown. */
  kind?: string | undefined;
  /** The request as written, defaults included, with the place of each field. */
  with: { field: string; value: Json; path: Path }[];
  rows: RowSource;
  /** Path of a JSON Schema that every row of the data file must match. */
  schema?: string | undefined;
  /** Folder that paths of data files and uploads are relative to, seen from the manifest's own: `''`, or `shared/`. */
  folder: string;
  /** Condition without which steps are not made: a boolean, or a text that renders to true or false. */
  when?: string | boolean | undefined;
  /** The condition of the rows that it shares with other tasks, beside its own. */
  rowsWhen?: string | boolean | undefined;
  /** How long a job is watched at most, in ms; it stays attached after that. */
  timeoutMs?: number | undefined;
  /** Failed jobs are bought again: at most `attempts` purchases in all, and at most `credits` beyond the first. */
  retry?: { attempts: number; credits?: number } | undefined;
  /** Requirements for the downloaded file. */
  expect?: Expectation | undefined;
  /** Most characters of a rendered text, by field of the request. */
  limits?: Readonly<Record<string, number>> | undefined;
  key?: string | undefined;
  /** True when there is a key that is wrong and was reported; `key` is absent then. */
  keyBroken?: true | undefined;
  matrix?: Matrix | undefined;
  takes?: number | undefined;
  /** A question to people, before anything is made from its outputs. */
  gate?: GateRule | undefined;
  /** Steps that go alone, before others that are alike are bought. */
  canary?: CanaryRule | undefined;
  /** Keeps what was bought for its steps, whatever changes. */
  pin?: true | undefined;
  needs: string[];
  /** By task: the values that select its step, by axis, `key` or `take`. */
  from: { task: string; picks: { name: string; value: Scalar | Scalar[] }[] }[];
  save?: string | undefined;
  tags: string[];
  description?: string | undefined;
  /** Those of this task alone. Defaults to those of the campaign. */
  rights?: Rights | undefined;
}

export type Rights = { [name: string]: Scalar };

/** The source of a task's rows. `unknown`: it is wrong and was reported. */
export type RowSource =
  | { from: 'nowhere' }
  | { from: 'file'; path: string; separator?: string; header?: number; sheet?: string }
  | { from: 'list'; rows: Json[] }
  | { from: 'var'; text: string }
  | { from: 'table'; text: string; table: string }
  /** Each file that matches is a row: `{ path, name, stem, extension, folder }`. */
  | { from: 'files'; pattern: string }
  /** Each part of another task's output is a row, at most `most`: `foreach: "{{tasks.talk.clips}}"` with `maxItems`. */
  | { from: 'parts'; text: string; task: string; parts: string; most: number }
  | { from: 'unknown' };

export interface Matrix {
  /** A value that is a map has an `id`. */
  axes: { name: string; values: (Scalar | JsonMap)[] | { text: string } }[];
  include: { [axis: string]: Scalar }[];
  exclude: { [axis: string]: Scalar }[];
  /** True when part of it is wrong and was reported. */
  broken: boolean;
}

/**
 * `approve`: each output is looked at. `choose`: so many are picked among its takes, along an axis, or of all its steps.
 * `note`: what to look for. `reasons`: why an output may be turned down.
 */
/** `title`: a template that names each group for people. */
export type GateRule = { title?: string; note?: string; reasons?: readonly string[] } & (
  | { is: 'approve' }
  | { is: 'choose'; choose: number; among: { by: 'takes' } | { by: 'all' } | { by: 'axis'; axis: string } }
);

/** `then: ask` or `check`: the others follow when people have picked these, or when these are done and fit `expect`. */
export interface CanaryRule {
  /** Number of steps that go first of those that are alike. */
  first: number;
  asks: boolean;
}

/** Requirements for a downloaded file. Pixels, seconds, bytes; `min` and `max` are inclusive. */
export interface Expectation {
  width?: Range;
  height?: Range;
  /** Width to height, as in `16:9`, with half a percent of tolerance. Of a task a template, too. */
  ratio?: string;
  durationSeconds?: Range;
  bytes?: Range;
  /** Media type, as in `image/png`, or its first half, as in `image`. */
  type?: string;
  /** Integrated loudness of a sound, in LUFS. */
  lufs?: Range;
  /** Largest sample of a sound, in dBFS. */
  peakDb?: Range;
  /** Longest silence in a sound. */
  silentSeconds?: Range;
  /** A picture is not of a single color. */
  blank?: false;
}

export interface Range {
  min?: number;
  max?: number;
}

/** Path of a task's own key, or of a part of it. */
export function taskPath(task: string, ...rest: (string | number)[]): Path {
  return ['tasks', task, ...rest];
}

export function tablePath(table: string, ...rest: (string | number)[]): Path {
  return ['tables', table, ...rest];
}

const maxDiagnostics = 100;
/** Mistakes of one kind at one place that are reported individually; the rest are counted. */
const maxAlike = 5;

/**
 * Selects the diagnostics to report: each once, in the order of the files, at most 100; the others are counted. Errors come before warnings
 * when there are too many. When steps of one task make the same mistake at the same place, five are reported.
 */
export function limitDiagnostics(found: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  const groups = new Map<string, { shown: Diagnostic[]; more: number }>();
  for (const diagnostic of found) {
    const spot = `${diagnostic.code} ${spotOf(diagnostic.place)}`;
    const id = `${spot} ${diagnostic.message}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const group = groups.get(spot) ?? { shown: [], more: 0 };
    groups.set(spot, group);
    if (group.shown.length < maxAlike) group.shown.push(diagnostic);
    else group.more += 1;
  }
  const gathered = [...groups.values()].flatMap(({ shown, more }) =>
    shown.map((diagnostic, index) =>
      more > 0 && index === shown.length - 1
        ? { ...diagnostic, message: `${diagnostic.message} (and ${more} more like this)` }
        : diagnostic,
    ),
  );
  const errors = gathered.filter((diagnostic) => diagnostic.severity === 'error');
  const warnings = gathered.filter((diagnostic) => diagnostic.severity === 'warning');
  return withOmitted([...errors, ...warnings], found).sort(byPlace);
}

/** The first of them. What is left out is counted, together with what was left out of `found` before. */
function withOmitted(gathered: readonly Diagnostic[], found: readonly Diagnostic[]): Diagnostic[] {
  const shown = gathered.slice(0, maxDiagnostics).map(({ omitted: _omitted, ...one }): Diagnostic => one);
  const { omitted } = countDiagnostics(found);
  const cut = countDiagnostics(gathered.slice(maxDiagnostics).map(({ severity }) => ({ severity })));
  const errors = cut.errors + omitted.errors;
  const warnings = cut.warnings + omitted.warnings;
  const last = shown.at(-1);
  if (last !== undefined && errors + warnings > 0) last.omitted = { errors, warnings };
  return shown;
}

function spotOf(place: Place | undefined): string {
  return place === undefined ? '' : `${place.file}:${place.start.offset}:${place.end.offset}`;
}

/** Orders by file name and position, mistakes without a place first. */
function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.place === undefined || b.place === undefined) return a.place === b.place ? 0 : a.place === undefined ? -1 : 1;
  if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
  return a.place.start.offset - b.place.start.offset;
}
