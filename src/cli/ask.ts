import { createInterface } from 'node:readline/promises';
import type { PlanTotals } from '../plan/plan.ts';
import type { Terminal } from './terminal.ts';

/** One question, on the terminal; anything but yes is no. */
export async function askToSpend(totals: PlanTotals, terminal: Terminal): Promise<boolean> {
  const { style } = terminal;
  const known = `${totals.toSpend} credits`;
  const amount = totals.unknownPrices === 0 ? known : `${known} and ${totals.unknownPrices} steps of unknown price`;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await reader.question(`${style.bold('Spend')} ${amount}? [y/N] `);
    return /^\s*y(es)?\s*$/i.test(answer);
  } catch {
    return false;
  } finally {
    reader.close();
  }
}
