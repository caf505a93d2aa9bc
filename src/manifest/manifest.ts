import type { Diagnostic } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { JsonMap, Path, Scalar } from '../ground/values.ts';
import type { Places } from './yaml/places.ts';

/**
 * A manifest as it was written, checked for shape: defaults are merged into each task, and what was wrong is absent or
 * `unknownValue`, so that the next stage can look for further mistakes.
 */
export interface Manifest {
  /** The path as the person gave it. */
  file: string;
  name: string;
  description?: string;
  /** Hard cap over all runs, in credits. */
  budget?: number;
  concurrency?: number;
  vars: JsonMap;
  /** Request fields by kind, for kinds that exist. */
  defaults: { [kind: string]: JsonMap };
  /** Named selections, as in `selectors: { launch: "tag:launch kind:video" }`, by name. */
  selectors: { [name: string]: string };
  /** What the person knows about prices: credits by price class, or by the beginning of one (`image/alpha-2`). */
  prices: { [priceClass: string]: number };
  /** In the order in which they are written; those of included manifests come first. */
  tasks: Task[];
  places: Places;
  /** False when the manifest has errors: then it is good for finding more of them, and for nothing else. */
  sound: boolean;
  warnings: Diagnostic[];
}

export interface Task {
  id: string;
  /** Absent when it is none that we know. */
  kind?: string | undefined;
  /** The request as written, defaults included, and where each field stands. */
  with: { field: string; value: Json; path: Path }[];
  rows: RowSource;
  /** Path of a JSON Schema that every row of the data file must match. */
  schema?: string | undefined;
  /** The folder that paths of data files and uploads are relative to, seen from the manifest's own: `''`, or `shared/`. */
  folder: string;
  /** Steps for which this is false are not made: a text that renders to true or false, or one of them. */
  when?: string | boolean | undefined;
  /** How long a job is watched at most, in ms; it stays attached after that. */
  timeoutMs?: number | undefined;
  /** Failed jobs are bought again: `attempts` purchases at most in all, for `credits` at most beside the first. */
  retry?: { attempts: number; credits?: number } | undefined;
  /** What the downloaded file must be like. */
  expect?: Expectation | undefined;
  key?: string | undefined;
  /** There is a key, but it is wrong and has been reported; `key` is absent then. */
  keyBroken?: true | undefined;
  matrix?: Matrix | undefined;
  takes?: number | undefined;
  /** What was bought for its steps is kept, whatever changes. */
  pin?: true | undefined;
  needs: string[];
  /** By task: what picks its step, by axis, `key` or `take`. */
  from: { task: string; picks: { name: string; value: Scalar }[] }[];
  save?: string | undefined;
  tags: string[];
  description?: string | undefined;
}

/** Where the rows of a task come from. `unknown`: it is wrong, and has been reported. */
export type RowSource =
  | { from: 'nowhere' }
  | { from: 'file'; path: string }
  | { from: 'list'; rows: Json[] }
  | { from: 'var'; text: string }
  /** Each file that matches is a row: `{ path, name, stem, extension, folder }`. */
  | { from: 'files'; pattern: string }
  /** Each part of another task's output is a row, at most `most` of them: `foreach: "{{tasks.talk.clips}}"` with `maxItems`. */
  | { from: 'parts'; text: string; task: string; parts: string; most: number }
  | { from: 'unknown' };

export interface Matrix {
  axes: { name: string; values: Scalar[] | { text: string } }[];
  include: { [axis: string]: Scalar }[];
  exclude: { [axis: string]: Scalar }[];
  /** Part of it is wrong and has been reported. */
  broken: boolean;
}

/** What a downloaded file must be like. Pixels, seconds, bytes; `min` and `max` include their ends. */
export interface Expectation {
  width?: Range;
  height?: Range;
  /** Width to height, as in `16:9`; half a percent is tolerated. */
  ratio?: string;
  durationSeconds?: Range;
  bytes?: Range;
  /** Media type, as in `image/png`, or the first half of one, as in `image`. */
  type?: string;
}

export interface Range {
  min?: number;
  max?: number;
}

/** Where a task's own key, or a part of it, is written. */
export function taskPath(task: string, ...rest: (string | number)[]): Path {
  return ['tasks', task, ...rest];
}
