import type { ReviewData } from '../../contract/review.ts';
import { kinds } from '../../kinds/index.ts';
import { boughtAtIn } from '../../plan/bought-at.ts';
import type { DecidedGraph } from '../../plan/decided-graph.ts';
import type { PlanRow } from '../../plan/plan.ts';
import type { Situation } from '../../plan/situation.ts';
import { describeAsset, type ProblemOf } from './describe-asset.ts';
import { describeGroups } from './describe-groups.ts';
import { listWaits } from './sum-waiting.ts';

/** Everything that the review page shows is made from this. */
export interface CampaignFacts {
  situation: Situation;
  /** Rows of a plan made with this lock: what waits at gates, and for how much. Absent: it is not known. */
  rows?: readonly PlanRow[] | undefined;
  /** Limits the page to these addresses. Absent: all. */
  selected?: ReadonlySet<string> | undefined;
  problemOf: ProblemOf;
}

/** Describes what a campaign has to show. Pure but for `problemOf`. URLs are left to whoever serves the files. */
export function describeCampaign(facts: CampaignFacts): Pick<ReviewData, 'campaign' | 'groups' | 'assets' | 'waits'> {
  const { situation, selected, problemOf, rows } = facts;
  const { graph, lock, matches, byAddress, gateOf, verdicts } = situation;
  const usedBy = new Map<string, string[]>();
  const madeFrom = neededSteps(graph);
  for (const { address } of graph.steps) {
    for (const need of madeFrom.get(address) ?? []) {
      const users = usedBy.get(need);
      if (users === undefined) usedBy.set(need, [address]);
      else users.push(address);
    }
  }
  const taken = new Set(matches.flatMap(({ purchase }) => purchase?.outputs?.map(({ path }) => path) ?? []));
  const boughtAt = boughtAtIn(lock);
  const meant = matches.filter(
    ({ step }) => kinds[step.kind]?.media !== 'none' && (selected?.has(step.address) ?? true),
  );
  const assets = meant.map((match) =>
    describeAsset(match, {
      ...{ byAddress, verdicts, boughtAt, problemOf },
      isGated: gateOf.has(match.step.address),
      madeFrom: madeFrom.get(match.step.address) ?? [],
      usedBy: usedBy.get(match.step.address) ?? [],
      isTaken: (path) => taken.has(path),
    }),
  );
  const waits = rows === undefined ? undefined : listWaits(graph, rows);
  return {
    ...{ campaign: graph.name, groups: describeGroups(assets, situation, waits), assets },
    ...(waits !== undefined && { waits }),
  };
}

/** Most steps of an open gate that are named: what hangs on one that asks about more may be made from any of them. */
const mostNamed = 50;

/** The steps that each is made from, by address. Behind an open gate these are all of which one may be picked. */
function neededSteps({ steps, gates }: DecidedGraph): Map<string, readonly string[]> {
  const byName = new Map(gates.map(({ name, members }) => [name, members]));
  const stepsOf = (need: string) => {
    const members = byName.get(need) ?? [need];
    return members.length <= mostNamed ? members : [];
  };
  return new Map(steps.map(({ address, needs }) => [address, needs.flatMap(stepsOf)]));
}
