import type { Diagnostic, Place } from '../diagnostic.ts';
import type { Json } from '../json.ts';

/** An output of another step, to be filled in when that step's job has finished. */
export interface Reference {
  $ref: string;
  /** Output field of that step's kind, for example `url`. */
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
  /** Where the output goes: relative to the manifest's folder, `/` separators, without extension. */
  save: string;
  place: Place;
  trail: string[];
}

/** A campaign, fully expanded. `steps` is in a stable topological order: needs first, then as written. */
export interface Graph {
  name: string;
  steps: Step[];
  /** Tasks in the order in which they are written. */
  tasks: { id: string; kind: string; description?: string; steps: number; tags?: string[] }[];
  /** Hard cap over all runs, in credits. */
  budget?: number;
  concurrency?: number;
  warnings: Diagnostic[];
}
