import type { Output } from '../lock/record.ts';
import { measureMedia } from './measure-media.ts';
import type { Incoming, OutputTarget } from './output-target.ts';
import { PacedDisk } from './paced-disk.ts';
import { relocateOutput } from './relocate-output.ts';
import { saveOutput } from './save-output.ts';
import type { SeenFiles } from './seen-files.ts';

export { checkOutputs, type OutputState } from './check-outputs.ts';
export { findStrangers, type Stranger } from './find-strangers.ts';
export { measureMedia } from './measure-media.ts';

/** More than any output; a body that never ends must not fill the disk. */
const defaultMaxBytes = 4 * 1024 ** 3;

/** The files of a campaign below one folder. Everything here throws `OutputError`, and leaves no partial file behind. */
export function createOutputs(root: string, options: { maxBytes?: number; seen?: SeenFiles } = {}) {
  const { maxBytes = defaultMaxBytes, seen } = options;
  const disk = new PacedDisk();
  // Moves go one after another: files that exchange their names are in each other's way.
  let lastMove: Promise<unknown> = Promise.resolve();
  return {
    /** Streams into a temporary file, checks it, and gives it its name. */
    save: (target: OutputTarget, incoming: Incoming): Promise<Output> =>
      saveOutput(root, { target, incoming, maxBytes, disk, ...(seen && { seen }) }),
    /**
     * Puts a file that is already here (same bytes) under the target's name; undefined when it is gone or changed.
     * `remove`: the old name goes.
     */
    relocate(target: OutputTarget, from: Output, choices: { remove?: boolean } = {}): Promise<Output | undefined> {
      const move = lastMove.then(() => relocateOutput(root, { target, from, remove: choices.remove ?? false, disk }));
      lastMove = move.catch(() => undefined);
      return move;
    },
    /** What a saved file is like; undefined when it cannot be told. */
    measure: (output: Output) => measureMedia(root, output),
  };
}
