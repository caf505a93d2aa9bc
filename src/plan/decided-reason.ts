import type { Decision } from './decide.ts';
import { describeDifference } from './difference.ts';
import type { Match } from './match.ts';
import type { Price } from './plan.ts';

/** Adds people's earlier decisions to the reason of a decision. */
export function tellDecided(match: Match, decision: Decision, price: Price): Decision {
  const { decided } = match.step;
  if (decided === undefined) return decision;
  const { pinned, wanted } = decided;
  const word = pinned === undefined ? 'accepted' : 'pinned';
  if (decision.action !== 'keep') return { ...decision, reason: `${decision.reason} (${word})` };
  if (wanted === undefined) return { ...decision, reason: `${decision.reason}, and ${word}` };
  const bought = match.purchase?.request;
  const change = bought === undefined ? 'an input changed' : describeDifference(bought, wanted.paidRequest);
  if (pinned === undefined) return { ...decision, reason: `accepted as it is, although ${change}` };
  const cost = price.credits === null ? 'what it would cost is not known' : `would cost ${price.credits}`;
  return { ...decision, reason: `pinned; ${change} (${cost})` };
}
