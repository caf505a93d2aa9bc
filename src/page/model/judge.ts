import type { ReviewAsset, WantedVerdict } from '../../contract/review.ts';
import { mainFile, problemOf, stateWords } from '../parts/words.ts';
import { type Mark, markOf, type Own, type Shown } from './shown.ts';

export type Decision = { is: 'made'; verdicts: WantedVerdict[]; text: string } | { is: 'refused'; text: string };

export interface Wish {
  address: string;
  is: Mark;
  note?: string | undefined;
  reason?: string | undefined;
}

/** A note on an output, made before the decision about it. */
export interface Remark {
  note?: string;
  /** It is the one to take if what is picked turns out to be of no use. */
  isSecond?: boolean;
}

/** Takes a verdict back: the verdicts of before, the asset that it was about, and what was noted on that without one. */
export interface Step {
  address: string;
  verdicts: WantedVerdict[];
  remark?: Remark | undefined;
}

/** UTF-16 code units of a note, as the lock takes it. */
export const mostNote = 500;

/** A text that somebody typed or pasted, as the lock takes it: on one line, without halves of characters. */
export function plainNote(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, mostNote)
    .replace(/\p{Cs}$/u, '')
    .trimEnd();
}

const words: Record<Mark, string> = { picked: 'Picked', rejected: 'Rejected', undecided: 'Undecided again:' };

/**
 * Decides about one asset. A pick where one is to be picked takes the place of an earlier one, which the host un-picks by
 * itself; a pick too many is refused, with what to do. `note` of `undefined`: a note that is there stays.
 */
export function decide(shown: Shown, own: Own, { address, is, note, reason }: Wish): Decision {
  const asset = shown.assets.get(address);
  const group = shown.groupOf.get(address);
  if (asset === undefined || group === undefined) return { is: 'refused', text: `${address} no longer exists here.` };
  const { gate } = group.group;
  if (gate === undefined) return { is: 'refused', text: `${address} has no gate, so there is nothing to decide.` };
  const { job } = asset;
  if (!asset.isJudged || job === undefined) {
    return { is: 'refused', text: `Nothing to judge at ${address}: ${stateWords(asset) || 'it has no output'}.` };
  }
  const file = mainFile(asset);
  const problem = file?.problem && problemOf(file);
  if (is === 'picked' && problem !== undefined && markOf(asset) !== 'picked') {
    return { is: 'refused', text: `Not picked, unseen: ${problem}; the next apply brings it, for 0 credits.` };
  }
  const plain = note === undefined ? undefined : plainNote(note);
  const before = markOf(asset) === is ? asset.verdict : undefined;
  const [kept, keptReason] = [plain ?? before?.note, reason ?? before?.reason];
  // Of two that are picked, as after a merge, picking one again settles it.
  const isContested = is === 'picked' && group.state === 'contested';
  const isSame = (kept ?? '') === (asset.verdict?.note ?? '') && (keptReason ?? '') === (asset.verdict?.reason ?? '');
  if (markOf(asset) === is && isSame && !isContested) {
    return { is: 'refused', text: `${address} is ${is} already.` };
  }
  const others = group.assets.filter((other) => other.address !== address && other.verdict?.is === 'picked');
  if (is === 'picked' && gate.choose > 1 && others.length >= gate.choose) {
    const names = others.map((other) => other.address).join(', ');
    return {
      is: 'refused',
      text: `Not picked: of ${group.group.name} ${gate.choose} are to be picked, and ${names} are already. Take one back first (U).`,
    };
  }
  const verdict: WantedVerdict = {
    ...{ address, is, job },
    ...(kept !== undefined && { note: kept }),
    ...(keptReason !== undefined && { reason: keptReason }),
  };
  const why = [keptReason, kept].filter(Boolean).join('; ');
  const replaced = is === 'picked' && gate.choose === 1 ? others : [];
  const instead = replaced.length === 0 ? '' : `, instead of ${replaced.map((other) => other.address).join(', ')}`;
  return {
    is: 'made',
    // One that the host has goes by itself, and stays should this pick be refused.
    verdicts: [...replaced.flatMap((other) => (own.has(other.address) ? verdictOn(other, 'undecided') : [])), verdict],
    text: `${words[is]} ${address}${instead}${why ? `: ${why}` : '.'}`,
  };
}

/** Paid steps that are made from picks of `before` which are none any more: the next run makes them again. */
export function givenUp(before: Shown, after: Shown, address: string): ReviewAsset[] {
  const lost = (before.groupOf.get(address)?.assets ?? []).filter(
    (asset) => markOf(asset) === 'picked' && after.assets.get(asset.address)?.verdict?.is !== 'picked',
  );
  const used = new Set(lost.flatMap(({ usedBy }) => usedBy));
  return [...used].flatMap((name) => after.assets.get(name) ?? []).filter(({ job, files }) => job && files.length > 0);
}

/**
 * Verdicts that put decisions back; first, the picks that the host does not have and that one of these replaces, because the
 * host un-picks only what it has.
 */
export function puttingBack(shown: Shown, own: Own, verdicts: readonly WantedVerdict[]): WantedVerdict[] {
  const meant = new Set(verdicts.map(({ address }) => address));
  const replaced = verdicts.flatMap(({ address, is }) => {
    const group = shown.groupOf.get(address);
    if (is !== 'picked' || group?.group.gate?.choose !== 1) return [];
    const isReplaced = (other: ReviewAsset) =>
      markOf(other) === 'picked' && own.has(other.address) && !meant.has(other.address);
    return group.assets.filter(isReplaced).flatMap((other) => verdictOn(other, 'undecided'));
  });
  return [...replaced, ...verdicts];
}

/** Puts back everything in which the group of `address` differs. Picks last: each of them may un-pick another. */
export function undoOf(before: Shown, after: Shown, address: string): Step {
  const changed = (before.groupOf.get(address)?.assets ?? []).filter(
    (asset) => asset.verdict !== after.assets.get(asset.address)?.verdict,
  );
  const back = changed.flatMap((asset) => {
    const { note = '', reason } = asset.verdict ?? {};
    // A reason that came with this verdict goes with it.
    const isNew = reason === undefined && after.assets.get(asset.address)?.verdict?.reason !== undefined;
    return verdictOn(asset, markOf(asset), { note, ...((isNew || reason !== undefined) && { reason: reason ?? '' }) });
  });
  const [picks, others] = [back.filter(({ is }) => is === 'picked'), back.filter(({ is }) => is !== 'picked')];
  return { address, verdicts: [...others, ...picks] };
}

function verdictOn(
  { address, job }: ReviewAsset,
  is: Mark,
  words: Pick<WantedVerdict, 'note' | 'reason'> = {},
): WantedVerdict[] {
  return job === undefined ? [] : [{ address, is, job, ...words }];
}
