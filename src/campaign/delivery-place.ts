import { join, resolve } from 'node:path';
import { OutputError, UnsafeFileError } from '../contract/errors.ts';
import { CampaignError } from '../contract/failure.ts';
import { findHiddenPart, findWayOut } from '../disk/fs/own-tree.ts';
import { deliverFile, lookAtDelivery } from '../disk/outputs/deliver-file.ts';
import { messageOf } from '../ground/values.ts';
import type { Output } from '../lock/record.ts';
import { refuseOther, saveOwnFile } from './own-file.ts';
import { ownList, readOutputsList } from './save-outputs-list.ts';

export interface FoundThere {
  bytes: number;
  /** Omitted when it was not recorded. */
  sha256?: string | undefined;
}

/** Where files are delivered to. Everything here throws a `CampaignError` that names the place. */
export interface DeliveryPlace {
  look(name: string): Promise<FoundThere | undefined>;
  /** Copies a file to a name, in place of what is there. False: it is not what was saved. */
  put(source: string, name: string, output: Output): Promise<boolean>;
  /** The list of this name as it is there. Refuses one that is none of ours. */
  readIndex(name: string): Promise<string | undefined>;
  putIndex(name: string, text: string): Promise<void>;
}

/** A folder, which is made where there is none. `lock`: path of the lock of the campaign. */
export function folderPlace(to: string, { lock }: { lock: string }): DeliveryPlace {
  const root = resolve(to);
  const hidden = findHiddenPart(root);
  const wayOut = hidden === undefined ? findWayOut(root) : `it has the hidden part ${hidden}`;
  if (wayOut !== undefined) {
    const message = `--to: nothing is delivered to ${to}: ${wayOut}`;
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

/** Says that a place refuses; what was copied before stays. */
export function notDelivered(to: string, why: string): CampaignError {
  const hint = 'what was copied stays; the same command goes on';
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
