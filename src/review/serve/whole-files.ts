import type { FileHandle } from 'node:fs/promises';
import type { ReviewFile } from '../../contract/review.ts';
import { hashHandle } from '../../disk/outputs/hash-file.ts';

/**
 * Tells whether files have the bytes that were bought: they can have come with a branch, and who decides must see what a
 * verdict is about. Each is read once, as it is then.
 */
export class WholeFiles {
  readonly #read = new Map<string, { stamp: string; isWhole: Promise<boolean> }>();

  async isWhole(handle: FileHandle, { bytes, sha256 }: Pick<ReviewFile, 'bytes' | 'sha256'>): Promise<boolean> {
    const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
    if (size !== BigInt(bytes)) return false;
    const name = `${dev} ${ino} ${sha256}`;
    const stamp = `${size} ${mtimeNs} ${ctimeNs}`;
    const known = this.#read.get(name);
    if (known?.stamp === stamp) return known.isWhole;
    const isWhole = hashHandle(handle).then((digest) => digest.sha256 === sha256); // I29 (bytes)
    this.#read.set(name, { stamp, isWhole });
    // A disk that fails now may not do so the next time.
    isWhole.catch(() => this.#read.delete(name));
    return isWhole;
  }
}
