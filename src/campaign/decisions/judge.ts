import { CampaignError } from '../../contract/failure.ts';
import { isPlainText } from '../../ground/plain-text.ts';
import { mostNote } from '../../lock/decisions.ts';
import { comparePicks } from '../../plan/compare-picks.ts';
import type { DecidedGate } from '../../plan/decided-graph.ts';
import { gatesByMember } from '../../plan/gates.ts';
import { type Judgement, judgeSteps } from '../../plan/judge.ts';
import type { Ruling } from '../../plan/ruling.ts';
import { chooseSteps } from '../choose-steps.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { Chosen } from './pin.ts';
import { readPicks } from './read-picks.ts';

export interface JudgeOptions extends DecideOptions {
  /** Why, in 1 to 500 characters. Absent: a note that is there stays. */
  note?: string | undefined;
}

/** Picks outputs at their gates: what hangs on a gate is made from them. Where one is picked it takes an earlier one's place. */
export function pick(campaign: OpenCampaign, chosen: Chosen, options: JudgeOptions = {}): Promise<Decided> {
  return judge(campaign, chosen, { ...options, as: 'picked' });
}

/** Turns outputs down at their gates. */
export function reject(campaign: OpenCampaign, chosen: Chosen, options: JudgeOptions = {}): Promise<Decided> {
  return judge(campaign, chosen, { ...options, as: 'rejected' });
}

/** Takes verdicts back: the outputs are neither picked nor rejected. */
export function unpick(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  return judge(campaign, chosen, { ...options, as: 'undecided' });
}

/**
 * Records what people picked and rejected elsewhere, by their files (`picks.json`). Where they differ nothing is recorded,
 * and the ruling says who says what.
 */
export function pickFrom(
  campaign: OpenCampaign,
  files: readonly string[],
  options: DecideOptions = {},
): Promise<Decided> {
  return decide(campaign, options, async ({ situation }) => {
    const { graph, byAddress, gateOf } = situation;
    const opinions = (await Promise.all(files.map(readPicks))).flat();
    const rulings: Ruling[] = [];
    const current = opinions.filter(({ address, by, job }) => {
      const match = byAddress.get(address);
      if (match === undefined) {
        rulings.push({ is: 'unchanged', address, text: `is no step of the manifest any more (${by})` });
      } else if (job !== undefined && job !== match.purchase?.jobId) {
        rulings.push({ is: 'unchanged', address, text: `is not what ${by} looked at, which was job ${job}` });
      } else return true;
      return false;
    });
    const { agreed, differing } = comparePicks(current, gateOf);
    rulings.push(...differing.map((one): Ruling => ({ is: 'unchanged', ...one })));
    // Picks of one gate are judged together; notes may differ from step to step. What is rejected here makes room for them.
    const rejected = new Set(agreed.flatMap(({ address, is }) => (is === 'rejected' ? [address] : [])));
    const roomy = { ...situation, gateOf: gatesByMember(graph.gates.map((gate) => withoutPicks(gate, rejected))) };
    const judged = (['rejected', 'picked'] as const).flatMap((as) => {
      const own = agreed.filter(({ is }) => is === as);
      const notes = new Map(own.map(({ address, note }) => [address, note]));
      const meant = own.flatMap(({ address }) => byAddress.get(address) ?? []);
      const told = judgeSteps(meant, { as, noteOf: (address) => notes.get(address) }, roomy);
      return as === 'picked' ? told : told.map(sayRejected);
    });
    const refused = judged.filter(({ is }) => is === 'refused');
    return refused.length > 0 ? refused : [...judged, ...rulings];
  });
}

function withoutPicks({ state, ...gate }: DecidedGate, rejected: ReadonlySet<string>): DecidedGate {
  return { ...gate, state: { ...state, picked: state.picked.filter((address) => !rejected.has(address)) } };
}

/** Says of a rejection that it is one: the command is called `pick`, whatever its files say. */
function sayRejected(ruling: Ruling): Ruling {
  return ruling.is === 'recorded' ? { ...ruling, text: `is rejected, ${ruling.text}` } : ruling;
}

function judge(
  campaign: OpenCampaign,
  chosen: Chosen,
  { as, note, ...options }: JudgeOptions & Pick<Judgement, 'as'>,
): Promise<Decided> {
  return decide(campaign, options, ({ situation }) => {
    checkNote(note);
    const addresses = new Set(chooseSteps(chosen.names ?? [], chosen.select, situation));
    const meant = situation.matches.filter(({ step }) => addresses.has(step.address));
    return judgeSteps(meant, { as, noteOf: () => note }, situation);
  });
}

/** Refuses a note that the lock would not take. */
function checkNote(note: string | undefined): void {
  if (note === undefined) return;
  const { length } = note;
  if (isPlainText(note, mostNote)) return;
  throw new CampaignError({
    code: 'MB3001',
    message: `--note has ${length} characters, or some that cannot be printed`,
    hint: `write 1 to ${mostNote} characters on one line; nothing was recorded`,
    options: ['--note'],
  });
}
