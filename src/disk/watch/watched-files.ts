import { type BigIntStats, type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** The mark of what is not there. */
const missing = 'missing';

/** How long reports are gathered that name nothing that is watched, in ms. */
const gatherMs = 5;
/** Looking takes at most this part of a core. */
const lookShare = 0.02;
/** Number of folders that report their changes, which systems limit. All others are looked at. */
const mostWatchers = 256;

/** Has a folder report what changes in it; throws where it cannot. */
type Listen = (folder: string, onReport: (event: string, name: string | null) => void) => FSWatcher;

/**
 * Says when files change: are written, replaced by another one, removed, or come into being; and folders, when an entry comes
 * or goes. A replaced file takes its watcher with it, so it is folders that report. A report without a cause does no harm,
 * and one that never comes is made good by looking.
 */
export class WatchedFiles {
  readonly #onChange: () => void;
  readonly #lookEveryMs: number;
  readonly #listenTo: Listen;
  /** Marks by absolute path, as last seen. */
  readonly #marks = new Map<string, string>();
  /** Watchers by folder, with what told it from others of its name. */
  readonly #watchers = new Map<string, { watcher: FSWatcher; identity: string }>();
  /** Watched paths by folder and by the name in it that stands for them: a link has two. */
  #places = new Map<string, Map<string, string[]>>();
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;
  /** Another file has come under a name: it may be a link elsewhere. */
  #isStale = false;
  /** Time that the last look took. */
  #tookMs = 0;

  /**
   * `onChange` hears that something changed, not what; several changes may be one call. `lookEveryMs`: how often everything is
   * looked at, for folders whose changes nobody reports, as on a network share.
   */
  constructor(
    onChange: () => void,
    { lookEveryMs = 1000, listen = watch }: { lookEveryMs?: number; listen?: Listen } = {},
  ) {
    this.#onChange = onChange;
    this.#listenTo = listen;
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
    const gone = [...this.#marks.keys()].filter((path) => !wanted.has(path));
    const come = [...wanted].filter((path) => !this.#marks.has(path));
    for (const path of gone) this.#marks.delete(path);
    for (const path of come) this.#marks.set(path, markOf(path));
    if (gone.length > 0 || come.length > 0) this.#arm();
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
    const places = new Map<string, Map<string, string[]>>();
    const add = (path: string, folder: string, name: string) => {
      const names = places.get(folder) ?? new Map<string, string[]>();
      places.set(folder, names.set(name, [...(names.get(name) ?? []), path]));
    };
    for (const [path, mark] of this.#marks) {
      if (isFolder(mark)) add(path, path, '');
      add(path, nearestFolder(dirname(path)), basename(path));
      const real = realPathOf(path);
      if (real !== path) add(path, dirname(real), basename(real));
    }
    this.#places = places;
    this.#isStale = false;
    for (const [folder, { watcher, identity }] of this.#watchers) {
      // What came later under its name is another folder.
      if (places.has(folder) && identityOf(folder) === identity) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of places.keys()) {
      if (this.#watchers.size >= mostWatchers) return;
      if (!this.#watchers.has(folder)) this.#listen(folder);
    }
  }

  #listen(folder: string): void {
    try {
      const identity = identityOf(folder);
      const watcher = this.#listenTo(folder, (_event, name) => this.#onReport(folder, name));
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
    const named = name === null ? undefined : this.#places.get(folder)?.get(name);
    for (const path of named ?? []) {
      const mark = markOf(path);
      this.#isStale ||= nameOf(mark) !== nameOf(this.#marks.get(path));
      this.#marks.set(path, mark);
    }
    if (named === undefined || this.#isStale) this.#lookSoon();
    if (named !== undefined) this.#onChange();
  }

  #lookSoon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#lookIn(Math.max(gatherMs, this.#tookMs));
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const from = performance.now();
      this.#isSoon = false;
      const isChanged = this.#look();
      this.#tookMs = performance.now() - from;
      this.#lookIn(Math.max(this.#lookEveryMs, this.#tookMs / lookShare));
      if (isChanged) this.#onChange();
    }, ms);
  }

  /** Whether anything is not as it was last seen. */
  #look(): boolean {
    const isGone = ([path, mark]: [string, string]) =>
      mark === missing && !this.#places.has(nearestFolder(dirname(path)));
    // The folder of what was not there has come, and perhaps it in it.
    if (this.#isStale || [...this.#marks].some(isGone)) this.#arm();
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

/** Names which file it is, whatever is in it. */
function nameOf(mark = missing): string {
  return mark.split(' ', 2).join(' ');
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

/** Coarsest step of a file system's clock, and the difference of that clock from ours: a file is old when it is older. In ms. */
const youngMs = 2500;

/** Differs when the file or folder does: identity, size, times to the nanosecond. Links are followed. */
export function markOf(path: string): string {
  const stats = statOf(path);
  if (typeof stats === 'string') return stats;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return stats.isDirectory() ? `folder ${dev} ${ino} ${mtimeNs}` : `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

function identityOf(folder: string): string {
  const stats = statOf(folder);
  return typeof stats === 'string' ? stats : `${stats.dev} ${stats.ino}`;
}

/** Recognizes the mark of a folder. */
function isFolder(mark: string): boolean {
  return mark.startsWith('folder ');
}

/** Whether a file was last changed long enough ago that its next change gives it another mark. False where there is none. */
export function isOldFile(path: string): boolean {
  const stats = statOf(path);
  return typeof stats !== 'string' && stats.isFile() && Number(stats.ctimeNs / 1_000_000n) + youngMs < Date.now();
}

/** Returns the stats of a path; where nothing can be seen, what the system says instead. */
function statOf(path: string): BigIntStats | string {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false }) ?? missing;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return code;
  }
}
