import type { Output } from '../lock/record.ts';
import { measureMedia } from './measure-media.ts';
import type { Incoming, OutputTarget } from './output-target.ts';
import { PacedDisk } from './paced-disk.ts';
import { relocateOutput } from './relocate-output.ts';
import { saveOutput } from './save-output.ts';
import { SavedFiles } from './saved-files.ts';
import type { SeenFiles } from './seen-files.ts';

export { checkOutputs, type OutputState } from './check-outputs.ts';
export { findStrangers, type Stranger } from './find-strangers.ts';
export { measureMedia } from './measure-media.ts';

/** More than any output; a body that never ends must not fill the disk. */
const defaultMaxBytes = 4 * 1024 ** 3;

/**
 * The files of a campaign below one folder. Everything here throws `OutputError`, and leaves no partial file behind.
 * `saved`: what may be moved and replaced; absent: what this very object has saved.
 */
export function createOutputs(root: string, options: { maxBytes?: number; seen?: SeenFiles; saved?: SavedFiles } = {}) {
  const { maxBytes = defaultMaxBytes, seen, saved = new SavedFiles() } = options;
  const disk = new PacedDisk();
  // Moves go one after another: files that exchange their names are in each other's way.
  let lastMove: Promise<unknown> = Promise.resolve();
  return {
    /** Streams into a temporary file, checks it, and gives it its name. */
    save: (target: OutputTarget, incoming: Incoming): Promise<Output> =>
      saveOutput(root, { target, incoming, maxBytes, disk, saved, ...(seen && { seen }) }),
    /**
     * Puts a file that is already here (same bytes) under the target's name; undefined when it is gone or changed.
     * `remove`: the old name goes, if the file was saved from here.
     */
    relocate(target: OutputTarget, from: Output, choices: { remove?: boolean } = {}): Promise<Output | undefined> {
      const move = lastMove.then(() =>
        relocateOutput(root, { target, from, remove: choices.remove ?? false, disk, saved }),
      );
      lastMove = move.catch(() => undefined);
      return move;
    },
    /** What a saved file is like; undefined when it cannot be told. */
    measure: (output: Output) => measureMedia(root, output),
  };
}
