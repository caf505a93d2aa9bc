import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { readStart } from '../disk/fs/plain-file.ts';
import { replaceFile } from '../disk/fs/replace.ts';
import { orForgotten, readJsonFile } from '../disk/state/caches.ts';
import { call, way } from '../ground/advice.ts';
import type { Json } from '../ground/json.ts';
import { isMap, messageOf } from '../ground/values.ts';

const startBytes = 1 << 16;

export interface OwnFile {
  lock: string;
  /** Returns true if mediabatch wrote the file that starts with this text. Other files are not overwritten. */
  isOwn(start: string): boolean;
  what: string;
  /** Names for messages. `asked`: the option for the path (default `--out`). `path`: the path as the user typed it. */
  name?: { asked: string; path: string };
}

export async function saveOwnFile(path: string, content: string | Uint8Array, own: OwnFile): Promise<void> {
  refuseOther(path, own);
  try {
    await replaceFile(path, content);
  } catch (error) {
    throw unsaved(path, own, `cannot be written: ${messageOf(error)}`, 'choose a path in an existing folder');
  }
}

export function refuseOther(path: string, own: OwnFile): void {
  const wayOut = findWayOut(dirname(resolve(path)));
  if (wayOut !== undefined) throw unsaved(path, own, `cannot be written: ${wayOut}`);
  if (resolve(path) === resolve(own.lock)) throw unsaved(path, own, 'is the lock of this campaign');
  if (!existsSync(path)) return;
  const start = readStart(path, startBytes);
  if (start !== undefined && own.isOwn(start)) return;
  throw unsaved(path, own, `already exists and is not a ${own.what}; it was not changed`);
}

function unsaved(path: string, { name }: OwnFile, why: string, hint = 'choose another name'): CampaignError {
  const { asked, path: shown } = name ?? { asked: '--out', path };
  return new CampaignError({ code: 'MB3301', message: `${asked}: ${shown} ${why}`, hint, path });
}

const mostPlanBytes = 1 << 29;

export async function readPlanFile(path: string): Promise<{ [key: string]: Json } | undefined> {
  const json = await orForgotten(() => readJsonFile(path, mostPlanBytes));
  return isMap(json) && json.mediabatch === 'plan' ? json : undefined;
}

const manifestStartBytes = 256;

export function typeOfOwn(start: string): string | undefined {
  return /^\s*\{[^{[]*?"mediabatch"\s*:\s*"([a-z ]{1,40})"/.exec(start)?.[1];
}

const own = new Map([
  ['plan', 'a plan'],
  ['lock', 'the lock of a campaign'],
]);

export function refuseOwnFile(file: string): void {
  if (!/\.jsonl?$/i.test(file)) return;
  const name = typeOfOwn(readStart(file, manifestStartBytes) ?? '');
  if (name === undefined) return;
  const what = own.get(name) ?? `a file that mediabatch wrote (${name})`;
  const toApply = way('to apply a saved plan', { ...call('apply'), file, bare: true as const });
  const hint = [...(name === 'plan' ? [toApply] : []), 'name the manifest of the campaign'];
  throw new CampaignError({ code: 'MB1001', message: `${file} is ${what}, not a manifest`, hint, file });
}
