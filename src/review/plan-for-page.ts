import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { systemClock } from '../contract/clock.ts';
import { PlacedFiles } from '../disk/outputs/placed-files.ts';
import { assemblePlan } from '../plan/assemble.ts';
import type { Plan } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import { type Situation, withFiles } from '../plan/situation/situation.ts';

/** Returns the part of the plan that a page shows: what waits for gates, and what there is to buy. Reads no files. */
export function planForPage(
  { replays, accountOf, paths }: Pick<OpenCampaign, 'replays' | 'accountOf' | 'paths'>,
  situation: Situation,
  hints: PriceHints,
): Plan {
  const placed = new PlacedFiles(paths.outputs);
  return assemblePlan({
    situation: withFiles(situation, {
      fileState: (output) => {
        const found = placed.look(output);
        return typeof found !== 'string' ? 'intact' : found === 'missing' ? 'missing' : 'changed';
      },
    }),
    hints,
    replays,
    accountOf,
    now: systemClock.now(),
    concurrency: 1,
  });
}
