import type { ReviewAsset, WantedVerdict } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';
import { mainFile, nameOf, problemOf, stateWords } from '../parts/words.ts';
import { type Mark, markOf, type Own, type Shown } from './shown.ts';

type Decision = { is: 'made'; verdicts: WantedVerdict[]; text: string } | { is: 'refused'; text: string };

interface Wish {
  address: string;
  is: Mark;
  note?: string | undefined;
  reason?: string | undefined;
}

/** Undo step: the address of the verdict to undo, and the earlier verdicts. */
export interface Step {
  address: string;
  verdicts: WantedVerdict[];
}

/** Maximum length of a note in UTF-16 code units, as in the lock. */
export const mostNote = 500;

/** Replaces control characters and lone surrogates of a note with spaces, because the lock rejects them. */
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
 * Validates a verdict and returns the verdicts to send. At a gate with `choose: 1`, a new pick replaces the earlier
 * pick: the host removes the earlier pick. At other gates, a surplus pick is refused. If `note` is undefined, an
 * existing note stays.
 */
export function decide(shown: Shown, own: Own, { address, is, note, reason }: Wish): Decision {
  const asset = shown.assets.get(address);
  const group = shown.groupOf.get(address);
  if (asset === undefined || group === undefined) {
    return { is: 'refused', text: address ? `${address} no longer exists here.` : 'No output is selected.' };
  }
  const name = nameOf(shown, address);
  const { gate } = group.group;
  if (gate === undefined) return { is: 'refused', text: `${name} is for viewing only: it cannot be picked.` };
  const { job } = asset;
  if (!asset.isJudged || job === undefined) {
    return { is: 'refused', text: `${name} cannot be picked or rejected: ${stateWords(asset) || 'it has no output'}.` };
  }
  const file = mainFile(asset);
  const problem = file?.problem && problemOf(file);
  if (is === 'picked' && problem !== undefined && markOf(asset) !== 'picked') {
    return {
      is: 'refused',
      text: `Not picked: ${problem}, so it cannot be reviewed. The next apply downloads the file, for 0 credits.`,
    };
  }
  const plain = note === undefined ? undefined : plainNote(note);
  const before = markOf(asset) === is ? asset.verdict : undefined;
  const [kept, keptReason] = [plain ?? before?.note, reason ?? before?.reason];
  // After a merge with two picks, another pick of one of the two resolves the conflict.
  const isContested = is === 'picked' && group.state === 'contested';
  const isSame = (kept ?? '') === (asset.verdict?.note ?? '') && (keptReason ?? '') === (asset.verdict?.reason ?? '');
  if (markOf(asset) === is && isSame && !isContested) {
    return { is: 'refused', text: `${name} is ${is} already.` };
  }
  const others = group.assets.filter((other) => other.address !== address && other.verdict?.is === 'picked');
  if (is === 'picked' && gate.choose > 1 && others.length >= gate.choose) {
    const names = others.map((other) => nameOf(shown, other.address)).join(', ');
    return {
      is: 'refused',
      text: `Not picked: only ${gate.choose} of ${group.group.title ?? group.group.name} can be picked, and ${names} are picked already. First remove one pick (U).`,
    };
  }
  const verdict: WantedVerdict = { ...{ address, is, job }, ...defined({ note: kept, reason: keptReason }) };
  const why = [keptReason, kept].filter(Boolean).join('; ');
  const replaced = is === 'picked' && gate.choose === 1 ? others : [];
  const instead =
    replaced.length === 0 ? '' : `, instead of ${replaced.map((other) => nameOf(shown, other.address)).join(', ')}`;
  return {
    is: 'made',
    // The host un-picks a recorded pick itself, and only if it accepts the new pick.
    verdicts: [...replaced.flatMap((other) => (own.has(other.address) ? verdictOn(other, 'undecided') : [])), verdict],
    text: `${words[is]} ${name}${instead}${why ? `: ${why}` : '.'}`,
  };
}

/**
 * Returns the paid steps that the next run would redo, because they use, directly or indirectly, an output that lost
 * its pick.
 */
export function givenUp(before: Shown, after: Shown, address: string): ReviewAsset[] {
  const lost = (before.groupOf.get(address)?.assets ?? []).filter(
    (asset) => markOf(asset) === 'picked' && after.assets.get(asset.address)?.verdict?.is !== 'picked',
  );
  const used = new Set(lost.flatMap(({ usedBy }) => usedBy));
  // The loop adds assets to the set that it iterates over.
  for (const name of used) for (const user of after.assets.get(name)?.usedBy ?? []) used.add(user);
  return [...used].flatMap((name) => after.assets.get(name) ?? []).filter(({ state, job }) => state === 'done' && job);
}

/** Returns `verdicts`, which restore earlier decisions, preceded by verdicts that remove unrecorded picks. */
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

/**
 * Returns the undo step that restores the group of `address`. Its picks come last, because a pick may remove another
 * pick.
 */
export function undoOf(before: Shown, after: Shown, address: string): Step {
  const changed = (before.groupOf.get(address)?.assets ?? []).filter(
    (asset) => asset.verdict !== after.assets.get(asset.address)?.verdict,
  );
  const back = changed.flatMap((asset) => {
    const { note = '', reason, by } = asset.verdict ?? {};
    // An empty reason removes the reason that the user gave with the verdict to undo.
    const isNew = reason === undefined && after.assets.get(asset.address)?.verdict?.reason !== undefined;
    return verdictOn(asset, markOf(asset), {
      note,
      ...defined({ by }),
      ...((isNew || reason !== undefined) && { reason: reason ?? '' }),
    });
  });
  const [picks, others] = [back.filter(({ is }) => is === 'picked'), back.filter(({ is }) => is !== 'picked')];
  return { address, verdicts: [...others, ...picks] };
}

function verdictOn(
  { address, job }: ReviewAsset,
  is: Mark,
  words: Pick<WantedVerdict, 'note' | 'reason' | 'by'> = {},
): WantedVerdict[] {
  return job === undefined ? [] : [{ address, is, job, ...words }];
}
