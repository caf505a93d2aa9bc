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

/** A unit of paid work: one row, one matrix cell, one take. */
export interface Step {
  /** `task`, `task@key`, `task@key/2`: stable and unique in the campaign. */
  address: string;
  task: string;
  kind: string;
  /** The row key, which joins compare. */
  key?: string;
  matrix: { [axis: string]: string };
  /** 1, 2, … when the task asks for several takes of the same request; omitted otherwise. */
  take?: number;
  /** The request with references by address. */
  request: OpenRequest;
  /** The request with each `$ref` replaced by that step's fingerprint. The lock stores it. */
  paidRequest: OpenRequest;
  /** `1:` (the version) and the SHA-256 (hex) of the canonical JSON of {kind, request: paidRequest, take from 2 on}. */
  fingerprint: string;
  /** Addresses of the steps that must be done first, sorted. A pick among several steps is the name of their gate. */
  needs: string[];
  /**
   * Output path relative to the manifest's folder, with `/` separators, without extension. Empty if there is no file.
   */
  save: string;
  /** For `kind: upload`: the file, relative to the manifest's folder, with digest and size. */
  file?: FileFact & { path: string };
  /** The part of another step's output that this step uses. The step is not needed if the output has fewer parts. */
  part?: { of: string; fingerprint: string; index: number };
  rules?: StepRules;
  /** True if neither the documentation nor the service's OpenAPI document describes the request. */
  unchecked?: true;
  tags: string[];
  place: Place;
  row?: string;
  /** Title for reviewers: `title` of a gate on the row, else a short text of the row. */
  title?: string;
}

/** Rules of a task that are not part of the request. */
export interface StepRules {
  timeoutMs?: number;
  /**
   * A failed job is bought again, up to `attempts` purchases in total, and up to `credits` for those after the first.
   */
  retry?: { attempts: number; credits?: number };
  expect?: Expectation;
  pin?: true;
}

/** A gate. Users decide which of its steps other steps may use. */
export interface Gate {
  /**
   * The address of its steps without the attribute in which they differ, for example `hero@lamp` for takes. With
   * `approve`, the address of the step.
   */
  name: string;
  task: string;
  /**
   * `approve`: users approve a single step. `choose`: users pick `choose` of its steps. `canary`: users approve the
   * canaries, and similar steps wait. Only a plan has canary gates, because the lock determines the canaries.
   */
  is: 'approve' | 'choose' | 'canary';
  choose: number;
  members: string[];
  note?: string;
  reasons?: readonly string[];
}

/**
 * Similar steps of a task. The first of them are bought before the others. The others wait until `first` steps are
 * bought with the present requests, and fit or are picked. New rows of an unchanged template need no new canary; a
 * changed template does.
 */
export interface Canary {
  /** `canary of hero`, with price class if the task has several groups. */
  name: string;
  task: string;
  first: number;
  /** True if the others wait for a pick of the canaries. False if they wait until the canaries fit `expect`. */
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

/** An expanded campaign. Steps are sorted by needs, then as written. */
export interface Graph {
  name: string;
  steps: Step[];
  tasks: GraphTask[];
  budget?: number | undefined;
  concurrency?: number | undefined;
  /** Path of the list of files that each run writes, relative to the output folder. */
  index?: string;
  selectors: { [name: string]: string };
  /** Credits by price class, or by a prefix of one. */
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

/** Makes a function that returns the steps for a name in `needs`: the members of a gate, or one step. */
export function needFinder(gates: readonly Gate[] = []): (need: string) => readonly string[] {
  const byName = new Map(gates.map((gate) => [gate.name, gate.members]));
  return (need) => byName.get(need) ?? [need];
}

/** The part of a graph that a run needs. It takes half the memory. */
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
