/** The path of a campaign file relative to where the manifest was named, as places and messages show it. */
export function besideManifest(manifestFile: string, path: string): string {
  const folder = /^.*[/\\]/.exec(manifestFile)?.[0] ?? '';
  return `${folder}${path.replace(/^(\.\/)+/, '')}`;
}

/**
 * Rewrites a path from a manifest to be relative to the folder of the main one. `folder` is `''`, or that of an
 * included file, such as `shared/`. Paths of the main manifest and absolute ones stay as they are written.
 */
export function pathFrom(folder: string, path: string): string {
  return folder === '' || isAbsolutePath(path) ? path : normalizePath(`${folder}${path}`);
}

/** Does the same for a file pattern; wildcards in the folder's name are escaped. */
export function patternFrom(folder: string, pattern: string): string {
  if (folder === '' || isAbsolutePath(pattern)) return pattern;
  // Dots and slashes stay unescaped, so that `..` in the pattern leads out of the folder as it does in a path.
  return normalizePath(`${folder.replaceAll(/[*?[\]{}()|]|^!/g, '\\$&')}${pattern}`);
}

/** Removes `.`, empty parts and resolved `..`; a path that leads out keeps its leading `..`. */
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

/** Returns the folder of a normalized path: `''`, or `shared/`. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** Applies the rules of every system, so that a manifest means the same everywhere. */
export function isAbsolutePath(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}
