import type { Gate } from '../../graph/graph.ts';
import { groupBy } from '../../ground/values.ts';
import { mostRevision } from '../../lock/decisions.ts';
import type { Job, StepRecord, Verdict } from '../../lock/record.ts';
import type { DecidedGate, Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import type { Verdicts } from '../situation/verdicts.ts';
import { findOwn } from './pin.ts';
import { nameOfJob, type Ruling, refuse, refuseAtLast } from './ruling.ts';

const mostNamed = 10;

type Bought = Match & { purchase: Job };

/** Review decision about outputs. `undecided` removes an earlier review decision. */
export interface Judgement {
  as: 'picked' | 'rejected' | 'undecided';
  /** Set if a pattern chose the steps, so that steps without an output are skipped instead of refused. */
  isPattern?: boolean;
  replaces?: boolean | undefined;
  wordsOf(address: string): VerdictWords;
}

/** Texts of a review decision. If a text is omitted, the earlier text stays recorded. An empty text removes it. */
interface VerdictWords {
  note?: string | undefined;
  reason?: string | undefined;
  by?: string | undefined;
}

type JudgeFacts = Pick<Situation, 'graph' | 'byAddress' | 'verdicts'> & { gateOf: GateOf };

type GateOf = Pick<Situation['gateOf'], 'get'>;

/** Records review decisions about outputs at gates. If one of the decisions is refused, none is recorded. */
export function judgeSteps(
  chosen: readonly Match[],
  judgement: Judgement,
  { graph, gateOf, byAddress, verdicts }: JudgeFacts,
): Ruling[] {
  const leftAlone = new Set<string>();
  const judged = chosen.map((match) => {
    const { address } = match.step;
    const gate = gateOf.get(address);
    if (gate === undefined) return refuseUngated(match, graph.gates);
    const why = whyLeftAlone(match, gate, { judgement, verdicts });
    if (why === undefined) return judgeStep(match, judgement, verdicts);
    leftAlone.add(address);
    return { is: 'unchanged', address, text: `${why}; --replace picks this output anyway` } as const;
  });
  const isAny = judged.some(({ is }) => is !== 'refused');
  const unpick = (address: string) => {
    const match = byAddress.get(address);
    return match?.record === undefined ? [] : withVerdict(match, match.record, { verdicts });
  };
  const limited =
    judgement.as === 'picked'
      ? limitPicks(judged, (address) => (leftAlone.has(address) ? undefined : gateOf.get(address)), unpick)
      : judged;
  const leavesOut = judgement.isPattern === true && isAny;
  const rulings = limited.map((one, index) => (leavesOut && judged[index]?.is === 'refused' ? leaveOut(one) : one));
  // A gate with too many picks has only one refusal in the result.
  const refused = new Map(rulings.flatMap((one) => (one.is === 'refused' ? [[one.address, one]] : [])));
  return refused.size > 0 ? [...refused.values()] : rulings;
}

function whyLeftAlone(
  match: Match,
  { name, state }: DecidedGate,
  { judgement, verdicts }: { judgement: Judgement; verdicts: Verdicts },
): string | undefined {
  const { as, isPattern, replaces } = judgement;
  if (as !== 'picked' || isPattern !== true || replaces === true) return undefined;
  if (state.picked.includes(match.step.address)) return undefined;
  if (state.is === 'decided') return `${name} is decided: ${listOf(state.picked)}`;
  return verdicts.seen(match) === 'rejected' ? 'is rejected' : undefined;
}

function leaveOut(ruling: Ruling): Ruling {
  return ruling.is === 'refused' ? { is: 'unchanged', address: ruling.address, text: ruling.text } : ruling;
}

function refuseUngated({ step: { address, task } }: Match, gates: readonly Gate[]): Ruling {
  const canaries = gates.filter((gate) => gate.is === 'canary' && gate.task === task).flatMap(({ members }) => members);
  if (canaries.length > 0) {
    return refuse(address, 'is not a canary, so it needs no decision', `decide about ${listOf(canaries)}`);
  }
  return refuse(address, 'has no gate', `add \`gate: approve\` to task \`${task}\`, or \`pin\` the outputs to keep`);
}

function judgeStep(match: Match, judgement: Judgement, verdicts: Verdicts): Ruling {
  const { address } = match.step;
  const found = findOwn(match);
  if ('is' in found) return found;
  const { record, purchase } = found;
  if (purchase.state !== 'done') {
    return refuse(address, `has ${nameOfJob(purchase)}, which is running`, 'run apply first, and check the output');
  }
  if (purchase.fingerprint !== match.step.fingerprint) {
    return refuse(address, 'will be redone: its input changed', 'run apply first, or `accept` the current output');
  }
  return judgePurchase({ ...match, purchase }, record, { judgement, verdicts });
}

function judgePurchase(
  match: Bought,
  record: StepRecord,
  { judgement, verdicts }: { judgement: Judgement; verdicts: Verdicts },
): Ruling {
  const { address } = record;
  const { as, wordsOf } = judgement;
  const words = wordsOf(address);
  const before = verdicts.on(match);
  const atLast = refuseAtLast(address, verdicts.newest(match));
  if (as === 'undecided') {
    if (before === undefined) return { is: 'unchanged', address, text: 'is neither picked nor rejected' };
    if (atLast !== undefined) return atLast;
    const records = withVerdict(match, record, { verdicts });
    return { is: 'recorded', address, text: `is no longer ${before.is}`, records };
  }
  const isSame = (['note', 'reason'] as const).every((name) => [undefined, before?.[name] ?? ''].includes(words[name]));
  if (before?.is === as && isSame) {
    return { is: 'unchanged', address, text: `is ${as} already` };
  }
  if (atLast !== undefined) return atLast;
  const kept: VerdictWords = before?.is === as ? before : {};
  const [note, reason, by] = [words.note ?? kept.note, words.reason ?? kept.reason, words.by ?? kept.by];
  const verdict = { is: as, ...(note && { note }), ...(reason && { reason }), ...(by && { by }) };
  const why = [reason, note].filter(Boolean).join('; ');
  const text = `${nameOfJob(match.purchase)}${why && `: ${why}`}`;
  return { is: 'recorded', address, text, records: withVerdict(match, record, { verdicts, verdict }) };
}

function withVerdict(
  match: Match,
  record: StepRecord,
  { verdicts, verdict = {} }: { verdicts: Verdicts; verdict?: Pick<Verdict, 'is' | 'note' | 'reason' | 'by'> },
): StepRecord[] {
  const { purchase, movedFrom: address = record.address } = match;
  if (purchase?.jobId === undefined) return [];
  const { fingerprint, jobId: job } = purchase;
  // If this decision has the highest allowed revision, the pick of another output cannot replace it.
  const revision = Math.min((verdicts.newest(match)?.revision ?? 0) + 1, mostRevision);
  const decisions = { verdicts: [{ fingerprint, job, ...verdict, revision }] };
  return [{ address, kind: record.kind, purchases: [purchase], decisions }];
}

function listOf(addresses: readonly string[]): string {
  const more = addresses.length - mostNamed;
  return more > 0 ? `${addresses.slice(0, mostNamed).join(', ')} … and ${more} more` : addresses.join(', ');
}

function limitPicks(
  rulings: readonly Ruling[],
  gateOf: GateOf['get'],
  unpick: (address: string) => StepRecord[],
): Ruling[] {
  const meant = rulings.filter(({ is }) => is !== 'refused');
  const byGate = groupBy(meant, ({ address }) => gateOf(address));
  return rulings.map((ruling): Ruling => {
    const gate = gateOf(ruling.address);
    if (ruling.is === 'refused' || gate === undefined) return ruling;
    const { name, choose } = gate;
    const named = (byGate.get(gate) ?? []).map(({ address }) => address);
    const others = gate.state.picked.filter((address) => !named.includes(address));
    if (named.length > choose) {
      const text = `can have only ${choose} ${choose === 1 ? 'pick' : 'picks'}, but ${named.length} of its outputs are named`;
      return refuse(name, text, `name ${choose === 1 ? 'one' : `at most ${choose}`} of ${listOf(named)}`);
    }
    if (choose > 1 && named.length + others.length > choose) {
      const text = `cannot be picked: only ${choose} of ${name} can be picked, and ${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} already picked`;
      return refuse(ruling.address, text, 'undo one pick with `pick --undo` first');
    }
    if (choose > 1 || others.length === 0) return ruling;
    const records = [...(ruling.is === 'recorded' ? ruling.records : []), ...others.flatMap(unpick)];
    return {
      is: 'recorded',
      address: ruling.address,
      text: `${ruling.text}; instead of ${others.join(', ')}`,
      records,
    };
  });
}
