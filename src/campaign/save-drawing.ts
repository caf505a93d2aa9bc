import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { readStart } from '../disk/fs/plain-file.ts';
import { replaceFile } from '../disk/fs/replace.ts';
import { messageOf } from '../ground/values.ts';

/** How every drawing begins, whatever its format: only such a file is written over. */
const ownStart = /^(?:<!--|%%|\/\/) mediabatch graph\b|^\{\s*"mediabatch": "graph"/;

/** Writes a drawing to a file of a person's choice: a new one, or an earlier drawing. `lock`: the path of the lock. */
export async function saveDrawing(path: string, text: string, { lock }: { lock: string }): Promise<void> {
  const wayOut = findWayOut(dirname(resolve(path)));
  if (wayOut !== undefined) throw unsaved(path, `is not written: ${wayOut}`);
  if (resolve(path) === resolve(lock)) throw unsaved(path, 'is the lock of this campaign');
  if (existsSync(path) && !ownStart.test(readStart(path, 200) ?? '')) {
    throw unsaved(path, 'is there already, and is no graph that was drawn before; it was left as it is');
  }
  try {
    await replaceFile(path, text);
  } catch (error) {
    throw unsaved(path, `cannot be written: ${messageOf(error)}`, 'give a file in a folder that exists');
  }
}

function unsaved(path: string, why: string, hint = 'choose another name'): CampaignError {
  return new CampaignError({ code: 'MB3301', message: `--out: ${path} ${why}`, hint, path });
}
