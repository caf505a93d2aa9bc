import { CampaignError } from '../../contract/failure.ts';
import { advise, call } from '../../plan/advice.ts';
import { forgetRecord } from '../../plan/forget.ts';
import { findOrphans } from '../../plan/orphans.ts';
import { pricesFrom } from '../../plan/prices.ts';
import { type Ruling, refuse } from '../../plan/ruling.ts';
import type { Situation } from '../../plan/situation.ts';
import { chooseSteps } from '../choose-steps.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { Chosen } from './pin.ts';

export interface ForgetChosen extends Chosen {
  /** All that the manifest no longer has. */
  orphans?: boolean | undefined;
  /** Running jobs, too: their outputs are given up. */
  force?: boolean | undefined;
}

/** Lets purchases of these addresses count as never made. Ids and charges stay on record. */
export function forget(campaign: OpenCampaign, chosen: ForgetChosen, options: DecideOptions = {}): Promise<Decided> {
  return decide(campaign, options, ({ graph, lock, situation }) => {
    const addresses = chooseAll(chosen, situation);
    const priceOf = pricesFrom(lock, graph.prices);
    return addresses.map((address): Ruling => {
      const step = situation.byAddress.get(address)?.step;
      const record = lock.steps.get(address);
      if (record === undefined) {
        return refuse(
          address,
          'has nothing that was bought',
          advise`${call('plan', '--all')} shows what every step has`,
        );
      }
      return forgetRecord(record, {
        force: chosen.force === true,
        ...(step !== undefined && { price: priceOf(step.kind, step.request).credits }),
        ...(step?.decided?.pinned === 'manifest' && { isPinnedByTask: true }),
      });
    });
  });
}

function chooseAll({ names = [], select, orphans: wantsOrphans }: ForgetChosen, situation: Situation): string[] {
  const chosen = () => chooseSteps(names, select, situation, namedOrphans(situation));
  if (wantsOrphans !== true) return chosen();
  const orphans = findOrphans(situation);
  if (orphans.length === 0 && names.length === 0 && select === undefined) {
    throw new CampaignError({
      code: 'MB3002',
      message: 'the lock has no orphans',
      hint: 'there is nothing to forget',
      name: '--orphans',
    });
  }
  const named = names.length === 0 && select === undefined ? [] : chosen();
  return [...new Set([...named, ...orphans])];
}

/** Addresses that only the lock has, forgotten or not: naming one twice is no mistake. */
function namedOrphans({ lock, byAddress }: Situation): string[] {
  return [...lock.steps.keys()].filter((address) => !byAddress.has(address)).sort();
}
