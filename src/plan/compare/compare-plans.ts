import type { Action, Plan } from '../plan.ts';
import type { PriceHints } from '../prices/prices.ts';
import { type Comparison, compareVersions, type Version } from './compare-versions.ts';

/** Steps to which something else happens now, although they are what they were: bought, picked, or within the budget now. */
export interface OtherAction {
  from: Action;
  to: Action;
  /** Addresses, at least one, in the order of the plan. */
  addresses: string[];
}

/** Difference of a plan from an earlier one of the same campaign. */
export interface PlanDifference extends Pick<Comparison, 'steps' | 'bought'> {
  others: OtherAction[];
}

/** A plan, and what it was made from. */
export interface PlannedVersion extends Version {
  plan: Plan;
}

/** Compares two plans in what both are about. `hints`: what is known of prices now. Pure. */
export function comparePlans(
  before: PlannedVersion,
  now: PlannedVersion,
  { hints = {} }: { hints?: PriceHints } = {},
): PlanDifference {
  const { steps: all, bought } = compareVersions(before, now, { hints });
  const about = new Set([...before.plan.rows, ...now.plan.rows].map(({ address }) => address));
  const steps = all.filter(({ address, movedFrom = address }) => about.has(address) || about.has(movedFrom));
  const told = new Set(steps.map(({ address }) => address));
  return { steps, bought, others: compareActions(before.plan, now.plan, told) };
}

function compareActions(before: Plan, now: Plan, told: ReadonlySet<string>): OtherAction[] {
  const earlier = new Map(before.rows.map(({ address, action }) => [address, action]));
  const others = new Map<string, OtherAction>();
  for (const { address, action: to } of now.rows) {
    const from = earlier.get(address);
    if (from === undefined || from === to || told.has(address)) continue;
    const same = others.get(`${from} ${to}`) ?? { from, to, addresses: [] };
    same.addresses.push(address);
    others.set(`${from} ${to}`, same);
  }
  return [...others.values()];
}
