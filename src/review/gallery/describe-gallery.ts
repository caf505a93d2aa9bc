import type { CheckedGraph } from '../../campaign/checked-graph.ts';
import { requireCheckedGraph } from '../../campaign/checked-graph.ts';
import { findRun, listRuns } from '../../campaign/find-run.ts';
import { historyLines } from '../../campaign/history-lines.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { findPriceHints } from '../../campaign/price-hints.ts';
import { requireLock } from '../../campaign/read-lock.ts';
import { makeSelector } from '../../campaign/select-steps.ts';
import { readListings } from '../../campaign/service-facts.ts';
import type { ReportParts, ReportTimeline } from '../../contract/report.ts';
import type { ReviewAsset, ReviewData } from '../../contract/review.ts';
import { RunHistory } from '../../disk/state/run-history.ts';
import type { Origin } from '../../graph/trace/tracer.ts';
import { emptyLock } from '../../lock/write.ts';
import type { Price } from '../../plan/plan.ts';
import { type PriceOf, pricesFrom } from '../../plan/prices.ts';
import { type Situation, situate } from '../../plan/situation.ts';
import type { Paste } from '../../report/advice-text.ts';
import { type DiagramFacts, makeDiagram } from '../../report/diagram/diagram.ts';
import { reviewCommands } from '../commands.ts';
import { describeCampaign } from '../describe/describe-campaign.ts';
import type { FileFinder } from '../find-files.ts';
import { planForPage } from '../plan-for-page.ts';
import { tellNext } from '../tell.ts';
import { addBefore } from './add-before.ts';
import { addRequests } from './add-requests.ts';
import { makeCost } from './cost-tables.ts';
import { makeTimeline } from './timeline.ts';

export interface GalleryOptions {
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  /** Id of the run that the timeline is of, or its end. Default: the last one. */
  run?: string | undefined;
  /** A commit: each asset tells what it was there. */
  compare?: string | undefined;
  /** Writes commands for the page. */
  paste: Paste;
}

/**
 * Everything that a gallery shows, but where its files are and what they look like. No network, and nothing is written. A
 * manifest with mistakes, a lock that cannot be read, a run or a commit that nobody knows end it with a `CampaignError`.
 */
export async function describeGallery(
  campaign: OpenCampaign,
  finder: FileFinder,
  options: GalleryOptions,
): Promise<ReviewData & { report: ReportParts }> {
  const { paste } = options;
  const checked = await requireCheckedGraph(campaign, {});
  const { graph } = checked;
  const { lock } = await requireLock(campaign, undefined);
  const runs = await listRuns(campaign.paths);
  const run = options.run === undefined ? runs[0] : findRun(options.run, runs);
  const situation = situate(graph, lock);
  const hints = await findPriceHints(campaign, { ...situation, facts: checked.facts });
  const plan = planForPage(campaign, situation, hints);
  const selected = makeSelector(situation).chosen(options);
  const problemOf = finder.newLook();
  const described = describeCampaign({ situation, selected, rows: plan.rows, problemOf });
  const { assets } = described;
  const expected = pricesFrom(emptyLock(), graph.prices, { listings: await readListings(campaign, checked.facts) });
  addEstimates(assets, { ...situation, expected, now: pricesFrom(lock, graph.prices, hints) });
  addOrigins(assets, checked);
  const { compare: ref } = options;
  const compare = ref === undefined ? undefined : await addBefore(campaign, { ref, assets, lock, problemOf });
  await addRequests(campaign, assets, lock);
  const drawn = await draw({ situation, plan, selected, by: 'task' });
  const timeline = run && (await readTimeline(campaign, run.id, assets));
  const next = tellNext(described, plan.rows, paste);
  return {
    ...{ version: 1, revision: 1, file: campaign.file, canDecide: false, commands: reviewCommands(paste) },
    ...(next !== undefined && { next }),
    ...described,
    report: {
      made: Date.now(),
      ...(compare !== undefined && { compare }),
      ...(timeline !== undefined && { timeline }),
      cost: makeCost(situation),
      ...(drawn !== undefined && { graph: drawn }),
    },
  };
}

/** Adds estimates: for purchases those of before anything had been charged; else what a run would expect now. */
function addEstimates(
  assets: readonly ReviewAsset[],
  { byAddress, expected, now }: Pick<Situation, 'byAddress'> & { expected: PriceOf; now: PriceOf },
): void {
  for (const asset of assets) {
    const match = byAddress.get(asset.address);
    if (match?.sharesJobOf !== undefined) continue;
    const price = (asset.job === undefined ? now : expected)(asset.kind, asset.request);
    asset.estimated = likelyOf(price);
  }
}

function likelyOf({ likely, credits }: Price): number | null {
  return likely ?? credits;
}

/** Adds the origins of values. The campaign of now does not tell those of a purchase whose input has changed since. */
function addOrigins(assets: readonly ReviewAsset[], { originsOf }: Pick<CheckedGraph, 'originsOf'>): void {
  if (originsOf === undefined) return;
  for (const asset of assets) {
    if (asset.state === 'changed') continue;
    const entries = Object.keys(asset.request).flatMap((field) => {
      const text = originsOf(asset.address, field).map(originText).join(', ');
      return text === '' ? [] : [[field, text] as const];
    });
    asset.origins = Object.fromEntries(entries);
  }
}

/** `campaign.yaml:14`, `name of products.csv:3`. */
function originText({ is, name, file, line }: Origin): string {
  return is === 'template' ? `${file}:${line}` : `${name} of ${file}:${line}`;
}

/** Draws the diagram. Undefined: it is too large to be drawn. */
async function draw(facts: DiagramFacts): Promise<string | undefined> {
  const { diagramSvg } = await import('../../report/diagram/diagram-svg.ts');
  const svg = diagramSvg(makeDiagram(facts));
  return svg?.slice(svg.indexOf('<svg')).trimEnd();
}

async function readTimeline(
  { paths }: OpenCampaign,
  id: string,
  assets: readonly ReviewAsset[],
): Promise<ReportTimeline | undefined> {
  const lines = await new RunHistory(paths.state, paths.runs).read(id);
  return lines && makeTimeline(id, historyLines(lines), new Map(assets.map(({ address }, index) => [address, index])));
}
