import { hash } from 'node:crypto';
import { hostname } from 'node:os';
import type { FetchAnswer } from '../../contract/answer.ts';
import { OutputError } from '../../contract/errors.ts';
import type { Downloads, OutputFiles, Outputs, OutputTarget } from '../../contract/ports.ts';
import { fetchHere } from '../../engine/fetch-here.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect, MediaFacts } from '../../plan/outputs/expectation.ts';

/** Channel with a queue's name as payload, notified when a file is added to that queue. */
export const filesChannel = 'mediabatch_files';
/** Channel with a file's id as payload, notified when its result is known. */
export const fileChannel = 'mediabatch_file';

/** Task of a fetch worker for one file. Stored encrypted, because a link is a secret. */
export type FileTask =
  | { do: 'fetch'; target: Omit<OutputTarget, 'notice'>; url: string }
  | { do: 'measure'; output: Output; aspects: readonly Aspect[] };

/** Result of the task. Contains no link, because it is stored unencrypted. */
export type FileResult =
  | FetchAnswer
  | { is: 'measured'; facts?: MediaFacts }
  /** Storage failed, or the path in it is not allowed. */
  | { is: 'error'; why: 'disk' | 'path'; message: string };

export interface FileReport {
  result: FileResult;
  notices: string[];
}

/** Fetches files in this process. Disk errors name this machine, because they are read on others. */
export function fetchNamed(downloads: Downloads, files: OutputFiles): Outputs {
  const outputs = fetchHere(downloads, files);
  return {
    ...outputs,
    fetch: (...given) =>
      outputs.fetch(...given).catch((error: unknown) => {
        if (!(error instanceof OutputError) || error.why !== 'disk') throw error;
        throw new OutputError('disk', `worker on ${hostname()}: ${error.message}`, { cause: error });
      }),
  };
}

/** Returns the destination of the files of a run: a store, or the attached client. Part of the queue's name. */
export function placeOf({ store, campaign }: { store: string | null; campaign: string }): string {
  return store ?? `own-${hash('sha256', campaign).slice(0, 16)}`;
}

/** Returns the id of a file. The next leader computes the same one and finds earlier results by it. */
export function fileId(...facts: (string | number)[]): string {
  return hash('sha256', JSON.stringify(facts));
}

/**
 * Returns the job id, in UUID form, for the n-th attempt at a file. Being deterministic, it prevents queueing an
 * attempt twice.
 */
export function jobIdOf(file: string, tries: number): string {
  const hex = hash('sha256', `${file} ${tries}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
