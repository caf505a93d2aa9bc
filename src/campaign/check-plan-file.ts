import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { isSpending } from '../plan/actions.ts';
import type { Action } from '../plan/plan.ts';

type Fields = { readonly [key: string]: Json };

/**
 * Where what a saved plan shows to people – its rows and totals – is not what it has done: somebody who can commit one
 * could have it read like a plan that costs nothing. Undefined when both say the same.
 */
export function findContradiction(plan: Fields, saved: Fields): string | undefined {
  const rows = Array.isArray(plan.rows) ? plan.rows.filter(isMap) : [];
  const byAddress = new Map(rows.map((row) => [row.address, row]));
  if (byAddress.size < rows.length) return 'it has two rows for one step';
  for (const [address, row] of byAddress) {
    const { credits } = row;
    const isPrice = credits === null || (typeof credits === 'number' && Number.isSafeInteger(credits) && credits >= 0);
    if (!isPrice) return `the credits of ${String(address)} are none`;
    if (!isSpending(row.action as Action) && credits !== 0)
      return `${String(address)} costs something and buys nothing`;
  }
  for (const address of Object.keys(mapOf(saved.generations))) {
    const row = byAddress.get(address);
    if (!isSpending(row?.action as Action)) return `it buys ${address}, and its rows do not say so`;
  }
  for (const address of Object.keys(mapOf(saved.retries))) {
    if (byAddress.get(address)?.mayRetry === undefined) return `it buys ${address} again, and its rows do not say so`;
  }
  const totals = mapOf(plan.totals);
  const spent = rows.reduce((sum, { credits }) => sum + (typeof credits === 'number' ? credits : 0), 0);
  const unknown = rows.filter(({ credits }) => credits === null).length;
  if (totals.toSpend !== spent || totals.unknownPrices !== unknown) return 'its rows do not add up to its total';
  const { maxCredits, concurrency = plan.concurrency } = mapOf(saved.options);
  if (totals.maxCredits !== maxCredits) return 'its cap is not the one that it shows';
  return plan.concurrency === concurrency ? undefined : 'its concurrency is not the one that it shows';
}

function mapOf(value: Json | undefined): Fields {
  return isMap(value) ? value : {};
}
