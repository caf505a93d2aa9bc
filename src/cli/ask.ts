import { createInterface } from 'node:readline';
import type { PlanTotals } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import type { Terminal } from './terminal.ts';

/** One question, on the terminal; anything but yes is no, and Ctrl-C is neither. */
export async function askToSpend(totals: PlanTotals, terminal: Terminal): Promise<'yes' | 'no' | 'interrupted'> {
  const { style } = terminal;
  const known = countOf(totals.toSpend, 'credit');
  const unknown = `${countOf(totals.unknownPrices, 'step')} of unknown price`;
  const amount = totals.unknownPrices === 0 ? known : totals.toSpend === 0 ? unknown : `${known} and ${unknown}`;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      const leave = (answer: 'no' | 'interrupted') => {
        terminal.err('\n');
        resolve(answer);
      };
      reader.on('SIGINT', () => leave('interrupted'));
      // Ctrl-D, or the terminal is gone.
      reader.on('close', () => resolve('no'));
      reader.question(`${style.bold(totals.toSpend === 0 ? 'Buy' : 'Spend')} ${amount}? [y/N] `, (answer) => {
        resolve(/^\s*y(es)?\s*$/i.test(answer) ? 'yes' : 'no');
      });
    });
  } finally {
    reader.close();
  }
}
