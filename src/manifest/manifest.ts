import { countDiagnostics, type Diagnostic } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { groupBy, type JsonMap, type Path, type Scalar } from '../ground/values.ts';
import type { Places } from './yaml/places.ts';

/**
 * A manifest whose shape was checked. Each task includes the defaults of its kind. A wrong value is omitted or replaced
 * by `unknownValue`.
 */
export interface Manifest {
  file: string;
  name: string;
  description?: string;
  /** Maximum credits for all runs of the campaign together. */
  budget?: number;
  concurrency?: number;
  index?: string;
  vars: JsonMap;
  tables: Table[];
  defaults: { [kind: string]: JsonMap };
  selectors: { [name: string]: string };
  /** Credits by price class, or by the beginning of a price class, such as `image/alpha-2`. */
  prices: { [priceClass: string]: number };
  /** Usage rights of the outputs, under names that the author chooses. Never part of a request. */
  rights: Rights;
  /** Tasks in the order of the manifest. Tasks of included manifests come first. */
  tasks: Task[];
  places: Places;
  /** False if the manifest has errors. It is then used only to find more errors. */
  sound: boolean;
  warnings: Diagnostic[];
}

export interface Table {
  name: string;
  /** Path relative to the main manifest's folder. Omitted if the manifest's value is wrong. */
  file?: string;
  separator?: string;
  /** Number of the line with the column names. Defaults to the first line that is not empty. */
  header?: number;
  sheet?: string;
  /** Path of a JSON Schema for every row, relative to the main manifest's folder. */
  schema?: string;
  /**
   * Columns by which the row for a step is found. `value`: template for the value that the column must have. Defaults
   * to the step's matrix or row value with the name of the column. An empty list means that the table cannot be joined.
   */
  on: { column: string; value?: Scalar }[];
}

export interface Task {
  id: string;
  kind: string | undefined;
  /** The request as written, including defaults. `path`: path of the field within the manifest. */
  with: { field: string; value: Json; path: Path }[];
  rows: RowSource;
  schema: string | undefined;
  /** Folder of the task's file, relative to the main manifest's folder: `''`, or for example `shared/`. */
  folder: string;
  /** A boolean, or a template that renders to true or false. */
  when: string | boolean | undefined;
  /** The `when` of the shared rows. A step must meet both `rowsWhen` and `when`. */
  rowsWhen: string | boolean | undefined;
  timeoutMs: number | undefined;
  /**
   * Retry rule for failed jobs. `attempts`: maximum number of jobs, including the first. `credits`: maximum credits of
   * all later jobs.
   */
  retry: { attempts: number; credits?: number } | undefined;
  expect: Expectation | undefined;
  /** Maximum number of code points of a rendered string, by request field. */
  limits: Readonly<Record<string, number>> | undefined;
  key: string | undefined;
  /** Set if the manifest's `key` is wrong, and therefore omitted. */
  keyBroken: true | undefined;
  matrix: Matrix | undefined;
  takes: number | undefined;
  gate: GateRule | undefined;
  canary: CanaryRule | undefined;
  pin: true | undefined;
  needs: string[];
  /** Selections of steps of other tasks. `picks`: values of axes, `key` or `take` of the selected steps. */
  from: { task: string; picks: { name: string; value: Scalar | Scalar[] }[] }[];
  save: string | undefined;
  tags: string[];
  description: string | undefined;
  /** Usage rights of the outputs. Defaults to the rights of the campaign. */
  rights: Rights | undefined;
}

export type Rights = { [name: string]: Scalar };

/** Source of a task's rows. `unknown`: the manifest's value is wrong and was reported. */
export type RowSource =
  | { from: 'nowhere' }
  | { from: 'file'; path: string; separator?: string; header?: number; sheet?: string }
  | { from: 'list'; rows: Json[] }
  | { from: 'var'; text: string }
  | { from: 'table'; text: string; table: string }
  /** Each matching file is a row: `{ path, name, stem, extension, folder }`. */
  | { from: 'files'; pattern: string }
  /** Each part of another task's output is a row, up to `most`. */
  | { from: 'parts'; text: string; task: string; parts: string; most: number }
  | { from: 'unknown' };

