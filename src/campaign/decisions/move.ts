import { CampaignError } from '../../contract/failure.ts';
import { taskOfAddress } from '../../graph/address.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import { moveRecord } from '../../plan/move-record.ts';
import { pricesFrom } from '../../plan/prices.ts';
import { nearTo, requireStep } from '../choose-steps.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';

/** Moves the purchases of one address to another. */
export function move(
  campaign: OpenCampaign,
  { from, to }: { from: string; to: string },
  options: DecideOptions = {},
): Promise<Decided> {
  return decide(campaign, options, ({ graph, lock, situation }) => {
    const old = lock.steps.get(from);
    if (old === undefined || countedPurchases(old).length === 0) {
      throw new CampaignError({
        code: 'MB3002',
        message: `nothing was bought for ${from}`,
        hint: nearTo(
          from,
          [...lock.steps.keys()].sort().map((address) => ({ address, task: taskOfAddress(address) })),
        ),
        name: from,
      });
    }
    const step = requireStep(to, situation.graph);
    const record = lock.steps.get(to);
    const oldStep = situation.byAddress.get(from)?.step;
    const price = pricesFrom(lock, graph.prices)(step.kind, step.request).credits;
    return [
      moveRecord(old, {
        step,
        price,
        ...(record !== undefined && { record }),
        ...(oldStep !== undefined && { oldStep }),
      }),
    ];
  });
}
