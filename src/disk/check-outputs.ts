import { join } from 'node:path';
import { isOutputPath } from '../lock/check-line.ts';
import type { Output } from '../lock/record.ts';
import { hashFile } from './hash-file.ts';
import { findOutputFolder } from './output-path.ts';
import { isErrno, statPlainFile, UnsafeFileError } from './plain-file.ts';

/** `changed`: there is something else under this name, a symbolic link or a file that cannot be read included. */
export type OutputState = 'intact' | 'missing' | 'changed';

const filesAtATime = 8;

/**
 * Compares recorded outputs with the files on disk, by size and then by SHA-256. When two records name one path, it is
 * intact only if the file is what both say.
 */
export async function checkOutputs(root: string, outputs: Iterable<Output>): Promise<Map<string, OutputState>> {
  const states = new Map<string, OutputState>();
  const folders = new Map<string, string | undefined>();
  const rest = outputs[Symbol.iterator]();
  const work = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) {
      const output = next.value;
      const state = await checkOutput(root, output, folders);
      const known = states.get(output.path);
      states.set(output.path, known === undefined || known === state ? state : 'changed');
    }
  };
  await Promise.all(Array.from({ length: filesAtATime }, work));
  return states;
}

async function checkOutput(
  root: string,
  output: Output,
  folders: Map<string, string | undefined>,
): Promise<OutputState> {
  if (!isOutputPath(output.path)) return 'changed';
  const names = output.path.split('/');
  const name = names.pop() ?? '';
  const key = names.join('/');
  // Looked for once, also where there is none.
  if (!folders.has(key)) folders.set(key, findOutputFolder(root, names));
  const path = folders.get(key);
  if (path === undefined) return 'missing';
  try {
    const stats = statPlainFile(join(path, name));
    if (stats === undefined) return 'missing';
    if (stats.size !== output.bytes) return 'changed';
    return (await hashFile(join(path, name)))?.sha256 === output.sha256 ? 'intact' : 'changed';
  } catch (error) {
    if (error instanceof UnsafeFileError || isErrno(error, 'EACCES', 'EPERM', 'EIO', 'ELOOP')) return 'changed';
    if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG')) return 'missing';
    throw error;
  }
}
