import { randomBytes } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { readSmallFile } from '../disk/fs/plain-file.ts';
import { writeNewFile } from '../disk/fs/replace.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';

/** Where the files of runs go, for whoever reaches it. */
export interface Store {
  /** Tells it from every other store, whatever it is called on a machine. */
  id: string;
  /** As a person named it. */
  name: string;
  /** Absolute folder of the outputs of a campaign. */
  outputsOf(campaign: string): string;
}

const marker = 'store.json';
const mostBytes = 4096;

/**
 * A folder that all machines share. A marker in it says so: a folder without one may be a place where something is to be
 * mounted, so it is refused (MB3705) unless `makes`, which puts one there.
 */
export async function openStore(name: string, { makes }: { makes: boolean }): Promise<Store> {
  const folder = resolve(name);
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) throw unusable(name, 'is no folder on this machine');
  const state = join(folder, '.mediabatch');
  const id = readMarker(name, join(state, marker)) ?? (makes ? await makeMarker(name, state) : undefined);
  if (id === undefined) throw unusable(name, 'has no .mediabatch/store.json, so nothing was ever saved there');
  return { id, name, outputsOf: (campaign) => join(folder, campaign) };
}

function readMarker(name: string, path: string): string | undefined {
  const bytes = readSmallFile(path, mostBytes);
  if (bytes === undefined) return undefined;
  const found = parse(bytes.toString('utf8'));
  if (isMap(found) && typeof found.id === 'string' && /^[0-9a-f]{16}$/.test(found.id)) return found.id;
  throw unusable(name, 'has a .mediabatch/store.json that is damaged');
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Of two that make one at once, the first one counts. */
async function makeMarker(name: string, state: string): Promise<string | undefined> {
  const path = join(state, marker);
  const id = randomBytes(8).toString('hex');
  // Every user of the store has to read it.
  await mkdir(state, { recursive: true });
  try {
    await writeNewFile(path, Buffer.from(`${JSON.stringify({ mediabatch: 'store', version: 1, id })}\n`));
  } catch (error) {
    const there = readMarker(name, path);
    if (there === undefined) throw error;
    return there;
  }
  return id;
}

function unusable(name: string, why: string): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: `the store ${name} ${why}`,
    hint: 'check whether it is mounted; `apply --store` makes a new store in a folder that is there',
  });
}
