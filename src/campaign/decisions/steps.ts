import { CampaignError } from '../../contract/failure.ts';
import { inspectOutput } from '../../disk/outputs/check-outputs.ts';
import { taskOfAddress } from '../../graph/address.ts';
import { call, way } from '../../ground/advice.ts';
import { defined, mustGet } from '../../ground/values.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock, Output } from '../../lock/record.ts';
import { forgetRecord, moveRecord } from '../../plan/decisions/forget.ts';
import { acceptOutput, findAcceptable, pinStep, type SeenOutput, unpinStep } from '../../plan/decisions/pin.ts';
import { type Ruling, refuse } from '../../plan/decisions/ruling.ts';
import { pricesFrom } from '../../plan/prices/prices.ts';
import { findOrphans } from '../../plan/rows/orphans.ts';
import type { Match } from '../../plan/situation/find-purchases.ts';
import { type Situation, situate } from '../../plan/situation/situation.ts';
import { type Decided, type DecideOptions, decide } from '../decide.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { chooseSteps, requireStep, suggestNames } from '../select-steps.ts';

/** Steps by name (`hero@lamp`, `hero`, `hero@*`) or selection (`tag:launch`). */
export interface Chosen {
  names?: readonly string[] | undefined;
  select?: readonly string[] | undefined;
}

/** Pins steps. Until a pinned step is unpinned, no change of the manifest replaces its outputs. */
export async function pin(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  return decideEach(campaign, chosen, options, pinStep);
}

/** Unpins steps, so that the manifest determines their outputs again. */
export async function unpin(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  return decideEach(campaign, chosen, options, unpinStep);
}

function decideEach(
  campaign: OpenCampaign,
  chosen: Chosen,
  options: DecideOptions,
  rule: (match: Match, price: number | null) => Ruling,
): Promise<Decided> {
  return decide(campaign, options, ({ graph, lock, situation }) => {
    const priceOf = pricesFrom(lock, graph.prices);
    const addresses = new Set(chooseSteps(chosen.names ?? [], chosen.select, situation));
    const matches = situation.matches.filter(({ step }) => addresses.has(step.address));
    return matches.map((match) => rule(match, priceOf(match.step.kind, match.step.request).credits));
  });
}

/** Accepts the current outputs, even if they were edited by hand, made from an older input, or do not fit `expect`. */
export async function accept(campaign: OpenCampaign, chosen: Chosen, options: DecideOptions = {}): Promise<Decided> {
  const { names = [], select } = chosen;
  return decide(campaign, options, async (session) => {
    const { situation } = await session.inspect();
    const steps = new Set(chooseSteps(names, select, situation));
    return acceptEach(steps, situation, (output) => inspectOutput(campaign.paths.outputs, output));
  });
}

async function acceptEach(
  chosen: ReadonlySet<string>,
  situation: Situation,
  look: (output: Output) => Promise<SeenOutput>,
): Promise<Ruling[]> {
  const { written, lock, gateOf, unfit } = situation;
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
    const ruling = await acceptOne(mustGet(byAddress, address), {
      look,
      isUnfit: unfit?.has(address) === true,
      isAlone: chosen.size === 1,
    });
    rulings.push(ruling);
    if (ruling.is !== 'recorded') continue;
    change(address);
    for (const one of ruling.records) joinInto(tried.steps, one);
  }
  return rulings;
}

async function acceptOne(
  match: Match,
  { look, isUnfit, isAlone }: { look: (output: Output) => Promise<SeenOutput>; isUnfit: boolean; isAlone: boolean },
): Promise<Ruling> {
  const found = findAcceptable(match, { isAlone });
  if ('is' in found) return found;
  const seen: { path: string; file: SeenOutput }[] = [];
  for (const output of found.purchase.outputs ?? []) seen.push({ path: output.path, file: await look(output) });
  return acceptOutput(match, found, { seen, isUnfit });
}

export interface ForgetChosen extends Chosen {
  /** True to select all steps that the manifest no longer contains. */
  orphans?: boolean | undefined;
  /** True to forget even running jobs, whose outputs are then lost. */
  force?: boolean | undefined;
}

/** Marks the jobs of steps as forgotten, so that the steps are created again. The lock keeps their IDs and charges. */
export async function forget(
  campaign: OpenCampaign,
  chosen: ForgetChosen,
  options: DecideOptions = {},
): Promise<Decided> {
  return decide(campaign, options, ({ graph, lock, situation }) => {
    const addresses = chooseAll(chosen, situation);
    const priceOf = pricesFrom(lock, graph.prices);
    return addresses.map((address): Ruling => {
      const step = situation.byAddress.get(address)?.step;
      const record = lock.steps.get(address);
      if (record === undefined) {
        return refuse(address, 'has no purchase', way('to list every step', call('plan', '--all')));
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
    const hint = 'there is nothing to forget';
    throw new CampaignError({ code: 'MB3002', message: 'the lock has no orphans', hint, name: '--orphans' });
  }
  const named = names.length === 0 && select === undefined ? [] : chosen();
  return [...new Set([...named, ...orphans])];
}

function namedOrphans({ lock, byAddress }: Situation): string[] {
  return [...lock.steps.keys()].filter((address) => !byAddress.has(address)).sort();
}

/** Moves the jobs of one address to another address. */
export async function move(
  campaign: OpenCampaign,
  chosen: { from: string; to: string },
  options: DecideOptions = {},
): Promise<Decided> {
  const { from, to } = chosen;
  return decide(campaign, options, ({ graph, lock, situation }) => {
    const old = lock.steps.get(from);
    if (old === undefined || countedPurchases(old).length === 0) {
      const known = [...lock.steps.keys()].sort().map((address) => ({ address, task: taskOfAddress(address) }));
      const message = `nothing was bought for ${from}`;
      throw new CampaignError({ code: 'MB3002', message, hint: suggestNames(from, known), name: from });
    }
    const step = requireStep(to, situation.graph);
    const record = lock.steps.get(to);
    const oldStep = situation.byAddress.get(from)?.step;
    const price = pricesFrom(lock, graph.prices)(step.kind, step.request).credits;
    return [moveRecord(old, { step, price, ...defined({ record, oldStep }) })];
  });
}
