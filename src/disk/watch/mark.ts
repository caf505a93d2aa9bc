import { type BigIntStats, statSync } from 'node:fs';

/** The mark of what is not there. */
export const missing = 'missing';

/** Coarsest step of a file system's clock, and the difference of that clock from ours: a file is old when it is older. In ms. */
const youngMs = 2500;

/** Differs when the file or folder does: identity, size, times to the nanosecond. Links are followed. */
export function markOf(path: string): string {
  const stats = statOf(path);
  if (typeof stats === 'string') return stats;
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return stats.isDirectory() ? `folder ${dev} ${ino} ${mtimeNs}` : `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

export function identityOf(folder: string): string {
  const stats = statOf(folder);
  return typeof stats === 'string' ? stats : `${stats.dev} ${stats.ino}`;
}

/** Recognizes the mark of a folder. */
export function isFolder(mark: string): boolean {
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
