import type { Graph, Step } from '../../graph/graph.ts';
import type { Origins } from '../../graph/trace/tracer.ts';
import { defined, groupBy } from '../../ground/values.ts';
import { joinLocks } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import type { Change } from '../plan.generated.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { type Charge, listCharges } from '../prices/charges.ts';
import { type PriceHints, type PriceOf, pricesFrom } from '../prices/prices.ts';
import { type Situation, situate, stateOfStep } from '../situation/situation.ts';
import { type ChangeFacts, describeChanges, findChanges } from './changes.ts';

interface Version {
  graph: Graph;
  lock: Lock;
  origins?: Origins | undefined;
}

export interface ComparedStep {
  change: 'added' | 'removed' | 'changed' | 'moved';
  address: string;
  movedFrom?: string;
  task: string;
  kind: string;
  text: string;
  changes?: Change[];
  follows?: string[];
  /** Price of the step in each version: 0 if the step shares a job, `null` if the price is unknown. */
  credits: { there?: number | null; here?: number | null };
  discards?: number;
}

interface PriceSum {
  credits: number;
  unknownPrices: number;
}

/** Changes from version `there` to version `here` of a campaign. Empty if the versions are equal. */
export interface Comparison {
  steps: ComparedStep[];
  there: PriceSum & { steps: number; budget?: number };
  here: PriceSum & { steps: number; budget?: number };
  toBuy: PriceSum;
  /** Jobs and unresolved create requests that are in the lock of only one version. */
  bought: Charge[];
  boughtThere: Charge[];
  discarded: number;
}

/** Compares two versions of a campaign. The prices of both versions are those of version `here`. */
export function compareVersions(there: Version, here: Version, { hints }: { hints?: PriceHints } = {}): Comparison {
  const priceOf = pricesFrom(here.lock, here.graph.prices, hints);
  const prices = {
    there: priceSteps(there.graph.steps, priceOf),
    here: priceSteps(here.graph.steps, priceOf),
  };
  const now = situate(here.graph, here.lock);
  const charges = { there: listCharges(situate(there.graph, there.lock)), here: listCharges(now) };
  const discards = findDiscards(charges.there, here, there.lock);
  const addresses = new Map([...there.graph.steps, ...here.graph.steps].map((one) => [one.fingerprint, one.address]));
  const facts = { addressOf: (name: string) => addresses.get(name), causeOf: here.origins?.trace };
  const steps = pairSteps(there.graph, here.graph).flatMap(([old, now]): ComparedStep[] => {
    const compared = compareStep(old, now, { lock: here.lock, facts });
    if (compared === undefined) return [];
    const credits = defined({
      there: old && (prices.there.get(old.address) ?? null),
      here: now && (prices.here.get(now.address) ?? null),
    });
    return [{ ...compared, credits, ...defined({ discards: old && discards.get(old.address) }) }];
  });
  return {
    steps,
    there: sumOf(there.graph, prices.there),
    here: sumOf(here.graph, prices.here),
    toBuy: sumPrices(findMissing(now).map((address) => prices.here.get(address) ?? null)),
    bought: without(charges.here, charges.there),
    boughtThere: without(charges.there, charges.here),
    discarded: [...discards.values()].reduce((sum, credits) => sum + credits, 0),
  };
}

type Pair = [there: Step, here: Step] | [there: undefined, here: Step] | [there: Step, here: undefined];

function pairSteps(there: Graph, here: Graph): Pair[] {
  const left = new Map(there.steps.map((step) => [step.address, step]));
  const pairs = new Map<string, Step>();
  const pair = (find: (step: Step) => Step | undefined) => {
    for (const step of here.steps) {
      if (pairs.has(step.address)) continue;
      const found = find(step);
      if (found === undefined) continue;
      pairs.set(step.address, found);
      left.delete(found.address);
    }
  };
  const sameAddress = ({ address }: Step) => left.get(address);
  pair((step) => (sameAddress(step)?.fingerprint === step.fingerprint ? sameAddress(step) : undefined));
  const byFingerprint = groupBy([...left.values()], ({ fingerprint }) => fingerprint);
  pair(({ fingerprint }) => byFingerprint.get(fingerprint)?.shift());
  pair(sameAddress);
  return [
    ...here.steps.map((step): Pair => [pairs.get(step.address), step] as Pair),
    ...[...left.values()].map((step): Pair => [step, undefined]),
  ];
}

