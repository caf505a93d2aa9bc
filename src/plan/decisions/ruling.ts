import { type Advice, call, way } from '../../ground/advice.ts';
import { kinds } from '../../kinds/index.ts';
import { mostRevision } from '../../lock/decisions.ts';
import type { Job, StepRecord } from '../../lock/record.ts';
import type { Situation } from '../situation/situation.ts';

/** Result of a user's decision about a step. `text` continues a sentence that begins with the address. */
export type Ruling =
  | {
      is: 'recorded';
      address: string;
      text: string;
      records: StepRecord[];
      /** Set if the command was `pick --from` and the decision in the file is a rejection. */
      as?: 'reject';
    }
  | { is: 'unchanged'; address: string; text: string }
  | { is: 'refused'; address: string; text: string; hint: Advice };

export function refuse(address: string, text: string, hint: Advice): Ruling {
  return { is: 'refused', address, text, hint };
}

export function refuseOpenSend(address: string, of = address): Ruling {
  const text = of === address ? 'has a create request' : `cannot take over ${of}: it has a create request`;
  const hint = way('run apply, which sends the create request again; if the answer stays lost', call('resolve', of));
  return refuse(address, `${text} whose answer was lost`, hint);
}

export function refuseAtLast(address: string, before: { revision: number } | undefined): Ruling | undefined {
  if (before === undefined || before.revision < mostRevision) return undefined;
  const text = `can no longer be decided: the last decision has revision ${before.revision} in the lock, which is the maximum`;
  return refuse(address, text, 'mediabatch did not write this revision: lower it in the lock by hand');
}

export function nameOfJob({ jobId, credits }: Job): string {
  return credits === undefined ? `job ${jobId}` : `job ${jobId} (${creditsOf(credits)})`;
}

export function creditsOf(credits: number | null): string {
  if (credits === null) return 'an unknown number of credits';
  return credits === 1 ? '1 credit' : `${credits} credits`;
}

const mostNamed = 10;

export function withGivenUp(
  rulings: readonly Ruling[],
  as: 'picked' | 'rejected' | 'undecided',
  situation: Pick<Situation, 'gateOf' | 'matches'>,
): Ruling[] {
  return rulings.map((ruling): Ruling => {
    const { address } = ruling;
    const gate = situation.gateOf.get(address);
    if (ruling.is !== 'recorded' || gate === undefined) return ruling;
    const isPick = as === 'picked' && ruling.as === undefined;
    // A pick at a gate that allows several picks replaces no earlier pick: surplus picks are refused.
    const lost = isPick && gate.choose > 1 ? [] : gate.state.picked.filter((one) => (one === address) !== isPick);
    const given = lost.length === 0 ? '' : givenUpFor(lost, situation);
    return given === '' ? ruling : { ...ruling, text: `${ruling.text}; gives up ${given}` };
  });
}

function givenUpFor(lost: readonly string[], { matches }: Pick<Situation, 'matches'>): string {
  const made = new Set(lost);
  // Steps are in order of dependency. A pinned or accepted step keeps its purchase.
  const given = matches.flatMap(({ step, purchase }) => {
    const { address, needs, kind, decided } = step;
    if (decided !== undefined || kinds[kind]?.act !== 'job' || !needs.some((need) => made.has(need))) return [];
    made.add(address);
    return purchase?.jobId === undefined ? [] : [{ address, credits: purchase.credits ?? null }];
  });
  if (given.length === 0) return '';
  const sum = given.reduce<number | null>(
    (all, { credits }) => (all === null || credits === null ? null : all + credits),
    0,
  );
  const more = given.length - mostNamed;
  const names = given.slice(0, mostNamed).map(({ address }) => address);
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}, ${creditsOf(sum)}`;
}
