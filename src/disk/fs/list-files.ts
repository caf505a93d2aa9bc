import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { defined } from '../../ground/values.ts';
import { readFilePattern } from './file-pattern.ts';
import { isSameName } from './plain-file.ts';

/** Maximum number of files that a pattern may match: more than the rows of any campaign. */
export const mostFiles = 100_000;

export type ListedFiles = { files: string[] } | { problem: 'outside' | 'too-large' | 'unreadable'; detail?: string };

export const outsidePattern: ListedFiles = {
  problem: 'outside',
  detail: 'a pattern stays below the folder of the manifest',
};

export function leadsOut(pattern: string): boolean {
  return /^[/\\]|^[A-Za-z]:|(^|[/{,(|])\.\.([/},)|]|$)/.test(pattern);
}

/**
 * Lists the files below a folder that a pattern matches, ignoring case: relative paths, sorted by code unit. Always
 * skips hidden files, and everything behind a symbolic link.
 */
export async function listFiles(folder: string, pattern: string): Promise<ListedFiles> {
  if (leadsOut(pattern)) return outsidePattern;
  try {
    const { glob } = await import('tinyglobby');
    const { listed, depth, matches = () => true } = await readFilePattern(pattern);
    const all = await glob(listed, {
      cwd: resolve(folder),
      ...defined({ deep: depth }),
      dot: false,
      // Cameras write .JPG, and macOS and Windows ignore case.
      caseSensitiveMatch: false,
      onlyFiles: true,
      followSymbolicLinks: false,
      expandDirectories: false,
      ignore: ['**/node_modules/**', '**/*.sandbox/**'],
    });
    const found = all.filter((path) => matches(path.replaceAll('\\', '/')));
    if (found.length > mostFiles) return { problem: 'too-large', detail: `more than ${mostFiles} files match` };
    const root = await realpath(folder);
    const plainFolders = new Map<string, boolean>();
    const files: string[] = [];
    for (const path of found.map((one) => one.replaceAll('\\', '/')).sort()) {
      // `.git/*` and `link/*` name such a folder explicitly, so the search enters it.
      if (path.split('/').some((name) => name.startsWith('.'))) continue;
      const parent = dirname(path);
      const isPlain = plainFolders.get(parent) ?? isSameName(await realpath(join(root, parent)), join(root, parent));
      plainFolders.set(parent, isPlain);
      if (isPlain && (await lstat(join(root, path))).isFile()) files.push(path);
    }
    return { files };
  } catch (error) {
    return { problem: 'unreadable', detail: error instanceof Error ? error.message : String(error) };
  }
}
