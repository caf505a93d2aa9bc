import type { Place } from '../../ground/diagnostic.ts';
import { emptyMap } from '../../ground/values.ts';
import type { Rows } from '../../manifest/rows/rows.ts';

const columns = ['path', 'name', 'stem', 'extension', 'folder'];

/** Makes a row for each file that a pattern matches, named by its stem where stems differ, else by its path. */
export function rowsOfFiles(
  pattern: string,
  found: { files: readonly string[]; folder: string; place: () => Place },
): Rows {
  const { files, folder, place } = found;
  const parts = files.map((file) => splitPath(seenFrom(folder, file)));
  const stems = new Set(parts.map(({ stem }) => stem));
  const byStem = stems.size === parts.length && parts.every(({ stem }) => isPlain(stem));
  const rows = parts.map((part) => ({
    value: Object.assign(emptyMap(), part),
    label: part.path,
    place,
    key: byStem
      ? part.stem
      : part.path
          .replace(/^(\.\.\/)+/, '')
          .replace(/\.[^./]*$/, '')
          .replaceAll(/[\s,@/\\*?]+/g, '-'),
  }));
  return { rows, label: pattern, columns };
}

/** Writes a path as a manifest in `folder` would. */
function seenFrom(folder: string, path: string): string {
  if (path.startsWith(folder)) return path.slice(folder.length);
  return `${'../'.repeat(folder.split('/').length - 1)}${path}`;
}

function splitPath(path: string): { path: string; name: string; stem: string; extension: string; folder: string } {
  const at = path.lastIndexOf('/');
  const name = path.slice(at + 1);
  const dot = name.lastIndexOf('.');
  return {
    path,
    name,
    stem: dot > 0 ? name.slice(0, dot) : name,
    extension: dot > 0 ? name.slice(dot + 1) : '',
    folder: at === -1 ? '' : path.slice(0, at),
  };
}

function isPlain(stem: string): boolean {
  return !/[\s,@/\\*?\p{C}]/u.test(stem);
}
