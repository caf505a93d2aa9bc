import { constants } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { isErrno } from './plain-file.ts';

/** True when this error means that a file cannot have a second name there; a copy may still do. */
export function refusesLink(error: unknown): boolean {
  return isErrno(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV');
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
