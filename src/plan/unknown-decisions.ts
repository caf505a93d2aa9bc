import type { Decisions } from '../lock/record.ts';
import { lastingFacts } from './blocked.ts';
import type { PlanRow, RestingRow } from './plan.ts';
import { reasonOf } from './reason.ts';

/** A create whose answer was lost is not sent again, either. */
export function leftOpen(row: PlanRow, why: string): RestingRow {
  const reason = reasonOf('answer-lost', `the answer to its create was lost, and it is not asked for: ${why}`);
  return { ...lastingFacts(row), action: 'unresolved', reason, credits: 0 };
}

/** Describes decisions that this version does not know. Undefined where it knows the kind of every one. */
export function describeUnknown(decisions: Decisions | undefined): string | undefined {
  if (decisions?.unknownFields === undefined) return undefined;
  const names = Object.keys(decisions.unknownFields).sort().slice(0, 3);
  const named = names.map((name) => `\`${name.slice(0, 40)}\``).join(', ');
  return `a newer mediabatch recorded a decision about it that this one does not know (${named}): update mediabatch first`;
}
