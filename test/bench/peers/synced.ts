import { fdatasync, fsync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';

export const syncFile = promisify(fsync);
const syncData = promisify(fdatasync);

/** Adds lines to an open file; each call resolves when its line is durable. */
export function syncedJournal(fd: number): (line: string) => Promise<void> {
  return shared(async (lines) => {
    writeSync(fd, lines);
    await syncData(fd);
  });
}

/** Makes the names in a folder durable. */
export function syncedFolders(): (path: string) => Promise<void> {
  const known = new Map<string, (line: string) => Promise<void>>();
  return (path) => {
    let sync = known.get(path);
    if (sync === undefined) {
      const folder = openSync(path, 'r');
      sync = shared(() => syncFile(folder));
      known.set(path, sync);
    }
    return sync('');
  };
}

/** What is asked for at the same time is done at once, after it was asked for. A peer shares no code with what it is compared to. */
function shared(act: (lines: string) => Promise<void>): (line: string) => Promise<void> {
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  let waiting = '';
  return (line) => {
    waiting += line;
    next ??= current.then(() => {
      const lines = waiting;
      waiting = '';
      next = undefined;
      current = act(lines);
      return current;
    });
    return next;
  };
}
