import { kinds } from '../../kinds/index.ts';
import type { Situation } from '../situation/situation.ts';
import { creditsOf, type Ruling } from './ruling.ts';

const mostNamed = 10;

/**
 * Adds to each verdict that takes a pick away what it gives up: purchases made from that pick, directly or not, which
 * the next apply makes again.
 */
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
    // A gate of several picks keeps them: a surplus pick is refused.
    const lost = isPick && gate.choose > 1 ? [] : gate.state.picked.filter((one) => (one === address) !== isPick);
    const given = lost.length === 0 ? '' : givenUpFor(lost, situation);
    return given === '' ? ruling : { ...ruling, text: `${ruling.text}; gives up ${given}` };
  });
}

function givenUpFor(lost: readonly string[], { matches }: Pick<Situation, 'matches'>): string {
  const made = new Set(lost);
  // Steps come after those that they need. A decision that fixes a step to its purchase keeps that.
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
