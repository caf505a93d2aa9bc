import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { Expectation, Rights } from '../manifest/manifest.ts';

/** An output of another step, to be filled in when that step's job has finished. */
export interface Reference {
  $ref: string;
  /** Output field of that step's kind, such as `url`; `clips.2.url` is the link of the third part (counted from 0). */
  field: string;
  /**
   * `$ref` is the name of a gate, and this the number of one of its picked steps, from 1. People's decisions put the step
   * in its place; while the gate is open the request cannot be sent.
   */
  pick?: number;
}

/** A text with references in it: its parts are joined once all of them are known. */
export interface ReferenceText {
  $text: (string | Reference)[];
}

/**
 * A request body with open references: JSON in which any value may be a `Reference` (`$ref` is the address of a step)
 * or a `ReferenceText`. A list of outputs is an array of `Reference`s. No manifest key starts with `$`.
 */
export type OpenRequest = { [field: string]: Json };

/** One concrete unit of paid work: one row, one matrix cell, one take. */
export interface Step {
  /** `task`, `task@key`, `task@key/2`: stable and unique in the campaign. */
  address: string;
  task: string;
  kind: string;
  /** The row's key and the matrix values that made this step; same-key joins compare these. */
  key?: string;
  matrix: { [axis: string]: string };
  /** 1, 2, … when the task asks for several takes of the same request; absent otherwise. */
  take?: number;
  /** The request with references by address, which `runStep` fills in and sends. */
  request: OpenRequest;
  /** The request that is paid for, with each `$ref` replaced by that step's fingerprint. Kept in the lock. */
  paidRequest: OpenRequest;
  /** `1:` (the version) and the SHA-256 (hex) of the canonical JSON of {kind, request: paidRequest, take from 2 on}. */
  fingerprint: string;
  /**
   * Addresses that must be done before this step starts: references and `needs`. Where one is picked from several (possibly
   * thousands), the name of their gate, which a pick replaces. Sorted, unique.
   */
  needs: string[];
  /** Output path relative to the manifest's folder, with `/` separators, without extension. Empty: there is no file. */
  save: string;
  /** `kind: upload` with `file`: the file, relative to the manifest's folder, with its digest and size as read. */
  file?: FileFact & { path: string };
  /** One part of another step's output: there may turn out to be fewer parts, and then this step is not needed. */
  part?: { of: string; fingerprint: string; index: number };
  /** How long its job is watched at most, in ms. */
  timeoutMs?: number;
  /** Failed jobs are bought again: at most `attempts` purchases in all, and at most `credits` beyond the first. */
  retry?: { attempts: number; credits?: number };
  expect?: Expectation;
  /** `pin: true` of its task: keeps what was bought for it, whatever changes. */
  pin?: true;
  /** Its request could not be checked: the service does not document it, and its own description is not known here. */
  unchecked?: true;
  tags: string[];
  place: Place;
  /** The name of its row in messages: `row 14 of products.csv`. */
  row?: string;
  /** Names it for people who look at its output: `title` of its gate, else the first short text of its row. */
  title?: string;
}

/** A question to people: which of these steps may be used, before anything that hangs on them is made. */
export interface Gate {
  /** The address of its steps without what is chosen among: `hero@lamp` for takes. With `approve` the address itself. */
  name: string;
  task: string;
  /**
   * `approve`: the one step is looked at, and references name it as ever. `canary`: so are the first of those that are alike, and
   * the others wait, too; the graph has none, because which steps these are depends on the lock.
   */
  is: 'approve' | 'choose' | 'canary';
  /** How many of its steps are to be picked. */
  choose: number;
  /** Addresses, as written. */
  members: string[];
  /** Criterion of the choice, in the words of the manifest. */
  note?: string;
  /** Why an output may be turned down, in its words. */
  reasons?: readonly string[];
}

/**
 * Similar steps of one task; the first of them go alone. It belongs to requests: as soon as `first` of them
 * are bought as the manifest asks for now, and fit, or are picked, none waits any more. So new rows of an unchanged
 * template need no new canary, and a changed template, which changes every request, does.
 */
export interface Canary {
  /** `canary of hero`; with price class and values of fields where the task has steps of several kinds. */
  name: string;
  task: string;
  first: number;
  /** The others follow when people have picked these, or else when these are done and fit `expect`. */
  asks: boolean;
  /** Addresses of all its steps, in the order of the graph. */
  members: string[];
}

export interface GraphTask {
  id: string;
  kind: string;
  description?: string;
  steps: number;
  tags?: string[];
  /** Rights to its outputs: the campaign's, with those of the task. */
  rights?: Rights;
}

/** A fully expanded campaign. `steps` is in a stable topological order: needs first, then as written. */
export interface Graph {
  name: string;
  steps: Step[];
  /** Tasks in the order in which they are written. */
  tasks: GraphTask[];
  /** Hard cap over all runs, in credits. */
  budget?: number | undefined;
  concurrency?: number | undefined;
  /** Path of the list of files that each run writes, relative to the folder of outputs. Omitted when no list is written. */
  index?: string;
  selectors: { [name: string]: string };
  /** Credits by price class, or by a prefix of one, as written in the manifest. */
  prices: { [priceClass: string]: number };
  warnings: Diagnostic[];
  /** Gates in the order in which their steps are written. Omitted when there are none. */
  gates?: readonly Gate[];
  canaries?: readonly Canary[];
  /** Assumptions about files, in words for people. */
  notices?: readonly string[];
}

/** The facts on disk about a file that a step uploads. */
export interface FileFact {
  /** Hex. */
  sha256: string;
  bytes: number;
}

/** Tells for each name in `needs` which steps may be meant: those that its gate asks about, or the one of this address. */
export function needFinder(gates: readonly Gate[] = []): (need: string) => readonly string[] {
  const byName = new Map(gates.map((gate) => [gate.name, gate.members]));
  return (need) => byName.get(need) ?? [need];
}

/** The part of a graph that a run needs. The rest takes as much memory as everything else that a run holds. */
export interface GraphOutline {
  /** Tasks in the order in which they are written. */
  tasks: { id: string; kind: string; steps: number }[];
  /** The addresses of all steps. */
  addresses: ReadonlySet<string>;
}

export function outlineOf({ tasks, steps }: Graph): GraphOutline {
  return {
    tasks: tasks.map(({ id, kind, steps: count }) => ({ id, kind, steps: count })),
    addresses: new Set(steps.map(({ address }) => address)),
  };
}
