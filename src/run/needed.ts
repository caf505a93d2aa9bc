import type { Ports } from '../contract/ports.ts';
import { findMissingPart, type PartCondition } from '../plan/parts.ts';
import type { StepOrder } from '../plan/plan.ts';
import { emptiesList } from './references.ts';

/** Need for a step, once the steps before it are done. `absent`: members of its lists that do not exist. */
export type Need = { is: 'needed'; absent: ReadonlySet<string> } | { is: 'unneeded'; because: string };

export async function findNeed(order: StepOrder, { ledger }: Pick<Ports, 'ledger'>): Promise<Need> {
  const optional = Object.entries(order.optional ?? {});
  const conditions = [...(order.parts ?? []), ...optional.flatMap(([, list]) => list)];
  if (conditions.length === 0) return { is: 'needed', absent: new Set() };
  const counts = new Map<string, number>();
  const nameOf = ({ of, fingerprint }: Pick<PartCondition, 'of' | 'fingerprint'>) => `${of} ${fingerprint}`;
  for (const condition of conditions) {
    const job = await ledger.jobOf(condition.of, condition.fingerprint);
    if (job !== undefined) counts.set(nameOf(condition), job.files);
  }
  const count = (of: string, fingerprint: string) => counts.get(nameOf({ of, fingerprint }));
  const missing = findMissingPart(order.parts, count);
  if (missing !== undefined) {
    return { is: 'unneeded', because: `${missing.condition.of} gave ${missing.parts}` };
  }
  const absent = new Set(
    optional.filter(([, list]) => findMissingPart(list, count) !== undefined).map(([address]) => address),
  );
  if (emptiesList(order.request, absent)) return { is: 'unneeded', because: 'nothing is left of a list that it uses' };
  return { is: 'needed', absent };
}
