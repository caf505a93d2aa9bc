import { extname } from 'node:path';
import { type CheckedGraph, requireCheckedGraph } from '../../campaign/checked-graph.ts';
import { readCommittedCampaign } from '../../campaign/compare-with-commit.ts';
import { jobToken } from '../../campaign/decisions/judge.ts';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { makeSelector } from '../../campaign/select-steps.ts';
import { findPriceHints, readListings } from '../../campaign/service-facts.ts';
import { Session } from '../../campaign/session.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewAsset, ReviewData, ReviewEarlier, ReviewGroup } from '../../contract/review.ts';
import type { Origin } from '../../graph/trace/tracer.ts';
import { defined } from '../../ground/values.ts';
import type { Lock } from '../../lock/record.ts';
import { emptyLock } from '../../lock/write.ts';
import { type PriceOf, pricesFrom } from '../../plan/prices/prices.ts';
import { type Situation, situate } from '../../plan/situation/situation.ts';
import type { Paste } from '../../report/advice-text.ts';
import { describeCampaign, differingFields, type PlaceOf } from '../describe/describe-campaign.ts';
import type { FileFinder } from '../find-files.ts';
import { describeNext, planForPage, reviewCommands } from '../review-text.ts';

export interface GalleryOptions {
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  compare?: string | undefined;
  paste: Paste;
}

export async function describeGallery(
  campaign: OpenCampaign,
  finder: FileFinder,
  options: GalleryOptions,
): Promise<ReviewData & { report: ReportParts }> {
  const { paste } = options;
  const checked = await requireCheckedGraph(campaign, {});
  const { graph } = checked;
  const { lock, situation } = await Session.open(campaign, { graph });
  const hints = await findPriceHints(campaign, { ...situation, facts: checked.facts });
  const plan = planForPage(campaign, situation, hints);
  const selected = makeSelector(situation).chosen(options);
  const placeOf = finder.renew();
  const described = describeCampaign({ situation, selected, rows: plan.rows, placeOf });
  const { assets } = described;
  const expected = pricesFrom(emptyLock(), graph.prices, { listings: await readListings(campaign, checked.facts) });
  addEstimates(assets, { ...situation, expected, now: pricesFrom(lock, graph.prices, hints) });
  addOrigins(assets, checked);
  const { compare: ref } = options;
  const compare = ref === undefined ? undefined : await addBefore(campaign, { ref, assets, lock, placeOf });
  const next = describeNext(described, plan.rows, paste);
  return {
    ...{ version: 2, revision: 1, file: campaign.file, canDecide: false, commands: reviewCommands(paste) },
    ...defined({ next }),
    ...described,
    report: { made: Date.now(), ...defined({ compare }) },
  };
}

/**
 * Adds price estimates. A purchased step gets the estimate from before its purchase, other steps the current estimate.
 */
function addEstimates(
  assets: readonly ReviewAsset[],
  { byAddress, expected, now }: Pick<Situation, 'byAddress'> & { expected: PriceOf; now: PriceOf },
): void {
  for (const asset of assets) {
    const match = byAddress.get(asset.address);
    if (match?.sharesJobOf !== undefined) continue;
    const price = (asset.job === undefined ? now : expected)(asset.kind, asset.request);
    asset.report = { estimated: price.likely ?? price.credits };
  }
}

/** Adds the origins of request fields. Skips changed assets, because their requests come from an earlier manifest. */
function addOrigins(assets: readonly ReviewAsset[], { origins }: Pick<CheckedGraph, 'origins'>): void {
  if (origins === undefined) return;
  for (const asset of assets) {
    if (asset.state === 'changed') continue;
    const entries = Object.keys(asset.request).flatMap((field) => {
      const text = origins.find(asset.address, field).map(originText).join(', ');
      return text === '' ? [] : [[field, text] as const];
    });
    asset.report = { ...asset.report, origins: Object.fromEntries(entries) };
  }
}

function originText({ is, name, file, line }: Origin): string {
  return is === 'template' ? `${file}:${line}` : `${name} of ${file}:${line}`;
}

interface BeforeFacts {
  ref: string;
  assets: readonly ReviewAsset[];
  lock: Lock;
  placeOf: PlaceOf;
}

/**
 * Adds to each asset its state at the commit `ref`. Returns the full commit ID. If the commit has no lock, the current
 * lock shows which requests of that commit were bought.
 */
