import type { Diagnostic } from '../ground/diagnostic.ts';
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
  vars: JsonMap;
  /** Request fields by kind, for known kinds only. */
  defaults: { [kind: string]: JsonMap };
  /** Named selections, by name, as in `selectors: { launch: "tag:launch kind:video" }`. */
  selectors: { [name: string]: string };
  /** Prices given by the user: credits by price class, or by a prefix of one (`image/alpha-2`). */
  prices: { [priceClass: string]: number };
  /** Tasks in the order in which they are written; those of included manifests come first. */
  tasks: Task[];
  places: Places;
  /** False when the manifest has errors: then it only serves to find more of them. */
  sound: boolean;
  warnings: Diagnostic[];
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
  /** How long a job is watched at most, in ms; it stays attached after that. */
  timeoutMs?: number | undefined;
  /** Failed jobs are bought again: at most `attempts` purchases in all, and at most `credits` beyond the first. */
  retry?: { attempts: number; credits?: number } | undefined;
  /** Requirements for the downloaded file. */
  expect?: Expectation | undefined;
  key?: string | undefined;
  /** True when there is a key that is wrong and was reported; `key` is absent then. */
  keyBroken?: true | undefined;
  matrix?: Matrix | undefined;
  takes?: number | undefined;
  /** A question to people, before anything is made from its outputs. */
  gate?: GateRule | undefined;
  /** Steps that go alone, before the others of the same price are bought. */
  canary?: CanaryRule | undefined;
  /** Keeps what was bought for its steps, whatever changes. */
  pin?: true | undefined;
  needs: string[];
  /** By task: the values that select its step, by axis, `key` or `take`. */
  from: { task: string; picks: { name: string; value: Scalar }[] }[];
  save?: string | undefined;
  tags: string[];
  description?: string | undefined;
}

/** The source of a task's rows. `unknown`: it is wrong and was reported. */
export type RowSource =
  | { from: 'nowhere' }
  | { from: 'file'; path: string; separator?: string }
  | { from: 'list'; rows: Json[] }
  | { from: 'var'; text: string }
  /** Each file that matches is a row: `{ path, name, stem, extension, folder }`. */
  | { from: 'files'; pattern: string }
  /** Each part of another task's output is a row, at most `most`: `foreach: "{{tasks.talk.clips}}"` with `maxItems`. */
  | { from: 'parts'; text: string; task: string; parts: string; most: number }
  | { from: 'unknown' };

export interface Matrix {
  axes: { name: string; values: Scalar[] | { text: string } }[];
  include: { [axis: string]: Scalar }[];
  exclude: { [axis: string]: Scalar }[];
  /** True when part of it is wrong and was reported. */
  broken: boolean;
}

/**
 * `approve`: each output is looked at. `choose`: so many are picked among its takes, along an axis, or of all its steps.
 * `note`: what to look for.
 */
export type GateRule =
  | { is: 'approve'; note?: string }
  | {
      is: 'choose';
      choose: number;
      among: { by: 'takes' } | { by: 'all' } | { by: 'axis'; axis: string };
      note?: string;
    };

/** `then: ask` or `check`: the others follow when people have picked these, or when these are done and fit `expect`. */
export interface CanaryRule {
  /** Number of steps of each price class that go first. */
  first: number;
  asks: boolean;
}

/** Requirements for a downloaded file. Pixels, seconds, bytes; `min` and `max` are inclusive. */
export interface Expectation {
  width?: Range;
  height?: Range;
  /** Width to height, as in `16:9`, with half a percent of tolerance. */
  ratio?: string;
  durationSeconds?: Range;
  bytes?: Range;
  /** Media type, as in `image/png`, or its first half, as in `image`. */
  type?: string;
}

export interface Range {
  min?: number;
  max?: number;
}

/** Path of a task's own key, or of a part of it. */
export function taskPath(task: string, ...rest: (string | number)[]): Path {
  return ['tasks', task, ...rest];
}
