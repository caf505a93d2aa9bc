import type { Diagnostic, Place } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { Expectation } from '../manifest/manifest.ts';

/** An output of another step, to be filled in when that step's job has finished. */
export interface Reference {
  $ref: string;
  /** Output field of that step's kind, for example `url`; `clips.2.url` is the link of the third part (they count from 0). */
  field: string;
}

/** A text with references in it: its parts are joined once all of them are known. */
export interface ReferenceText {
  $text: (string | Reference)[];
}

/**
 * A request body whose references are still open: JSON in which any value may be a `Reference` (`$ref` is the address
 * of a step) or a `ReferenceText`. A list of outputs is an array of `Reference`s. No manifest key starts with `$`.
 */
export type OpenRequest = { [field: string]: Json };

/** One concrete unit of paid work: one row, one matrix cell, one take. */
export interface Step {
  /** `task`, `task@key`, `task@key/2`: stable and unique in the campaign. */
  address: string;
  task: string;
  kind: string;
  /** The row's key and the matrix values that made this step; what same-key joins go by. */
  key?: string;
  matrix: { [axis: string]: string };
  /** 1, 2, … when the task asks for several takes of the same request; absent otherwise. */
  take?: number;
  /** The request with references by address: what `runStep` fills in and sends. */
  request: OpenRequest;
  /** The request with each reference's `$ref` replaced by that step's fingerprint: what is paid for. Kept in the lock. */
  paidRequest: OpenRequest;
  /** `1:` and the SHA-256 (hex) of the canonical JSON of {kind, request: paidRequest} and, from the second take on, `take`. The digit is the version. */
  fingerprint: string;
  /** Addresses that must be done before this step starts: references and `needs`. Sorted, unique. */
  needs: string[];
  /** Where the output goes: relative to the manifest's folder, `/` separators, without extension. Empty: there is no file. */
  save: string;
  /** `kind: upload` with `file`: the file, relative to the manifest's folder, and its bytes as they were read. */
  file?: FileFact & { path: string };
  /** One part of another step's output: there may turn out to be fewer of them, and then this step is not needed. */
  part?: { of: string; fingerprint: string; index: number };
  /** How long its job is watched at most, in ms. */
  timeoutMs?: number;
  /** Failed jobs are bought again: `attempts` purchases at most in all, for `credits` at most beside the first. */
  retry?: { attempts: number; credits?: number };
  expect?: Expectation;
  /** `pin: true` of its task: what was bought for it is kept, whatever changes. */
  pin?: true;
  /** What people decided about it, as far as it counts now. Filled in by `applyDecisions`, which knows the lock. */
  decided?: Decided;
  /** Nobody could check its request: the service does not document it, and its own description is not known here. */
  unchecked?: true;
  tags: string[];
  place: Place;
  /** The row that it comes from, as messages call it: `row 14 of products.csv`. */
  row?: string;
}

/** A step that is held to a purchase: `paidRequest` and `fingerprint` of the step are those of that purchase. */
export interface Decided {
  /** By whom it is pinned; absent when it is held by an acceptance alone. */
  pinned?: 'manifest' | 'lock';
  accepted?: true;
  /** What the manifest asks for now, where that is something else. */
  wanted?: { paidRequest: OpenRequest; fingerprint: string };
}

/** A campaign, fully expanded. `steps` is in a stable topological order: needs first, then as written. */
export interface Graph {
  name: string;
  steps: Step[];
  /** Tasks in the order in which they are written. */
  tasks: { id: string; kind: string; description?: string; steps: number; tags?: string[] }[];
  /** Hard cap over all runs, in credits. */
  budget?: number | undefined;
  concurrency?: number | undefined;
  /** Named selections. */
  selectors: { [name: string]: string };
  /** Credits by price class, or by the beginning of one, as the manifest says. */
  prices: { [priceClass: string]: number };
  warnings: Diagnostic[];
  /** Decisions of the lock have been applied. */
  decided?: true;
}

/** What the disk says about a file that a step uploads. */
export interface FileFact {
  /** Hex. */
  sha256: string;
  bytes: number;
}
