import { lookAtOutput } from '../../disk/outputs/look-at-output.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { acceptOutput, findAcceptable, type SeenOutput } from '../../plan/accept.ts';
import type { Match } from '../../plan/find-purchases.ts';
import type { Ruling } from '../../plan/ruling.ts';
import { type Situation, situate } from '../../plan/situation.ts';
import { chooseSteps } from '../choose-steps.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { Chosen } from './pin.ts';

/** Declares outputs right as they are: edited by hand, or made from an input that has changed since. */
export function accept(
  campaign: OpenCampaign,
  { names = [], select }: Chosen,
  options: DecideOptions = {},
): Promise<Decided> {
  return decide(campaign, options, ({ situation }) => {
    const chosen = new Set(chooseSteps(names, select, situation));
    return acceptEach(chosen, situation, (output) => lookAtOutput(campaign.paths.outputs, output));
  });
}

/**
 * Accepts steps in the order of the graph: what is accepted for one step decides what those that use it ask for, so
 * those are looked at again.
 */
async function acceptEach(
  chosen: ReadonlySet<string>,
  situation: Situation,
  look: (output: Parameters<typeof lookAtOutput>[1]) => Promise<SeenOutput>,
): Promise<Ruling[]> {
  const { written, lock, gateOf } = situation;
  const tried: Lock = { ...lock, steps: new Map(lock.steps) };
  const rulings: Ruling[] = [];
  let { byAddress } = situation;
  let changed = new Set<string>();
  const change = (address: string) => changed.add(address).add(gateOf.get(address)?.name ?? address);
  for (const { address, needs } of written.steps) {
    const isAffected = needs.some((need) => changed.has(need));
    if (isAffected) change(address);
    if (!chosen.has(address)) continue;
    if (isAffected) {
      ({ byAddress } = situate(written, tried));
      changed = new Set();
    }
    const match = byAddress.get(address);
    if (match === undefined) throw new Error(`internal error: no match for ${address}`);
    const ruling = await acceptOne(match, look);
    rulings.push(ruling);
    if (ruling.is !== 'recorded') continue;
    change(address);
    for (const one of ruling.records) joinInto(tried.steps, one);
  }
  return rulings;
}

async function acceptOne(
  match: Match,
  look: (output: Parameters<typeof lookAtOutput>[1]) => Promise<SeenOutput>,
): Promise<Ruling> {
  const found = findAcceptable(match);
  if ('is' in found) return found;
  const seen: { path: string; file: SeenOutput }[] = [];
  for (const output of found.purchase.outputs ?? []) seen.push({ path: output.path, file: await look(output) });
  return acceptOutput(match, found, seen);
}
