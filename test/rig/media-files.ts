import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { sniffMedia } from '../../src/disk/outputs/sniff.ts';

/** Each file of a folder by its name without extension, and what its bytes are. */
export function readResultFiles(folder: string): { [name: string]: string } {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name.slice(0, -extname(name).length),
      sniffMedia(readFileSync(join(folder, name)).subarray(0, 512))?.media ?? 'unknown',
    ]),
  );
}
