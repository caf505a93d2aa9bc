import type { Decisions } from '../lock/record.ts';
import type { PlanRow } from './plan.ts';
import { reasonOf } from './reason.ts';

/** A create whose answer was lost is not sent again, either. */
export function leaveOpen(row: PlanRow, why: string): void {
  delete row.order;
  delete row.price;
  delete row.mayRetry;
  row.action = 'unresolved';
  row.reason = reasonOf('answer-lost', `the answer to its create was lost, and it is not asked for: ${why}`);
  row.credits = 0;
}

/** Undefined where every decision is of a kind that this version knows. */
export function describeUnknown(decisions: Decisions | undefined): string | undefined {
  if (decisions?.unknownFields === undefined) return undefined;
  const names = Object.keys(decisions.unknownFields).sort().slice(0, 3);
  const named = names.map((name) => `\`${name.slice(0, 40)}\``).join(', ');
  return `a newer mediabatch recorded a decision about it that this one does not know (${named}): update mediabatch first`;
}
