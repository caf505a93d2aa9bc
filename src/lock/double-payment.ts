import type { Diagnostic } from '../ground/diagnostic.ts';
import { groupOf } from './join-purchases.ts';
import type { Lock, Purchase } from './record.ts';

/** Jobs that are named individually. */
const mostNamed = 5;

/** Finds purchases with more than one job: two people, or two branches, paid for the same thing. All jobs are kept. */
export function findDoublePayments(file: string, lock: Lock): Diagnostic[] {
  const found: Diagnostic[] = [];
  for (const { address, purchases } of lock.steps.values()) {
    if (purchases.length < 2) continue;
    const groups = new Map<string, Purchase[]>();
    for (const purchase of purchases) {
      if (purchase.jobId === undefined) continue;
      const jobs = groups.get(groupOf(purchase));
      if (jobs === undefined) groups.set(groupOf(purchase), [purchase]);
      else jobs.push(purchase);
    }
    for (const jobs of groups.values()) {
      if (jobs.length > 1) found.push(doublePayment(file, address, jobs));
    }
  }
  return found;
}

function doublePayment(file: string, address: string, jobs: readonly Purchase[]): Diagnostic {
  const others = jobs.length > mostNamed ? ` and ${jobs.length - mostNamed} more` : '';
  const named = jobs
    .slice(0, mostNamed)
    .map(({ jobId, credits, state }) => `${jobId} (${state}, ${price(credits)})`)
    .join(' and ');
  return {
    code: 'MB2006',
    severity: 'warning',
    message: `${address} was paid for ${jobs.length === 2 ? 'twice' : `${jobs.length} times`} in ${file}: ${named}${others}`,
    hint: 'All of these jobs are kept, and the one that got furthest is used. Nothing more is paid for this step',
  };
}

function price(credits: number | undefined): string {
  return credits === undefined ? 'charge unknown' : credits === 1 ? '1 credit' : `${credits} credits`;
}
