/** Prefixes a path that is relative to the manifest with the folder of `manifestFile`. */
export function besideManifest(manifestFile: string, path: string): string {
  const folder = /^.*[/\\]/.exec(manifestFile)?.[0] ?? '';
  return `${folder}${path.replace(/^(\.\/)+/, '')}`;
}

/**
 * Converts a path to a path relative to the main manifest's folder. `folder`: folder of the file that contains the
 * path, `''` or for example `shared/`. Absolute paths do not change.
 */
export function pathFrom(folder: string, path: string): string {
  return folder === '' || isAbsolutePath(path) ? path : normalizePath(`${folder}${path}`);
}

/** Makes a file pattern relative to the main manifest's folder. Escapes wildcard characters in the folder's name. */
export function patternFrom(folder: string, pattern: string): string {
  if (folder === '' || isAbsolutePath(pattern)) return pattern;
  // Dots and slashes stay unescaped, so that `..` in the pattern leads out of the folder as it does in a path.
  return normalizePath(`${folder.replaceAll(/[*?[\]{}()|]|^!/g, '\\$&')}${pattern}`);
}

/** Removes `.`, empty parts, and each `..` together with the part before it. Keeps `..` at the start. */
export function normalizePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    const last = parts.at(-1);
    if (part === '..' && last !== undefined && last !== '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** Returns whether any operating system treats the path as absolute. A manifest has the same meaning on each system. */
export function isAbsolutePath(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}
