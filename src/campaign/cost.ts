import type { Graph } from '../graph/graph.ts';
import { listCharges } from '../plan/prices/list-charges.ts';
import {
  type Approved,
  type CostDimension,
  type CostRow,
  type CostSums,
  sumApproved,
  sumCharges,
  tallyCharges,
} from '../plan/prices/tally-charges.ts';
import { withFiles } from '../plan/situation/situation.ts';
import { seeExpected } from './look-at-outputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { Session } from './session.ts';

/** Costs of a campaign, grouped by purpose. */
export interface Cost {
  campaign: string;
  by: readonly CostDimension[];
  rows: CostRow[];
  totals: CostSums;
  /** Cost of picked outputs. Omitted without picks. */
  approved?: Approved;
}

export interface CostOptions {
  by: readonly CostDimension[];
}

/** Sums up the recorded charges. Sends no request, and writes nothing. */
export async function sumUpCost(campaign: OpenCampaign, graph: Graph, { by }: CostOptions): Promise<Cost> {
  const { situation: recorded } = await Session.open(campaign, { graph, isOnlyRead: true });
  const situation = withFiles(recorded, await seeExpected(recorded, campaign));
  const charges = listCharges(situation);
  const approved = sumApproved(situation, charges);
  const sums = { rows: tallyCharges(charges, by), totals: sumCharges(charges) };
  return { campaign: graph.name, by, ...sums, ...(approved !== undefined && { approved }) };
}
