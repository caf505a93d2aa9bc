import type { ReviewAsset, WantedVerdict } from '../../contract/review.ts';
import { stateWords } from '../parts/words.ts';
import { type Mark, markOf, type Own, type Shown } from './shown.ts';

export type Decision = { is: 'made'; verdicts: WantedVerdict[]; text: string } | { is: 'refused'; text: string };

export interface Wish {
  address: string;
  is: Mark;
  note?: string | undefined;
}

/** Takes a verdict back: the verdicts of before, and the asset that it was about. */
export interface Step {
  address: string;
  verdicts: WantedVerdict[];
}

/** UTF-16 code units of a note, as the lock takes it. */
export const mostNote = 500;

/** A text that somebody typed or pasted, as the lock takes it: on one line, without halves of characters. */
export function plainNote(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, mostNote);
}

const words: Record<Mark, string> = { picked: 'Picked', rejected: 'Rejected', undecided: 'Undecided again:' };

/**
 * Decides about one asset. A pick where one is to be picked takes the place of an earlier one, which the host un-picks by
 * itself; a pick too many is refused, with what to do. `note` of `undefined`: a note that is there stays.
 */
export function decide(shown: Shown, own: Own, { address, is, note }: Wish): Decision {
  const asset = shown.assets.get(address);
  const group = shown.groupOf.get(address);
  if (asset === undefined || group === undefined) return { is: 'refused', text: `${address} is not here any more.` };
  const { gate } = group.group;
  if (gate === undefined) return { is: 'refused', text: `${address} has no gate, so there is nothing to decide.` };
  const { job } = asset;
  if (!asset.isJudged || job === undefined) {
    return { is: 'refused', text: `Nothing to judge at ${address}: ${stateWords(asset) || 'it has no output'}.` };
  }
  const plain = note === undefined ? undefined : plainNote(note);
  const kept = plain ?? (markOf(asset) === is ? asset.verdict?.note : undefined);
  // Of two that are picked, as after a merge, picking one again settles it.
  const isContested = is === 'picked' && group.state === 'contested';
  if (markOf(asset) === is && (kept ?? '') === (asset.verdict?.note ?? '') && !isContested) {
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
  const verdict: WantedVerdict = { address, is, job, ...(kept !== undefined && { note: kept }) };
  const replaced = is === 'picked' && gate.choose === 1 ? others : [];
  const instead = replaced.length === 0 ? '' : `, instead of ${replaced.map((other) => other.address).join(', ')}`;
  return {
    is: 'made',
    // One that the host has goes by itself, and stays should this pick be refused.
    verdicts: [...replaced.flatMap((other) => (own.has(other.address) ? verdictOn(other, 'undecided') : [])), verdict],
    text: `${words[is]} ${address}${instead}${kept ? `: ${kept}` : '.'}`,
  };
}

/** Puts back everything in which the group of `address` differs. Picks last: each of them may un-pick another. */
export function undoOf(before: Shown, after: Shown, address: string): Step {
  const changed = (before.groupOf.get(address)?.assets ?? []).filter(
    (asset) => asset.verdict !== after.assets.get(asset.address)?.verdict,
  );
  const back = changed.flatMap((asset) => verdictOn(asset, markOf(asset), asset.verdict?.note ?? ''));
  const [picks, others] = [back.filter(({ is }) => is === 'picked'), back.filter(({ is }) => is !== 'picked')];
  return { address, verdicts: [...others, ...picks] };
}

function verdictOn({ address, job }: ReviewAsset, is: Mark, note?: string): WantedVerdict[] {
  return job === undefined ? [] : [{ address, is, job, ...(note !== undefined && { note }) }];
}
