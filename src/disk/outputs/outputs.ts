import type { OutputFiles } from '../../contract/ports.ts';
import { PacedDisk } from '../fs/paced-disk.ts';
import type { KeptFiles } from './kept-files.ts';
import { measureMedia } from './measure-media.ts';
import { relocateOutput } from './relocate-output.ts';
import { saveOutput } from './save-output.ts';
import { SavedFiles } from './saved-files.ts';
import type { StatCache } from './stat-cache.ts';

export { checkOutputs, type OutputState } from './check-outputs.ts';
export { findStrangers, mayBeOutput, type Stranger } from './find-strangers.ts';
export { measureMedia } from './measure-media.ts';

/** Most bytes of a file: more than any output has; an endless body must not fill the disk. */
const defaultMaxBytes = 4 * 1024 ** 3;

/**
 * The files of a campaign below one folder. Everything here throws `OutputError`, and leaves no partial file behind.
 * `saved`: files that may be moved and replaced; absent: those that this very object has saved. `kept`: where a paid file
 * goes that a newer one replaces; absent: nowhere.
 */
export function createOutputs(
  root: string,
  options: { maxBytes?: number; seen?: StatCache; saved?: SavedFiles; kept?: KeptFiles } = {},
): OutputFiles {
  const { maxBytes = defaultMaxBytes, seen, saved = new SavedFiles(), kept } = options;
  const disk = new PacedDisk();
  // Moves run one after another: files that swap names are in each other's way.
  let lastMove: Promise<unknown> = Promise.resolve();
  return {
    save: (target, download) =>
      saveOutput(root, { target, download, maxBytes, disk, saved, kept, ...(seen && { seen }) }),
    relocate(target, from, { remove = false } = {}) {
      const move = lastMove.then(() => relocateOutput(root, { target, from, remove, disk, saved, kept }));
      lastMove = move.catch(() => undefined);
      return move;
    },
    measure: (output) => measureMedia(root, output),
  };
}
