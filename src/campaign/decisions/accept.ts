import { lookAtOutput } from '../../disk/outputs/look-at-output.ts';
import type { Graph } from '../../graph/graph.ts';
import { joinInto } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { acceptOutput, findAcceptable, type SeenOutput } from '../../plan/accept.ts';
import { gatesByMember } from '../../plan/gates.ts';
import { type Match, matchSteps } from '../../plan/match.ts';
import type { Ruling } from '../../plan/ruling.ts';
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
  return decide(campaign, options, ({ graph, lock }) => {
    const chosen = new Set(chooseSteps(names, select, { graph, lock }));
    return acceptEach(chosen, { graph, lock }, (output) => lookAtOutput(campaign.paths.outputs, output));
  });
}

/**
 * In the order of the graph: what is accepted for one step decides what those that use it ask for, so those are looked at
 * again.
 */
async function acceptEach(
  chosen: ReadonlySet<string>,
  { graph, lock }: { graph: Graph; lock: Lock },
  look: (output: Parameters<typeof lookAtOutput>[1]) => Promise<SeenOutput>,
): Promise<Ruling[]> {
  const tried: Lock = { ...lock, steps: new Map(lock.steps) };
  const rulings: Ruling[] = [];
  let matches = byAddress(graph, tried);
  let changed = new Set<string>();
  const gateOf = gatesByMember(graph.gates ?? []);
  const change = (address: string) => changed.add(address).add(gateOf.get(address)?.name ?? address);
  for (const { address, needs } of graph.steps) {
    const isAffected = needs.some((need) => changed.has(need));
    if (isAffected) change(address);
    if (!chosen.has(address)) continue;
    if (isAffected) {
      matches = byAddress(graph, tried);
      changed = new Set();
    }
    const match = matches.get(address);
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

function byAddress(graph: Graph, lock: Lock): Map<string, Match> {
  return new Map(matchSteps(graph, lock).map((match) => [match.step.address, match]));
}
