import { chooseSteps } from '../../campaign/choose-steps.ts';
import { type DecideOptions, decide, type HeldCampaign } from '../../campaign/decide.ts';
import { type Match, matchSteps } from '../../plan/match.ts';
import { pinStep, unpinStep } from '../../plan/pin.ts';
import { pricesFrom } from '../../plan/prices.ts';
import type { Ruling } from '../../plan/ruling.ts';
import type { Terminal } from '../terminal.ts';

export interface PinOptions extends DecideOptions {
  select?: string[];
}

interface Context {
  options: PinOptions;
  terminal: Terminal;
}

/** Steps that keep what they have, whatever the manifest says, until they are unpinned. */
export function pin(file: string, names: string[], { options, terminal }: Context): Promise<number> {
  return decide(file, { command: 'pin', options, terminal }, (held) => {
    const priceOf = pricesFrom(held.lock, held.graph.prices);
    return chosenMatches(held, names, options).map((match) =>
      pinStep(match, priceOf(match.step.kind, match.step.request).credits),
    );
  });
}

/** The manifest decides about them again. */
export function unpin(file: string, names: string[], { options, terminal }: Context): Promise<number> {
  return decide(file, { command: 'unpin', options, terminal }, (held): Ruling[] => {
    const priceOf = pricesFrom(held.lock, held.graph.prices);
    return chosenMatches(held, names, options).map((match) =>
      unpinStep(match, priceOf(match.step.kind, match.step.request).credits),
    );
  });
}

function chosenMatches({ graph, lock }: HeldCampaign, names: string[], { select }: PinOptions): Match[] {
  const chosen = new Set(chooseSteps(names, select, { graph, lock }));
  return matchSteps(graph, lock).filter(({ step }) => chosen.has(step.address));
}
