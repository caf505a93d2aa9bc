import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { Expectation, Rights } from '../manifest/manifest.ts';

/**
 * A request body that may contain references. A reference is an object in the place of a value. When the job of the
 * referenced step has finished, an output of the step replaces the object. No manifest key starts with `$`.
 *
 * - `$ref`: address of the step, or name of a gate.
 * - `field`: output field of the step's kind, such as `url`. `clips.2.url` is the link of the third part.
 * - `pick`: set for a gate. Number of the picked step, from 1. The request cannot be sent while the gate is open.
 *   Once users have picked, the address of the picked step replaces the name of the gate.
 *
 * `{ $text: […] }` is a string whose parts are texts and references. A list of outputs is an array of references.
 */
export type OpenRequest = { [field: string]: Json };

/** A unit of work. Each row, matrix cell and take of a task is a step of its own. */
export interface Step {
  /** For example `task`, `task@key` or `task@key/2`. Unique and stable in the campaign. */
  address: string;
  task: string;
  kind: string;
  key?: string;
  matrix: { [axis: string]: string };
  /** Number of the take, from 1. Omitted if the task does not ask for several takes. */
  take?: number;
  /** Request whose references contain addresses. */
  request: OpenRequest;
  /** Request whose references contain fingerprints in place of addresses. The lock stores this form. */
  paidRequest: OpenRequest;
  /**
   * Format version `1:`, then the SHA-256 (hex) of the canonical JSON of {kind, request: paidRequest, take}. The first
   * take has no `take` in this JSON.
   */
  fingerprint: string;
  /**
   * Addresses of the steps that must finish first, sorted. If users pick among steps, the name of the gate is listed
   * instead of these steps.
   */
  needs: string[];
  /**
   * Output path relative to the manifest's folder, with `/` as separator and without extension. Empty if the step has
   * no output file.
   */
  save: string;
  /** For `kind: upload`. The path is relative to the manifest's folder. */
  file?: FileFact & { path: string };
  /** Part of another step's output that this step uses. If the output has fewer parts, this step is not needed. */
  part?: { of: string; fingerprint: string; index: number };
  rules?: {
    timeoutMs?: number;
    /**
     * Retry rule for failed jobs. `attempts`: maximum number of jobs, including the first. `credits`: maximum credits of
     * all later jobs.
     */
    retry?: { attempts: number; credits?: number };
    expect?: Expectation;
    pin?: true;
  };
  /** Set if neither the documentation nor the service's OpenAPI document describes the request. */
  unchecked?: true;
  tags: string[];
  place: Place;
  row?: string;
  /** Title for reviewers: the gate's `title` for the row, else a short text of the row. */
  title?: string;
}

/** A gate. Users decide which of the gate's steps other steps may use. */
export interface Gate {
  /**
   * Address of the gate's steps without the attribute in which they differ, for example `hero@lamp` for takes. With
   * `approve`, the address of the single step.
   */
  name: string;
  task: string;
  /**
   * `approve`: users approve a single step. `choose`: users pick `choose` of the steps. `canary`: users approve the
   * canaries while similar steps wait. Canary gates exist only in a plan, because the lock determines the canaries.
   */
  is: 'approve' | 'choose' | 'canary';
  choose: number;
  members: string[];
  note?: string;
  reasons?: readonly string[];
}

/**
 * Similar steps of a task. The canaries, which are the first of these steps, are created before the rest. The rest wait
 * until `first` canaries were created with the current requests, and fit `expect` or were picked. New rows of an
 * unchanged template need no new canary. A changed template does.
 */
export interface Canary {
  /** For example `canary of hero`. If the task has several groups, the price class follows. */
  name: string;
  task: string;
  first: number;
  /**
   * If true, the remaining steps wait until users pick canaries. If false, they wait until the canaries fit `expect`.
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

/** An expanded campaign. A step comes after the steps that it needs, otherwise in the order of the manifest. */
export interface Graph {
  name: string;
  steps: Step[];
  tasks: GraphTask[];
  budget?: number | undefined;
  concurrency?: number | undefined;
  /** Path of the list of output files that each run writes, relative to the output folder. */
  index?: string;
  selectors: { [name: string]: string };
  /** Credits by price class, or by the beginning of a price class. */
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

/** The part of a graph that a run needs. It takes half the memory of a graph. */
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