export interface Matrix {
  axes: { name: string; values: (Scalar | JsonMap)[] | { text: string } }[];
  include: { [axis: string]: Scalar }[];
  exclude: { [axis: string]: Scalar }[];
  broken: boolean;
}

/**
 * `approve`: users review each output. `choose`: users pick this number of outputs among the takes, along an axis, or
 * among all steps. `title`: template for the title of each group.
 */
export type GateRule = { title?: string; note?: string; reasons?: readonly string[] } & (
  | { is: 'approve' }
  | { is: 'choose'; choose: number; among: { by: 'takes' } | { by: 'all' } | { by: 'axis'; axis: string } }
);

/**
 * `asks`: the other steps wait until users pick canaries. If false, the other steps wait until canaries fit `expect`.
 */
export interface CanaryRule {
  first: number;
  asks: boolean;
}

/** Requirements for an output file, in pixels, seconds, bytes, LUFS and dBFS. `min` and `max` are inclusive. */
export interface Expectation {
  width?: Range;
  height?: Range;
  /** Width to height, for example `16:9`, or a template of a ratio. The tolerance is half a percent. */
  ratio?: string;
  durationSeconds?: Range;
  bytes?: Range;
  /** Media type such as `image/png`, or only the first half, such as `image`. */
  type?: string;
  lufs?: Range;
  peakDb?: Range;
  silentSeconds?: Range;
  /** `false`: a picture must have more than one color. */
  blank?: false;
}

export interface Range {
  min?: number;
  max?: number;
}

export function taskPath(task: string, ...rest: (string | number)[]): Path {
  return ['tasks', task, ...rest];
}

export function tablePath(table: string, ...rest: (string | number)[]): Path {
  return ['tables', table, ...rest];
}

const maxDiagnostics = 100;
const maxSameCode = 5;

/**
 * Selects the diagnostics to report: each once, sorted by place, at most 100. If there are too many diagnostics,
 * warnings are dropped first. At most five similar mistakes are reported for one place; the rest are counted.
 */
export function limitDiagnostics(found: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  const unique = found.filter((diagnostic) => {
    const id = `${spotOf(diagnostic)} ${diagnostic.message}`;
    return !seen.has(id) && seen.add(id);
  });
  const gathered = [...groupBy(unique, spotOf).values()].flatMap((alike) => {
    // If a column contains texts instead of numbers, every condition on the column causes the same mistake.
    const shown = alike.slice(0, alike[0]?.code === 'MB1409' ? 1 : maxSameCode);
    const more = alike.length - shown.length;
    const last = more === 0 ? undefined : shown.pop();
    return last === undefined
      ? shown
      : [...shown, { ...last, message: `${last.message} (and ${more} more like this)` }];
  });
  const errors = gathered.filter((diagnostic) => diagnostic.severity === 'error');
  const warnings = gathered.filter((diagnostic) => diagnostic.severity === 'warning');
  const shown = [...errors, ...warnings]
    .slice(0, maxDiagnostics)
    .map(({ omitted: _omitted, ...one }): Diagnostic => one)
    .sort(byPlace);
  const [all, counted] = [countDiagnostics(unique), countDiagnostics(shown)];
  const omitted = { errors: all.errors - counted.errors, warnings: all.warnings - counted.warnings };
  const last = shown.at(-1);
  if (last !== undefined && omitted.errors + omitted.warnings > 0) last.omitted = omitted;
  return shown;
}

function spotOf({ code, place }: Diagnostic): string {
  return place === undefined ? code : `${code} ${place.file}:${place.start.offset}:${place.end.offset}`;
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.place === undefined || b.place === undefined) return a.place === b.place ? 0 : a.place === undefined ? -1 : 1;
  if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
  return a.place.start.offset - b.place.start.offset;
}
