import { countDiagnostics, type Diagnostic } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { groupBy, type JsonMap, type Path, type Scalar } from '../ground/values.ts';
import type { Places } from './yaml/places.ts';

/**
 * A manifest after the check of its shape, with defaults merged into each task. Wrong values are omitted or
 * `unknownValue`.
 */
export interface Manifest {
  file: string;
  name: string;
  description?: string;
  /** In credits, for all runs together. */
  budget?: number;
  concurrency?: number;
  index?: string;
  vars: JsonMap;
  tables: Table[];
  defaults: { [kind: string]: JsonMap };
  selectors: { [name: string]: string };
  /** Credits by price class, or by a prefix of one (`image/alpha-2`). */
  prices: { [priceClass: string]: number };
  /** Rights to the outputs, under names of the author. Never part of a request. */
  rights: Rights;
  /** In the order of the manifest. Tasks of included manifests come first. */
  tasks: Task[];
  places: Places;
  /** False if the manifest has errors. It then only serves to find more of them. */
  sound: boolean;
  warnings: Diagnostic[];
}

/** A data file that templates use by a name. */
export interface Table {
  name: string;
  /** Path relative to the main manifest's folder. Omitted if it is wrong. */
  file?: string;
  separator?: string;
  /** Defaults to the first row that is not empty. */
  header?: number;
  sheet?: string;
  /** Path of a JSON Schema for every row, relative to the main manifest's folder. */
  schema?: string;
  /**
   * Values by column that select the row of a step, as templates. A column without a value is compared with the step's
   * matrix or row value of the same name. If empty, the table cannot be joined.
   */
  on: { column: string; value?: Scalar }[];
}

export interface Task {
  id: string;
  kind: string | undefined;
  /** The request as written, with defaults and the place of each field. */
  with: { field: string; value: Json; path: Path }[];
  rows: RowSource;
  schema: string | undefined;
  /** Folder of the file with the task, relative to the main manifest's folder: `''`, or for example `shared/`. */
  folder: string;
  /** A boolean, or a text that renders to true or false. */
  when: string | boolean | undefined;
  /** Condition of the shared rows, in addition to `when`. */
  rowsWhen: string | boolean | undefined;
  timeoutMs: number | undefined;
  /**
   * A failed job is bought again, up to `attempts` purchases in total, and up to `credits` for those after the first.
   */
  retry: { attempts: number; credits?: number } | undefined;
  expect: Expectation | undefined;
  /** Maximum code points of rendered strings, by request field. */
  limits: Readonly<Record<string, number>> | undefined;
  key: string | undefined;
  /** True if the key of the task is wrong. `key` is then omitted. */
  keyBroken: true | undefined;
  matrix: Matrix | undefined;
  takes: number | undefined;
  gate: GateRule | undefined;
  canary: CanaryRule | undefined;
  pin: true | undefined;
  needs: string[];
  /** By task: the values of axes, `key` or `take` that select its steps. */
  from: { task: string; picks: { name: string; value: Scalar | Scalar[] }[] }[];
  save: string | undefined;
  tags: string[];
  description: string | undefined;
  /** Defaults to the rights of the campaign. */
  rights: Rights | undefined;
}

export type Rights = { [name: string]: Scalar };

/** The source of a task's rows. `unknown`: it is wrong, which is reported. */
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
 * `approve`: each output is reviewed. `choose`: a number of outputs is picked among the takes, along an axis, or among
 * all steps. `title`: a template for the title of each group.
 */
export type GateRule = { title?: string; note?: string; reasons?: readonly string[] } & (
  | { is: 'approve' }
  | { is: 'choose'; choose: number; among: { by: 'takes' } | { by: 'all' } | { by: 'axis'; axis: string } }
);

/** `asks`: the other steps wait for a pick of the canaries. Otherwise they wait until the canaries fit `expect`. */
export interface CanaryRule {
  first: number;
  asks: boolean;
}

/** Requirements for a file in pixels, seconds, bytes, LUFS and dBFS. `min` and `max` are inclusive. */
export interface Expectation {
  width?: Range;
  height?: Range;
  /** Width to height, for example `16:9`, with half a percent of tolerance. May be a template in a task. */
  ratio?: string;
  durationSeconds?: Range;
  bytes?: Range;
  /** Media type, for example `image/png`, or its first half. */
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
const maxAlike = 5;

/**
 * Selects the diagnostics to report: each once, sorted by place, at most 100. Errors precede warnings if there are too
 * many. Of equal mistakes at one place, five are reported. The others are counted.
 */
export function limitDiagnostics(found: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  const unique = found.filter((diagnostic) => {
    const id = `${spotOf(diagnostic)} ${diagnostic.message}`;
    return !seen.has(id) && seen.add(id);
  });
  const gathered = [...groupBy(unique, spotOf).values()].flatMap((alike) => {
    // A column of texts makes every condition wrong in the same way.
    const shown = alike.slice(0, alike[0]?.code === 'MB1409' ? 1 : maxAlike);
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

/** Sorts by file name and position. Mistakes without a place come first. */
function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.place === undefined || b.place === undefined) return a.place === b.place ? 0 : a.place === undefined ? -1 : 1;
  if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
  return a.place.start.offset - b.place.start.offset;
}
