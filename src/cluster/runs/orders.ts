import { hash } from 'node:crypto';
import { isSpending } from '../../plan/actions.ts';
import type { StepOrder } from '../../plan/plan.ts';
import type { Sql } from '../database/database.ts';
import type { Seal } from '../seal.ts';
import { changedPlan } from './header.ts';

const ordersPerPart = 200;

interface Run {
  id: string;
  campaign: string;
  seal: Seal;
}

/** Inserts the orders of a run, encrypted, in batches. Purchases are stored as digests only. */
export async function insertOrders(sql: Sql, { id, seal }: Run, orders: readonly StepOrder[]): Promise<void> {
  for (let no = 0; no * ordersPerPart < orders.length; no += 1) {
    const part = orders.slice(no * ordersPerPart, (no + 1) * ordersPerPart);
    const sealed = seal.sealLong(JSON.stringify(part), contextOf(id, no));
    await sql.query('INSERT INTO mediabatch.part (run, no, orders, count, purchases) VALUES ($1, $2, $3, $4, $5)', [
      ...[id, no, sealed, part.length],
      part.flatMap(purchaseOf),
    ]);
  }
}

/** Reads the orders in the order of the plan. Throws MB3704 if one was changed since the submit. */
export async function* readOrders(sql: Sql, { id, campaign, seal }: Run): AsyncGenerator<StepOrder> {
  for (let no = 0; ; no += 1) {
    const text = 'SELECT orders FROM mediabatch.part WHERE run = $1 AND no = $2';
    const [part] = await sql.query<{ orders: Buffer }>(text, [id, no]);
    if (part === undefined) return;
    const opened = seal.openLong(part.orders, contextOf(id, no));
    if (opened === undefined) throw changedPlan({ id, campaign }); // I50 (orders)
    yield* JSON.parse(opened) as StepOrder[];
  }
}

/** Returns a digest of the order's purchase, the same for every API key; an empty list if the order buys nothing. */
export function purchaseOf({ action, address, fingerprint }: StepOrder): string[] {
  return isSpending(action) ? [hash('sha256', `${address}\n${fingerprint}`)] : [];
}

function contextOf(run: string, no: number): string {
  return `orders ${run} ${no}`;
}
