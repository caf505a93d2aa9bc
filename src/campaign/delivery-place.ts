import { join, resolve } from 'node:path';
import { OutputError, UnsafeFileError } from '../contract/errors.ts';
import { CampaignError } from '../contract/failure.ts';
import { findHiddenPart, findWayOut } from '../disk/fs/own-tree.ts';
import { deliverFile, lookAtDelivery } from '../disk/outputs/deliver-file.ts';
import { messageOf } from '../ground/values.ts';
import type { Output } from '../lock/record.ts';
import { refuseOther, saveOwnFile } from './own-file.ts';
import { ownList, readOutputsList } from './save-outputs-list.ts';

interface FoundThere {
  bytes: number;
  /** Omitted when the digest was not recorded. */
  sha256?: string | undefined;
}

/** Destination of a delivery. All functions throw a `CampaignError` that names it. */
export interface DeliveryPlace {
  look(name: string): Promise<FoundThere | undefined>;
  /**
   * Copies a file to a name and replaces an existing one. Returns false if the source differs from the recorded output.
   */
  put(source: string, name: string, output: Output): Promise<boolean>;
  /** Returns the existing list of this name. Refuses a file that this program did not write. */
  readIndex(name: string): Promise<string | undefined>;
  putIndex(name: string, text: string): Promise<void>;
}

/** A folder, created if missing. `lock`: path of the campaign's lock. */
export function folderPlace(to: string, { lock }: { lock: string }): DeliveryPlace {
  const root = resolve(to);
  const hidden = findHiddenPart(root);
  const wayOut = hidden === undefined ? findWayOut(root) : `it has the hidden part ${hidden}`;
  if (wayOut !== undefined) {
    const message = `--to: cannot deliver to ${to}: ${wayOut}`;
    throw new CampaignError({ code: 'MB3301', message, hint: 'choose another folder', path: to });
  }
  const own = (name: string) => ({
    ...ownList('csv'),
    lock,
    name: { asked: '--to', path: join(to, name) },
  });
  return {
    look: (name) => onDisk(to, () => lookAtDelivery(root, name)),
    put: (source, name, { sha256 }) => onDisk(to, () => deliverFile(source, { root, name, sha256 })),
    readIndex: async (name) => {
      const path = join(root, name);
      refuseOther(path, own(name));
      return readOutputsList(path);
    },
    putIndex: (name, text) => saveOwnFile(join(root, name), text, own(name)),
  };
}

export function notDelivered(to: string, why: string): CampaignError {
  const hint = 'copied files stay; run the same command again to continue';
  return new CampaignError({ code: 'MB3301', message: `--to: ${to}: ${why}`, hint, path: to });
}

async function onDisk<T>(to: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfDisk = error instanceof OutputError || error instanceof UnsafeFileError;
    if (!isOfDisk && (error as NodeJS.ErrnoException).code === undefined) throw error;
    throw notDelivered(to, messageOf(error));
  }
}
