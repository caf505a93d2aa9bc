import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { OutputError } from '../../../src/contract/errors.ts';
import type { OutputTarget } from '../../../src/contract/ports.ts';
import type { Output } from '../../../src/lock/record.ts';

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export function target(facts: Partial<OutputTarget> = {}): OutputTarget & { notices: string[] } {
  const notices: string[] = [];
  const notice = (message: string) => {
    notices.push(message);
  };
  return { address: 'hero', save: 'images/hero', media: 'image', replaces: [], notice, notices, ...facts };
}

export async function* chunks(...parts: (Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield part;
  }
}

export function recorded(path: string, bytes: Uint8Array): Output {
  return { path, sha256: sha256(bytes), bytes: bytes.length, type: 'image/png' };
}

/** Everything below a folder that is no folder itself, links included. They are not followed, on any version of Node. */
export function filesIn(folder: string): string[] {
  const below = (path: string): string[] =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
      const name = path === '' ? entry.name : `${path}/${entry.name}`;
      return entry.isDirectory() ? below(name) : [name];
    });
  return below('').sort();
}

export async function failure(work: Promise<unknown>): Promise<OutputError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof OutputError)) throw error;
  return error;
}