async function addBefore(
  campaign: OpenCampaign,
  { ref, assets, lock: present, placeOf }: BeforeFacts,
): Promise<{ ref: string; commit: string }> {
  const { graph, lock: committed, commit, isAbsent } = await readCommittedCampaign(campaign, ref);
  const lock = isAbsent ? present : committed;
  if (isAbsent && present.steps.size > 0) {
    const text = `${ref} does not contain the lock: the gallery shows the outputs in the current lock that match the requests of ${ref}`;
    campaign.notify({ is: 'notice', text });
  }
  // A file at the path of the commit's output is that output only if the digests are equal.
  const now = new Map(assets.flatMap(({ files }) => files.map(({ path, sha256 }) => [path, sha256] as const)));
  const isKeptOnly = (path: string, sha256: string) => now.has(path) && now.get(path) !== sha256;
  const there = describeCampaign({
    situation: situate(graph, lock),
    placeOf: (output) => placeOf(output, isKeptOnly(output.path, output.sha256)),
  });
  const byAddress = new Map(there.assets.map((asset) => [asset.address, asset]));
  const byJob = new Map(
    there.assets.flatMap((asset) => (asset.job === undefined ? [] : [[asset.job, asset] as const])),
  );
  const here = new Set(assets.map(({ address }) => address));
  for (const asset of assets) {
    const renamed = asset.job === undefined ? undefined : byJob.get(asset.job);
    const before = byAddress.get(asset.address) ?? (renamed && !here.has(renamed.address) ? renamed : undefined);
    // The step was bought with another request than that of the commit.
    const isOther = isAbsent && before?.state === 'changed';
    asset.report = { ...asset.report, before: before === undefined ? null : earlierOf(before, asset, isOther) };
  }
  return { ref, commit };
}

function earlierOf({ job, credits, request, files }: ReviewAsset, now: ReviewAsset, isOther: boolean): ReviewEarlier {
  return {
    ...(!isOther && job !== undefined && { job }),
    ...(!isOther && credits !== undefined && { credits }),
    changed: differingFields([request, now.request]),
    request,
    files: isOther ? [] : files.filter(({ problem }) => problem === undefined),
  };
}

/**
 * Reduces a gallery for a client to names and outputs. Removes prices, prompts, IDs, paths, commands, earlier decisions
 * and rejected outputs, and renames files. `note`: line above the pictures, for example a sender and a deadline. `by`:
 * recipient of the picks.
 */
export function forClient(
  data: ReviewData & { report: ReportParts },
  { note, by = 'the sender' }: { note: string; by?: string | undefined },
): ReviewData & { report: ReportParts } {
  const names = new Set<string>();
  const unique = (name: string, task: string) => {
    let found = name;
    for (let n = 1; names.has(found); n += 1) found = n === 1 ? `${name}, ${task}` : `${name}, ${task} ${n}`;
    names.add(found);
    return found;
  };
  const assets: ReviewAsset[] = [];
  let hasGaps = false;
  const groups = data.groups.flatMap((group): ReviewGroup[] => {
    const shown = group.members
      .flatMap((member) => data.assets[member] ?? [])
      .filter(({ files, verdict }) => verdict?.is !== 'rejected' && files.some(({ problem }) => problem === undefined));
    const [first] = shown;
    if (first === undefined) return [];
    hasGaps ||= shown.some(({ take }, index) => take !== undefined && take !== index + 1);
    const key = group.title ?? group.key ?? group.task;
    const title = unique(key, group.task);
    const members = shown.map((asset) => {
      const name = shown.length === 1 ? title : unique(nameAmong(asset, group, title), group.task);
      return assets.push({ ...clientAsset(asset, name), key }) - 1;
    });
    const { task, differBy, gate } = group;
    const state = 'open' as const;
    const asked = gate && {
      is: gate.is,
      choose: Math.min(gate.choose, shown.length),
      state,
      waiting: 0,
      waitingCredits: null,
    };
    return [{ name: title, task, differBy, members, ...defined({ gate: asked }) }];
  });
  const isAsked = groups.some(({ gate }) => gate !== undefined);
  const what = isAsked && `Pick in each group, then “Save picks”, and send picks.json back to ${by}`;
  const { version, revision, campaign, canDecide, report } = data;
  return {
    ...{ version, revision, campaign, file: campaign, canDecide, groups, assets },
    report: { made: report.made, client: [note, what, hasGaps && gaps].filter(Boolean).join(' · ') },
  };
}

const gaps = 'if a take number is missing, the take is not part of this gallery';

function nameAmong(asset: ReviewAsset, { differBy }: ReviewGroup, title: string): string {
  const parts = differBy.flatMap((by) => (by === 'take' ? `take ${asset.take ?? ''}` : (asset.matrix[by] ?? [])));
  return [title, ...parts].join(', ');
}

function clientAsset(asset: ReviewAsset, name: string): ReviewAsset {
  const { address, task, kind, matrix, take, job, isJudged, files } = asset;
  for (const [index, file] of files.entries()) {
    const safe = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
    file.path = `${safe}${index === 0 ? '' : `-${index + 1}`}${extname(file.path)}`;
  }
  return {
    ...{ address: name, task, kind, matrix, tags: [], state: 'done', files, request: {}, defaults: {}, differs: [] },
    ...defined({ take }),
    ...(job !== undefined && { job: jobToken(job), report: { step: address } }),
    ...{ isJudged, earlier: [], madeFrom: [], usedBy: [] },
  };
}
