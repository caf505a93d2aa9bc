import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { Expectation, Rights } from '../manifest/manifest.ts';

/**
 * A request body that may contain references. A reference is an object in the place of a value. When the job of the
 * referenced step has finished, an output of the step replaces the object. No manifest key starts with `$`.
 *
 * - `$ref`: address of the step, or name of a gate.
 * - `field`: output field of the step's kind, such as `url`. `clips.2.url` is the link of the third part.
 * - `pick`: set if `$ref` is a gate: number of the picked step, from 1. A request with `pick` cannot be sent. Once
 *   users have picked, the address of the picked step replaces the name of the gate.
 *
 * `{ $text: […] }` is a string whose parts are texts and references. A list of outputs is an array of references.
 */
export type OpenRequest = { [field: string]: Json };

/** A unit of work: each combination of row, matrix cell and take of a task is a separate step. */
export interface Step {
  /** For example `task`, `task@key` or `task@key/2`. An address is unique and stable in the campaign. */
  address: string;
  task: string;
  kind: string;
  key?: string;
  matrix: { [axis: string]: string };
  /** Number of the take, from 1. Omitted if the task has only one take. */
  take?: number;
  /** Request whose references contain addresses. */
  request: OpenRequest;
  /** Request whose references contain fingerprints in place of addresses. The lock stores this form. */
  paidRequest: OpenRequest;
  /**
   * Format version `1:`, then the SHA-256 (hex) of the canonical JSON of {kind, request: paidRequest, take}. The JSON
   * of the first take has no `take`.
   */
  fingerprint: string;
  /**
   * Sorted addresses of the steps that must finish before this step. If users pick among steps, the list contains the
   * name of their gate instead.
   */
  needs: string[];
  /**
   * Output path relative to the manifest's folder, with `/` as separator and without extension. Empty if the step has
   * no output file.
   */
  save: string;
  /** File of an upload. Its path is relative to the manifest's folder. */
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
  /**
   * Set if the request could not be checked: neither the documentation nor the service's OpenAPI document describes it.
   */
  unchecked?: true;
  tags: string[];
  place: Place;
  row?: string;
  /** Title that reviewers see: the gate's rendered `title`, or else a short text from the row. */
  title?: string;
}

/** A review point: users decide which of its steps other steps may use. */
export interface Gate {
  /**
   * Address of the gate's steps without the attribute in which they differ, for example `hero@lamp` if users pick among
   * takes. With `approve`, the address of the single step.
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
 * Group of similar steps of a task. The first steps of the group, the canaries, are created before the remaining steps.
 * The remaining steps wait until `first` canaries were created with the current requests, and fit `expect` or were
 * picked. A new row needs no new canary. A changed template does.
 */
export interface Canary {
  /** For example `canary of hero`. If the task has several groups of canaries, the name contains the price class. */
  name: string;
  task: string;
  first: number;
  /** If true, the remaining steps wait until users pick canaries. If false, they wait until canaries fit `expect`. */
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

/** An expanded campaign. Steps are in the order of the manifest, but each step comes after the steps that it needs. */
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

/** The part of a graph that a run needs. An outline needs half as much memory as a graph. */
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
