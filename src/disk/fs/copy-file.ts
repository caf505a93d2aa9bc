import { constants } from 'node:fs';
import { copyFile, link, open } from 'node:fs/promises';
import { hasNoLinks } from './plain-file.ts';

/** Gives a file a second name, which must be free; a durable copy where it cannot have one. */
export async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    if (!hasNoLinks(error)) throw error;
    await copyDurably(source, target);
  }
}

/** Copies to a name that must be free, durable except for that name. Shares blocks where the file system can. */
export async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const handle = await open(target, constants.O_RDWR);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
