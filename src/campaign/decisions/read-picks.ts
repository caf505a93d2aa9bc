import { basename } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import { orForgotten, readJsonFile } from '../../disk/state/kept-json.ts';
import type { Json } from '../../ground/json.ts';
import { isPlainText } from '../../ground/plain-text.ts';
import { isMap } from '../../ground/values.ts';
import { mostNote } from '../../lock/decisions.ts';
import type { Opinion } from '../../plan/compare-picks.ts';

const mostBytes = 1 << 24;

/** UTF-16 code units of a name, and of an address: longer than any that a manifest makes. */
const mostName = 100;
const mostAddress = 4096;

/**
 * Reads one person's picks: `{ "mediabatch": "picks", "version": 1, "by": "Ada", "verdicts": [{ "address", "is", "note"?,
 * "job"? }] }`. Without `by` they are named after the file. Throws a `CampaignError` for anything else.
 */
export async function readPicks(path: string): Promise<Opinion[]> {
  const document = await orForgotten(() => readJsonFile(path, mostBytes));
  if (!isMap(document) || document.mediabatch !== 'picks') throw unusable(path, 'is not there, or is no file of picks');
  if (document.version !== 1) throw unusable(path, 'is of a version that is not known here');
  const { by = basename(path), verdicts } = document;
  if (!Array.isArray(verdicts)) throw unusable(path, 'is not whole');
  if (!isPlainText(by, mostName))
    throw unusable(path, `has no usable name in "by": a text of 1 to ${mostName} characters`);
  return verdicts.map((one, index) => {
    const opinion = readOpinion(one, by);
    if (opinion === undefined) throw unusable(path, `has a verdict that is none, the one numbered ${index + 1}`);
    return opinion;
  });
}

function readOpinion(value: Json, by: string): Opinion | undefined {
  if (!isMap(value)) return undefined;
  const { address, is, note, job } = value;
  if (!isPlainText(address, mostAddress) || (is !== 'picked' && is !== 'rejected')) return undefined;
  // What somebody else wrote is printed, and joined into the note that the lock keeps.
  if ([note, job].some((text) => text !== undefined && !isPlainText(text, mostNote))) return undefined;
  return {
    ...{ by, address, is },
    ...(typeof note === 'string' && { note }),
    ...(typeof job === 'string' && { job }),
  };
}

function unusable(path: string, what: string): CampaignError {
  return new CampaignError({
    code: 'MB3001',
    message: `--from ${path} ${what}`,
    hint: 'give a file that the review page saved; nothing was recorded',
    options: ['--from'],
  });
}
