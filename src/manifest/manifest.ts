import type { Diagnostic } from '../diagnostic.ts';
import type { Json } from '../json.ts';
import type { Places } from './places.ts';
import type { JsonMap, Path, Scalar } from './values.ts';

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
  /** In the order in which they are written. */
  tasks: Task[];
  places: Places;
  /** False when the manifest has errors: then it is good for finding more of them, and for nothing else. */
  sound: boolean;
  warnings: Diagnostic[];
}

export interface Task {
  id: string;
  /** Absent when it is none that we know. */
  kind?: string;
  /** The request as written, defaults included, and where each field stands. */
  with: { field: string; value: Json; path: Path }[];
  rows: RowSource;
  key?: string;
  /** There is a key, but it is wrong and has been reported; `key` is absent then. */
  keyBroken?: true;
  matrix?: Matrix;
  takes?: number;
  needs: string[];
  /** By task: what picks its step, by axis, `key` or `take`. */
  from: { task: string; picks: { name: string; value: Scalar }[] }[];
  save?: string;
  tags: string[];
  description?: string;
}

/** Where the rows of a task come from. `unknown`: it is wrong, and has been reported. */
export type RowSource =
  | { from: 'nowhere' }
  | { from: 'file'; path: string }
  | { from: 'list'; rows: Json[] }
  | { from: 'var'; text: string }
  | { from: 'unknown' };

export interface Matrix {
  axes: { name: string; values: Scalar[] | { text: string } }[];
  include: { [axis: string]: Scalar }[];
  exclude: { [axis: string]: Scalar }[];
  /** Part of it is wrong and has been reported. */
  broken: boolean;
}

/** Where a task's own key, or a part of it, is written. */
export function taskPath(task: string, ...rest: (string | number)[]): Path {
  return ['tasks', task, ...rest];
}
