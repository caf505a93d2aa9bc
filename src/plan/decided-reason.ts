import type { ChangeFacts } from './changes.ts';
import type { Decision } from './decide.ts';
import type { Match } from './find-purchases.ts';
import type { Price } from './plan.ts';
import { tellChanges } from './reason.ts';

/** Adds people's earlier decisions to the reason of a decision. */
export function tellDecided(
  match: Match,
  decision: Decision,
  { price, facts }: { price: Price; facts: ChangeFacts },
): Decision {
  const { decided } = match.step;
  if (decided === undefined) return decision;
  const { pinned, wanted } = decided;
  const code = pinned === undefined ? 'accepted' : 'pinned';
  const { text } = decision.reason;
  if (decision.action !== 'keep') return { ...decision, reason: { ...decision.reason, text: `${text} (${code})` } };
  if (wanted === undefined) return { ...decision, reason: { code, text: `${text}, and ${code}` } };
  const cost = price.credits === null ? 'what it would cost is not known' : `would cost ${price.credits}`;
  const tell = (change: string) =>
    pinned === undefined ? `accepted as it is, although ${change}` : `pinned; ${change} (${cost})`;
  return { ...decision, reason: tellChanges(code, { bought: match.purchase, match }, { facts, tell }) };
}
