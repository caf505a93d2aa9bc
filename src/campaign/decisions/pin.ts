import type { Match } from '../../plan/find-purchases.ts';
import { pinStep, unpinStep } from '../../plan/pin.ts';
import { pricesFrom } from '../../plan/prices.ts';
import type { Ruling } from '../../plan/ruling.ts';
import { chooseSteps } from '../choose-steps.ts';
import { type Decided, type DecideOptions, decide, type HeldCampaign } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/** Steps by name (`hero@lamp`, `hero`, `hero@*`) and by selection (`tag:launch`). */
export interface Chosen {
  names?: readonly string[] | undefined;
  select?: readonly string[] | undefined;
}

/** Keeps what steps have, whatever the manifest says, until they are unpinned. */
export function pin(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  return decideEach(campaign, chosen, options, pinStep);
}

/** Lets the manifest decide about pinned steps again. */
export function unpin(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  return decideEach(campaign, chosen, options, unpinStep);
}

function decideEach(
  campaign: OpenCampaign,
  chosen: Chosen,
  options: DecideOptions,
  rule: (match: Match, price: number | null) => Ruling,
): Promise<Decided> {
  return decide(campaign, options, (held) => {
    const priceOf = pricesFrom(held.lock, held.graph.prices);
    return chosenMatches(held, chosen).map((match) =>
      rule(match, priceOf(match.step.kind, match.step.request).credits),
    );
  });
}

function chosenMatches({ situation }: HeldCampaign, { names = [], select }: Chosen): Match[] {
  const chosen = new Set(chooseSteps(names, select, situation));
  return situation.matches.filter(({ step }) => chosen.has(step.address));
}
