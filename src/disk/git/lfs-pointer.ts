import type { FileDigest } from '../inputs.ts';

/** The largest pointer there can be, in bytes. */
export const mostPointerBytes = 1024;

/** Reads the pointer that Git LFS keeps in a repository in place of a file: its digest and size. Undefined for anything else. */
export function readLfsPointer(bytes: Uint8Array): FileDigest | undefined {
  if (bytes.length >= mostPointerBytes) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  if (!/^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v\d+\n/.test(text)) return undefined;
  const sha256 = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return sha256 === undefined || size === undefined ? undefined : { sha256, bytes: Number(size) };
}
