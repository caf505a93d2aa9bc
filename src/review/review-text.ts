import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { planByLock } from '../campaign/outputs-on-disk.ts';
import type { JudgeAnswer, ReviewData, ReviewGroup, WantedVerdict } from '../contract/review.ts';
import { PlacedFiles } from '../disk/outputs/check-outputs.ts';
import { call } from '../ground/advice.ts';
import { defined } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { isSpending } from '../plan/actions.ts';
import type { Ruling } from '../plan/decisions/ruling.ts';
import type { Plan, PlanRow } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import type { Situation } from '../plan/situation/situation.ts';
import { adviceText, type Paste } from '../report/advice-text.ts';
import { countOf } from '../report/numbers.ts';

export function describeReview(data: ReviewData): string {
  const look = `${countOf(data.assets.filter(({ files }) => files.length > 0).length, 'output')} to review`;
  const gates = describeGates(data, '');
  return gates === undefined ? `${look}; no task has a gate, so there is nothing to decide` : `${gates}, ${look}`;
}

export function describeReviewed(before: ReviewData, now: ReviewData, paste: Paste): string {
  const earlier = new Map(before.assets.map(({ address, job, verdict }) => [address, `${job} ${verdict?.is}`]));
  const changed = now.assets.filter(({ address, job, verdict }) => earlier.get(address) !== `${job} ${verdict?.is}`);
  const count = (is: string) => changed.filter(({ verdict }) => verdict?.is === is).length;
  const [picked, rejected] = [count('picked'), count('rejected')];
  const gates = describeGates(now, 'still ');
  const next = picked + rejected > 0 ? `  then: ${paste(call('apply'))}\n` : '';
  return `${[`picked ${picked}`, `rejected ${rejected}`, ...(gates === undefined ? [] : [gates])].join(', ')}\n${next}`;
}

/** Returns a text such as `Buy 7 films, ≈ 140 credits`. Undefined if there is nothing to buy or a gate is undecided. */
export function describeNext(
  { groups, assets }: Pick<ReviewData, 'groups' | 'assets'>,
  rows: readonly Pick<PlanRow, 'action' | 'kind' | 'credits' | 'price'>[],
  paste: Paste,
): ReviewData['next'] {
  const bought = rows.filter(({ action }) => isSpending(action));
  const isDecided = groups.some(({ gate }) => gate?.state === 'decided');
  const isOpen = openGates({ groups, assets }).some(({ gate }) => gate?.state !== 'rejected');
  if (bought.length === 0 || !isDecided || isOpen) return undefined;
  const [noun, other] = new Set(bought.map(({ kind }) => nounOf(kind)));
  const prices = bought.map(({ credits, price }) => credits ?? price?.likely ?? null);
  const isExact = bought.every(({ credits }) => credits !== null);
  const sum = countOf(
    prices.reduce<number>((all, one) => all + (one ?? 0), 0),
    'credit',
  );
  const cost = prices.includes(null) ? 'at an unknown price' : `${isExact ? '' : '≈ '}${sum}`;
  const text = `Buy ${countOf(bought.length, (other === undefined && noun) || 'step')}, ${cost}`;
  return { text, command: paste(call('apply')) };
}

function describeGates({ groups, assets }: ReviewData, still: string): string | undefined {
  const rejected = groups.filter((group) => isUndecided(group) && group.gate?.state === 'rejected').length;
  const open = openGates({ groups, assets }).length - rejected;
  const lost =
    rejected === 0 ? '' : `, ${countOf(rejected, 'group')} ${rejected === 1 ? 'needs' : 'need'} replacements`;
  if (open > 0) return `${countOf(open, 'gate')} ${open === 1 ? 'is' : 'are'} ${still}open${lost}`;
  if (groups.filter(isUndecided).length > rejected) return `the outputs of the open gates are not bought yet${lost}`;
  return groups.some(({ gate }) => gate !== undefined)
    ? `every ${rejected > 0 ? 'other ' : ''}gate is decided${lost}`
    : undefined;
}

function openGates({ groups, assets }: Pick<ReviewData, 'groups' | 'assets'>): ReviewGroup[] {
  const isReady = ({ members }: ReviewGroup) => members.some((index) => assets[index]?.isJudged === true);
  return groups.filter((group) => isUndecided(group) && isReady(group));
}

function isUndecided({ gate }: ReviewGroup): boolean {
  // A rejection of the outputs of an `approve` gate decides the gate.
  const isRefused = gate?.is === 'approve' && gate.state === 'rejected';
  return gate !== undefined && gate.state !== 'decided' && !isRefused;
}

export function reviewCommands(paste: Paste): NonNullable<ReviewData['commands']> {
  return { pick: paste(call('pick')), redo: paste(call('apply', '--redo')) };
}

/**
 * Adds the user's name to verdicts. If an undo restores another user's verdict, the verdict keeps the name of that
 * user.
 */
export function attributedTo(by: string | undefined, verdicts: readonly WantedVerdict[]): WantedVerdict[] {
  return verdicts.map((verdict) => ({ ...defined({ by }), ...verdict }));
}

const nouns = { image: 'picture', audio: 'sound', video: 'film', none: undefined } as const;

export function nounOf(kind: string): string | undefined {
  return nouns[kinds[kind]?.media ?? 'none'];
}

type Refusal = Extract<JudgeAnswer, { is: 'recorded' }>['refused'][number];

export function refusalsOf(rulings: readonly Ruling[], paste: Paste): Refusal[] {
  return rulings.flatMap((ruling) => {
    if (ruling.is !== 'refused') return [];
    const { address, text, hint } = ruling;
    return [{ address, text, hint: adviceText(hint, paste) }];
  });
}

export function planForPage(campaign: OpenCampaign, situation: Situation, hints: PriceHints): Plan {
  const placed = new PlacedFiles(campaign.paths.outputs);
  return planByLock(campaign, situation, {
    hints,
    fileState: (output) => {
      const found = placed.inspect(output);
      return typeof found !== 'string' ? 'intact' : found === 'missing' ? 'missing' : 'changed';
    },
  });
}
