import { constants } from 'node:fs';
import { UnsafeFileError } from '../../contract/errors.ts';
import { isOutputPath } from '../../lock/check-line.ts';
import type { Output } from '../../lock/record.ts';
import type { SeenOutput } from '../../plan/decisions/pin.ts';
import { isErrno, openPlainFile } from '../fs/plain-file.ts';
import { hashFile } from './hash-file.ts';
import { findOutputFile } from './output-path.ts';
import { sniffLength, sniffMedia } from './sniff.ts';

/** Examines a saved file in its current state: changed content is reported with its own digest, size and media type. */
export async function lookAtOutput(root: string, output: Output): Promise<SeenOutput> {
  if (!isOutputPath(output.path)) return { is: 'unusable', why: 'is not a plain path' };
  try {
    const path = findOutputFile(root, output.path);
    const seen = path === undefined ? undefined : await hashFile(path);
    if (path === undefined || seen === undefined) return { is: 'missing' };
    if (seen.sha256 === output.sha256 && seen.bytes === output.bytes) return { is: 'intact' };
    const media = await sniff(path);
    if (media === undefined) return { is: 'unusable', why: 'is not a known image, sound or video' };
    return { is: 'edited', output: { path: output.path, ...seen, type: media, edited: true } };
  } catch (error) {
    if (error instanceof UnsafeFileError || isErrno(error, 'ELOOP'))
      return { is: 'unusable', why: 'is not a plain file' };
    if (isErrno(error, 'EACCES', 'EPERM', 'EIO')) return { is: 'unusable', why: 'cannot be read' };
    if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG')) return { is: 'missing' };
    throw error;
  }
}

async function sniff(path: string): Promise<string | undefined> {
  const handle = await openPlainFile(path, constants.O_RDONLY);
  if (handle === undefined) return undefined;
  try {
    const head = Buffer.alloc(sniffLength);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    return sniffMedia(head.subarray(0, bytesRead))?.type;
  } finally {
    await handle.close();
  }
}
