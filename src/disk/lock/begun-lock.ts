import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { orForgotten } from '../state/kept-json.ts';
import { readSealedFile, writeSealedFile } from '../state/sealed-file.ts';

// A lock that began with jobs that a person brought back – adopted, imported – says nothing of the others that the one
// before it had. Until somebody says that all the rest is new, they are still looked for.

/** Notes that the lock began so. Where it cannot be kept, the rest is taken for new. */
export async function noteBegunLock(lockPath: string): Promise<void> {
  const { state, name } = placeOf(lockPath);
  await orForgotten(() => writeSealedFile(state, name, 'begun'));
}

export async function hasBegunSo(lockPath: string): Promise<boolean> {
  const { state, name } = placeOf(lockPath);
  return (await orForgotten(() => readSealedFile(state, name, 100))) !== undefined;
}

export async function forgetBegunLock(lockPath: string): Promise<void> {
  const { state, name } = placeOf(lockPath);
  await orForgotten(() => rm(join(state, name), { force: true }));
}

function placeOf(lockPath: string): { state: string; name: string } {
  return { state: join(dirname(lockPath), '.mediabatch'), name: `${basename(lockPath)}.begun` };
}
