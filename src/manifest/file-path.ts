/** The path of a file of the campaign as seen from where the manifest was named: what places and messages show. */
export function besideManifest(manifestFile: string, path: string): string {
  const folder = /^.*[/\\]/.exec(manifestFile)?.[0] ?? '';
  return `${folder}${path.replace(/^(\.\/)+/, '')}`;
}

/**
 * A path that is written in a manifest, as seen from the folder of the main one: `folder` is `''`, or the one of an
 * included file, as in `shared/`. Paths of the main manifest and absolute ones stay as they are written.
 */
export function pathFrom(folder: string, path: string): string {
  return folder === '' || isAbsolutePath(path) ? path : normalizePath(`${folder}${path}`);
}

/** The same for a pattern of files: in the name of the folder, nothing is a wildcard. */
export function patternFrom(folder: string, pattern: string): string {
  if (folder === '' || isAbsolutePath(pattern)) return pattern;
  // Dots and slashes are left, so that `..` in the pattern leads out of the folder as it does in a path.
  return normalizePath(`${folder.replaceAll(/[*?[\]{}()|]|^!/g, '\\$&')}${pattern}`);
}

/** Without `.`, empty parts and whatever `..` takes back; a path that leads out keeps its `..` at the beginning. */
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

/** The folder of a normalized path: `''`, or `shared/`. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** On any system, so that a manifest means the same everywhere. */
export function isAbsolutePath(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}
