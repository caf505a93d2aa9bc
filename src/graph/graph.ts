import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { Expectation, Rights } from '../manifest/manifest.ts';

/**
 * A request body with open references: JSON in which any value may be a reference, an object that is replaced by an
 * output of another step when that step's job has finished. No manifest key starts with `$`.
 *
 * - `$ref`: address of the step, or name of a gate.
 * - `field`: output field of its kind, such as `url`; `clips.2.url` is the link of the third part (counted from 0).
 * - `pick`: number of a picked step of the gate, from 1. When users have picked, the reference is replaced by one to the
 *   step; while the gate is open the request cannot be sent.
 *
 * `{ $text: […] }` is a string whose parts, texts and references, are joined when all of them are known. A list of
 * outputs is an array of references.
 */
export type OpenRequest = { [field: string]: Json };

/** One concrete unit of paid work: one row, one matrix cell, one take. */
export interface Step {
  /** `task`, `task@key`, `task@key/2`: stable and unique in the campaign. */
  address: string;
  task: string;
  kind: string;
  /** The row key and the matrix values of this step, which joins by equal keys compare. */
  key?: string;
  matrix: { [axis: string]: string };
  /** 1, 2, … when the task asks for several takes of the same request; omitted otherwise. */
  take?: number;
  /** The request with references by address, which `runStep` fills in and sends. */
  request: OpenRequest;
  /** The request that is paid for, with each `$ref` replaced by that step's fingerprint. The lock keeps it. */
  paidRequest: OpenRequest;
  /** `1:` (the version) and the SHA-256 (hex) of the canonical JSON of {kind, request: paidRequest, take from 2 on}. */
  fingerprint: string;
  /**
   * Addresses of the steps that must be done first: from references and `needs`. For a pick among several (possibly
   * thousands) it has the name of their gate instead, which is replaced by the picked step. Sorted, unique.
   */
  needs: string[];
  /**
   * Output path relative to the manifest's folder, with `/` separators, without extension. Empty if there is no file.
   */
  save: string;
  /** `kind: upload` with `file`: the file, relative to the manifest's folder, with its digest and size as read. */
  file?: FileFact & { path: string };
  /** The part of another step's output that this step uses. If there are fewer parts, this step is not needed. */
  part?: { of: string; fingerprint: string; index: number };
  rules?: StepRules;
  /** The request could not be checked, because it is not documented and the service's own description is not known. */
  unchecked?: true;
  tags: string[];
  place: Place;
  /** The name of its row in messages, for example `row 14 of products.csv`. */
  row?: string;
  /** Title for users who look at its output: `title` of a gate on its row, else a short text of its row. */
  title?: string;
}

/** Rules of a task that are not part of the request. */
export interface StepRules {
  /** Maximum time in ms for which a job is polled. */
  timeoutMs?: number;
  /**
   * A failed job is bought again, up to `attempts` purchases in total, and up to `credits` for those after the first.
   */
  retry?: { attempts: number; credits?: number };
  expect?: Expectation;
  pin?: true;
}

/** A gate, at which users decide which of these steps may be used before any step that depends on them is made. */
export interface Gate {
  /**
   * The address of its steps without the attribute in which they differ, for example `hero@lamp` for takes. With
   * `approve` the address of the step.
   */
  name: string;
  task: string;
  /**
   * `approve`: users approve a single step, and references name that step. `canary`: users approve the canaries of
   * similar steps, and these steps wait, too. A `Graph` has no canary gates, because the lock determines which steps
   * are canaries.
   */
  is: 'approve' | 'choose' | 'canary';
  choose: number;
  members: string[];
  note?: string;
  reasons?: readonly string[];
}

/**
 * Similar steps of a task. The first of them are bought alone, before the others. A canary depends on the requests: as
 * soon as `first` steps are bought with the manifest's present requests and fit, or are picked, the others no longer
 * wait. So new rows of an unchanged template need no new canary, but a changed template does, because it changes all
 * requests.
 */
export interface Canary {
  /** `canary of hero`; with price class and field values if the task has several groups of similar steps. */
  name: string;
  task: string;
  first: number;
  /**
   * True if the others wait until users have picked the canaries, false if only until these are done and fit `expect`.
   */
  asks: boolean;
  members: string[];
}

export interface GraphTask {
  id: string;
  kind: string;
  description?: string;
  steps: number;
  tags?: string[];
  rights?: Rights;
}

/** A fully expanded campaign. `steps` is in a stable topological order: by needs, then as written. */
export interface Graph {
  name: string;
  steps: Step[];
  tasks: GraphTask[];
  budget?: number | undefined;
  concurrency?: number | undefined;
  /** Path of the list of files that each run writes, relative to the output folder. Omitted when no list is written. */
  index?: string;
  selectors: { [name: string]: string };
  /** Credits by price class, or by a prefix of one, as written in the manifest. */
  prices: { [priceClass: string]: number };
  warnings: Diagnostic[];
  gates?: readonly Gate[];
  canaries?: readonly Canary[];
  notices?: readonly string[];
}

export interface FileFact {
  sha256: string;
  bytes: number;
}

/** Makes a finder for the steps that a name in `needs` may refer to: those of its gate, or the step of this address. */
export function needFinder(gates: readonly Gate[] = []): (need: string) => readonly string[] {
  const byName = new Map(gates.map((gate) => [gate.name, gate.members]));
  return (need) => byName.get(need) ?? [need];
}

/** The part of a graph that a run needs. Without the rest, a run takes about half the memory. */
export interface GraphOutline {
  tasks: { id: string; kind: string; steps: number }[];
  addresses: ReadonlySet<string>;
}

export function outlineOf({ tasks, steps }: Graph): GraphOutline {
  return {
    tasks: tasks.map(({ id, kind, steps: count }) => ({ id, kind, steps: count })),
    addresses: new Set(steps.map(({ address }) => address)),
  };
}
