import { extname } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import { isErrno, lstatOrAbsent } from '../disk/fs/plain-file.ts';
import { findOutputFile } from '../disk/outputs/output-path.ts';
import { knownExtensions } from '../disk/outputs/sniff.ts';
import { type Advice, call, way } from '../ground/advice.ts';
import { kinds } from '../kinds/index.ts';
import { isOutputPath } from '../lock/check-line.ts';
import { findSaved } from '../plan/outputs/list-outputs.ts';
import { writeName } from '../plan/select/names.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import type { Situation } from '../plan/situation/situation.ts';
import { requireStep } from './choose-steps.ts';
import type { CampaignPaths } from './paths.ts';

export interface StepFiles {
  address: string;
  /** Absolute, in the order of the outputs. Media files, by their names. */
  paths: string[];
  /** They were bought for an input that has changed since. */
  isEarlier: boolean;
}

/**
 * Output files of one step that are on this disk: those of its present request, else those that were bought before.
 * Throws a `CampaignError` that says how to get what is not here.
 */
export function findStepFiles(name: string, situation: Situation, paths: CampaignPaths): StepFiles {
  const { address, kind } = requireStep(name, situation.graph);
  if (kinds[kind]?.media === 'none') {
    throw none(address, { why: `a step of kind ${kind} gives no file`, hint: undefined });
  }
  const match = situation.byAddress.get(address);
  const { purchase, isEarlier } = match === undefined ? {} : findSaved(match);
  const outputs = purchase?.outputs ?? [];
  if (outputs.length === 0) throw none(address, whyNothing(address, match));
  const found = outputs.map(({ path }) => ({ path, file: findMediaFile(paths.outputs, path) }));
  const absent = found.find(({ file }) => file === undefined);
  if (absent !== undefined) {
    const fetches = isEarlier ? `its input has changed since, so this buys it anew` : 'this fetches it for free';
    const hint = way(fetches, call('apply', '--select', writeName(address)));
    throw none(address, { why: `${absent.path} is not here`, hint });
  }
  return { address, paths: found.flatMap(({ file }) => file ?? []), isEarlier: isEarlier === true };
}

function whyNothing(address: string, match: Match | undefined): { why: string; hint: Advice | undefined } {
  const select = call('apply', '--select', writeName(address));
  if (match?.purchase?.state === 'done' && match.purchase.outputs !== undefined) {
    return { why: 'its job gave nothing', hint: undefined };
  }
  if (match?.purchase?.state === 'done') {
    return { why: 'it is bought and not saved yet', hint: way('this fetches it for free', select) };
  }
  if (match?.sharesJobOf !== undefined) {
    const why = `it shares the job of ${match.sharesJobOf}, and is not saved yet`;
    return { why, hint: way('this saves it', select) };
  }
  if (match?.purchase?.state === 'running') return { why: 'its job is running', hint: way('this collects it', select) };
  return { why: 'it is not bought', hint: way('see what it costs', call('plan', '--select', writeName(address))) };
}

/** Finds a media file: a plain one that no link leads to, because a line of the lock can name any; else undefined. */
function findMediaFile(root: string, path: string): string | undefined {
  if (!isOutputPath(path) || !knownExtensions.includes(extname(path))) return undefined; // I23
  const file = findOutputFile(root, path);
  try {
    return file !== undefined && lstatOrAbsent(file)?.isFile() === true ? file : undefined;
  } catch (error) {
    if (isErrno(error, 'ENOTDIR', 'ENAMETOOLONG', 'EACCES')) return undefined;
    throw error;
  }
}

function none(address: string, { why, hint }: { why: string; hint: Advice | undefined }): CampaignError {
  return new CampaignError({ code: 'MB3002', message: `there is no file of ${address}: ${why}`, hint, name: address });
}
