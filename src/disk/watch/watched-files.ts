import { type FSWatcher, realpathSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { identityOf, isFolder, markOf, missing } from './mark.ts';

/** How long reports are gathered that name nothing that is watched, in ms. */
const gatherMs = 5;
/** Looking takes at most this part of a core. */
const lookShare = 0.02;
/** Number of folders that report their changes, which systems limit. All others are looked at. */
const mostWatchers = 256;

/**
 * Says when files change: are written, replaced by another one, removed, or come into being; and folders, when an entry comes
 * or goes. A replaced file takes its watcher with it, so it is folders that report. A report without a cause does no harm,
 * and one that never comes is made good by looking.
 */
export class WatchedFiles {
  readonly #onChange: () => void;
  readonly #lookEveryMs: number;
  /** By absolute path, as last seen. */
  readonly #marks = new Map<string, string>();
  /** By folder, with what told it from others of its name. */
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  /** The names that matter, by folder. */
  #names = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;

  /**
   * `onChange` hears that something changed, not what; several changes may be one call. `lookEveryMs`: how often everything is
   * looked at, for folders whose changes nobody reports, as on a network share.
   */
  constructor(onChange: () => void, { lookEveryMs = 1000 }: { lookEveryMs?: number } = {}) {
    this.#onChange = onChange;
    this.#lookEveryMs = lookEveryMs;
    this.#lookIn(lookEveryMs);
  }

  /** Number of paths. */
  get size(): number {
    return this.#marks.size;
  }

  /** Watches these absolute paths from now on, and no others. They need not exist; what they are now is no change. */
  watch(paths: Iterable<string>): void {
    const wanted = new Set(paths);
    for (const path of this.#marks.keys()) if (!wanted.has(path)) this.#marks.delete(path);
    for (const path of wanted) if (!this.#marks.has(path)) this.#marks.set(path, markOf(path));
    this.#arm();
  }

  /** Ends it. Until then it keeps the process. */
  close(): void {
    clearTimeout(this.#timer);
    this.#marks.clear();
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Lets every folder report that holds a watched path; of one that is not there, the nearest that is. */
  #arm(): void {
    const names = new Map<string, Set<string>>();
    const add = (folder: string, name: string) => names.set(folder, (names.get(folder) ?? new Set()).add(name));
    for (const [path, mark] of this.#marks) {
      if (isFolder(mark)) add(path, '');
      add(nearestFolder(dirname(path)), basename(path));
      const real = realPathOf(path);
      if (real !== path) add(dirname(real), basename(real));
    }
    this.#names = names;
    for (const [folder, { watcher, identity }] of this.#watchers) {
      // What came later under its name is another folder.
      if (names.has(folder) && identityOf(folder) === identity) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of names.keys()) {
      if (this.#watchers.size >= mostWatchers) return;
      if (!this.#watchers.has(folder)) this.#listen(folder);
    }
  }

  #listen(folder: string): void {
    try {
      const identity = identityOf(folder);
      const watcher = watch(folder, (_event, name) => this.#onReport(folder, name));
      // Gone: looking finds out, and what comes instead is watched then.
      watcher.on('error', () => watcher.close());
      this.#watchers.set(folder, { watcher, identity });
    } catch (error) {
      // Not ours to read, too many of them, or a file system that reports nothing: it is looked at.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    }
  }

  /** Two writes within one tick of a file system's clock leave one mark: a file that is named has changed. */
  #onReport(folder: string, name: string | null): void {
    if (name !== null && this.#names.get(folder)?.has(name) === true) {
      this.#look();
      this.#onChange();
    } else if (!this.#isSoon) {
      this.#isSoon = true;
      this.#lookIn(gatherMs);
    }
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const from = performance.now();
      this.#isSoon = false;
      const isChanged = this.#look();
      this.#lookIn(Math.max(this.#lookEveryMs, (performance.now() - from) / lookShare));
      if (isChanged) this.#onChange();
    }, ms);
  }

  /** Whether anything is not as it was last seen. */
  #look(): boolean {
    // The folder of what is not there may have come, and it with it.
    if ([...this.#marks.values()].includes(missing)) this.#arm();
    let isChanged = false;
    for (const [path, mark] of this.#marks) {
      const now = markOf(path);
      if (now === mark) continue;
      this.#marks.set(path, now);
      isChanged = true;
    }
    const isMoved = [...this.#watchers].some(([folder, { identity }]) => identityOf(folder) !== identity);
    if (isChanged || isMoved) this.#arm();
    return isChanged;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function nearestFolder(folder: string): string {
  return isFolder(markOf(folder)) || folder === dirname(folder) ? folder : nearestFolder(dirname(folder));
}
