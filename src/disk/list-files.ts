import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** More than any campaign has rows. */
const mostFiles = 100_000;

/**
 * The files below a folder that a pattern matches, relative to it, sorted by code unit. No hidden files, and nothing
 * that a symbolic link leads to.
 */
export async function listFiles(
  folder: string,
  pattern: string,
): Promise<{ files: string[] } | { problem: 'outside' | 'too-large' | 'unreadable'; detail?: string }> {
  if (/^[/\\]|^[A-Za-z]:|(^|\/)\.\.(\/|$)/.test(pattern)) {
    return { problem: 'outside', detail: 'a pattern stays below the folder of the manifest' };
  }
  try {
    const { glob } = await import('tinyglobby');
    const found = await glob(pattern, {
      cwd: resolve(folder),
      dot: false,
      onlyFiles: true,
      followSymbolicLinks: false,
      expandDirectories: false,
      ignore: ['**/node_modules/**', '**/*.sandbox/**'],
    });
    if (found.length > mostFiles) return { problem: 'too-large', detail: `more than ${mostFiles} files match` };
    const files: string[] = [];
    for (const path of found.map((one) => one.replaceAll('\\', '/')).sort()) {
      if ((await lstat(join(folder, path))).isFile()) files.push(path);
    }
    return { files };
  } catch (error) {
    return { problem: 'unreadable', detail: error instanceof Error ? error.message : String(error) };
  }
}