type Difference = Omit<ComparedStep, 'credits' | 'discards'>;

function compareStep(
  old: Step | undefined,
  now: Step | undefined,
  { lock, facts }: { lock: Lock; facts: ChangeFacts },
): Difference | undefined {
  if (now === undefined) {
    return old && { change: 'removed', address: old.address, task: old.task, kind: old.kind, text: 'removed' };
  }
  const { address, task, kind } = now;
  if (old === undefined) return { change: 'added', address, task, kind, text: 'new' };
  if (old.fingerprint === now.fingerprint) {
    if (old.address === address) return undefined;
    return { change: 'moved', address, movedFrom: old.address, task, kind, text: `was ${old.address}` };
  }
  const found = findChanges(old.paidRequest, now, facts);
  const isOther = old.kind !== kind;
  const changes = [...(isOther ? [{ field: 'kind', before: old.kind, after: kind }] : []), ...found.changes];
  const { follows } = found;
  const record = lock.steps.get(address);
  const isSent = isPost(kind) && record !== undefined && sendsOf(record).length > 0;
  return {
    change: 'changed',
    address,
    task,
    kind,
    text: `${describeChanges(changes)}${isSent ? '; the post that was sent is not changed' : ''}`,
    ...(changes.length > 0 && { changes }),
    ...(follows.length > 0 && { follows }),
  };
}

/**
 * Returns prices by address. Steps with equal requests are one purchase: the price of each step except the first is 0.
 */
function priceSteps(steps: readonly Step[], priceOf: PriceOf): ReadonlyMap<string, number | null> {
  const seen = new Set<string>();
  const prices = new Map<string, number | null>();
  for (const { address, fingerprint, kind, request } of steps) {
    if (prices.has(address)) continue;
    const { credits, likely = credits } = priceOf(kind, request);
    prices.set(address, seen.has(fingerprint) ? 0 : likely);
    seen.add(fingerprint);
  }
  return prices;
}

function sumOf({ steps, budget }: Graph, prices: ReadonlyMap<string, number | null>): Comparison['here'] {
  return { steps: steps.length, ...sumPrices([...prices.values()]), ...defined({ budget }) };
}

function sumPrices(prices: readonly (number | null)[]): PriceSum {
  return {
    credits: prices.reduce<number>((sum, price) => sum + (price ?? 0), 0),
    unknownPrices: prices.filter((price) => price === null).length,
  };
}

function findMissing(situation: Situation): string[] {
  return situation.matches.flatMap((match) => {
    const state = stateOfStep(match, situation);
    return state === 'not-bought' || state === 'changed' ? [match.step.address] : [];
  });
}

function findDiscards(charges: readonly Charge[], here: Version, lockThere: Lock): ReadonlyMap<string, number> {
  const joined = listCharges(situate(here.graph, joinLocks(here.lock, lockThere)));
  const isWork = ({ went, isUsed }: Charge) => isUsed && (went === 'delivered' || went === 'running');
  const used = new Set(joined.filter(isWork).map(({ name }) => name));
  const discards = new Map<string, number>();
  for (const { name, address, went, isUsed, credits } of charges) {
    if (!isUsed || went !== 'delivered' || credits === null || credits === 0 || used.has(name)) continue;
    discards.set(address, (discards.get(address) ?? 0) + credits);
  }
  return discards;
}

function without(charges: readonly Charge[], others: readonly Charge[]): Charge[] {
  const known = new Set(others.map(({ name }) => name));
  return charges.filter(({ name }) => !known.has(name));
}
