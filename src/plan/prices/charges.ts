import { taskOfAddress } from '../../graph/address.ts';
import type { Graph } from '../../graph/graph.ts';
import { groupBy } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { modelName } from '../../kinds/price.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import { chargeName, chargesByJob, isJob } from '../../lock/sends.ts';
import { currentPurchase } from '../purchases/next.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { heldPurchases } from '../sum-up.ts';
import { pricesFrom } from './prices.ts';

/**
 * Uses of credits. `delivered`: purchases with an output. `running`: unfinished jobs. `failed`: jobs without an output
 * that fits `expect`. `superseded`: purchases that a newer purchase of the step replaced, and forgotten purchases.
 * `held`: charges that are possible but not confirmed.
 */
export type Whereabouts = 'delivered' | 'running' | 'failed' | 'superseded' | 'held';

export interface Charge {
  /** Name of the charge, which is the same in every version of the lock. */
  name: string;
  id: string;
  address: string;
  task: string;
  kind: string;
  /** `null` if the lock no longer stores the request. */
  model: string | null;
  tags: readonly string[] | null;
  went: Whereabouts;
  isUsed: boolean;
  /** `null` if a charge is possible and its amount is unknown. */
  credits: number | null;
}

export function listCharges({ graph, lock, matches, unfit }: Situation): Charge[] {
  const describe = describer(graph);
  const users = findUsers(matches, unfit);
  const known = chargesByJob(lock);
  const charges = new Map<string, Charge>();
  for (const address of [...lock.steps.keys()].sort()) {
    const record = lock.steps.get(address);
    const purchases = record?.purchases ?? [];
    // After the user reverted a change, the step uses an earlier purchase, and the later purchase is superseded.
    const used = purchases.find((one) => one.state === 'done' && users.has(chargeName(one)));
    const kept = used ?? currentPurchase(purchases);
    for (const purchase of purchases) {
      if (record === undefined || !isJob(purchase)) continue;
      const { jobId, state } = purchase;
      const name = chargeName(purchase);
      const credits = known.get(name);
      if (credits === undefined) continue;
      const before = charges.get(name);
      const user = users.get(name);
      const isReplaced = purchase !== kept || purchase.forgotten === true;
      const unused = isReplaced ? 'superseded' : state === 'running' ? 'running' : 'delivered';
      const went = user?.went ?? (isFruitless(state) ? 'failed' : unused);
      if (before === undefined) {
        const isUsed = user !== undefined;
        const described = describe(user?.address ?? address, record, purchase);
        charges.set(name, { name, id: jobId, ...described, went, isUsed, credits });
      } else if (before.went === 'failed') before.went = went;
    }
  }
  const held = [...heldPurchases(lock, pricesFrom(lock, graph.prices))].map(
    ({ name, record, purchase, credits }): Charge => {
      const where = users.get(name)?.address ?? record.address;
      const described = describe(where, record, purchase);
      return { name, id: purchase.jobId ?? name, ...described, went: 'held', isUsed: users.has(name), credits };
    },
  );
  return [...charges.values(), ...held];
}

function isFruitless(state: Purchase['state']): boolean {
  return state === 'failed' || state === 'lost';
}

function findUsers(
  matches: readonly Match[],
  unfit: Situation['unfit'],
): ReadonlyMap<string, { address: string; went: Whereabouts }> {
  const users = new Map<string, { address: string; went: Whereabouts }>();
  for (const { step, purchase } of matches) {
    if (purchase?.jobId === undefined) continue;
    const { state } = purchase;
    const isFailed = isFruitless(state) || unfit?.has(step.address) === true;
    const went = isFailed ? 'failed' : state === 'running' ? 'running' : 'delivered';
    users.set(chargeName(purchase), { address: step.address, went });
  }
  return users;
}

type Described = Pick<Charge, 'address' | 'task' | 'kind' | 'model' | 'tags'>;

function describer(graph: Graph): (address: string, record: StepRecord, purchase: Purchase) => Described {
  const tags = new Map(graph.steps.map((step) => [step.address, step.tags]));
  const taskTags = new Map(graph.tasks.map((task) => [task.id, task.tags ?? []]));
  return (address, record, { kind: name = record.kind, request }) => {
    const task = taskOfAddress(address);
    const kind = kinds[name];
    return {
      address,
      task,
      kind: name,
      model: kind === undefined || request === undefined ? null : (modelName(kind, request) ?? null),
      tags: tags.get(address) ?? taskTags.get(task) ?? null,
    };
  };
}

export const costDimensions = ['task', 'kind', 'model', 'tag'] as const;
export type CostDimension = (typeof costDimensions)[number];

/** Credits by use, as in `Whereabouts`. `heldUnknown`: number of possible charges whose price is unknown. */
export type CostSums = { [went in Whereabouts]: number } & { spent: number; heldUnknown: number };

export interface CostRow {
  keys: (string | null)[];
  jobs: number;
  credits: CostSums;
}

/** Sums charges by dimension, highest sum first. Each charge belongs to exactly one row. */
export function tallyCharges(charges: readonly Charge[], by: readonly CostDimension[]): CostRow[] {
  const keyed = charges.map((charge) => ({
    charge,
    keys: by.map((one) => (one === 'tag' ? (charge.tags?.toSorted().join(', ') ?? null) : charge[one])),
  }));
  const rows = [...groupBy(keyed, ({ keys }) => JSON.stringify(keys)).values()].map((own): CostRow => {
    return { keys: own[0]?.keys ?? [], jobs: own.length, credits: sumCharges(own.map(({ charge }) => charge)) };
  });
  // Unknown values are last.
  const nameOf = ({ keys }: CostRow) => keys.map((key) => key ?? '\uffff').join('\n');
  const weight = ({ credits }: CostRow) => credits.spent + credits.held;
  return rows.sort((a, b) => weight(b) - weight(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function sumCharges(charges: readonly Charge[]): CostSums {
  const sums = { spent: 0, delivered: 0, running: 0, failed: 0, superseded: 0, held: 0, heldUnknown: 0 };
  for (const { went, credits } of charges) {
    sums[went] += credits ?? 0;
    if (went !== 'held') sums.spent += credits ?? 0;
    else if (credits === null) sums.heldUnknown += 1;
  }
  return sums;
}

export interface Approved {
  assets: number;
  /** Credits spent on tasks with gates, including drafts, rejected outputs and redone outputs. */
  credits: number;
}

export function sumApproved(
  { graph: { gates }, gateOf, matches, verdicts }: Situation,
  charges: readonly Charge[],
): Approved | undefined {
  const picked = matches.filter(
    (match) =>
      gateOf.has(match.step.address) && match.purchase?.state === 'done' && verdicts.on(match)?.is === 'picked',
  );
  if (picked.length === 0) return undefined;
  const tasks = new Set(gates.map(({ task }) => task));
  return { assets: picked.length, credits: sumCharges(charges.filter(({ task }) => tasks.has(task))).spent };
}
