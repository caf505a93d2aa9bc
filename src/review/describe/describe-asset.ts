import type { ReviewAsset, ReviewEarlier, ReviewFile } from '../../contract/review.ts';
import type { OpenRequest } from '../../graph/graph.ts';
import { defined } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Output, Purchase } from '../../lock/record.ts';
import { findChanges } from '../../plan/compare/changes.ts';
import { findOwn } from '../../plan/decisions/pin.ts';
import { readableRequest } from '../../plan/outputs/list-outputs.ts';
import type { BoughtAt, DecidedStep, Match } from '../../plan/situation/find-purchases.ts';
import { stateOfStep } from '../../plan/situation/situation.ts';
import type { Verdicts } from '../../plan/situation/verdicts.ts';

/** Locates an output. `isKeptOnly`: searches only the retained files, because another output now has its path. */
export type PlaceOf = (output: Output, isKeptOnly: boolean) => 'placed' | 'kept' | NonNullable<ReviewFile['problem']>;

interface AssetContext {
  verdicts: Verdicts;
  placeOf: PlaceOf;
  byAddress: ReadonlyMap<string, Match>;
  unneeded: ReadonlySet<string>;
  isGated: boolean;
  madeFrom: readonly string[];
  usedBy: readonly string[];
  boughtAt: BoughtAt;
  isTaken(path: string): boolean;
}

export function describeAsset(match: Match, context: AssetContext): ReviewAsset {
  const { step } = match;
  const { address, task, kind, key, row, matrix, take, tags } = step;
  const state = stateOf(match, context);
  const shown = findShown(match, context.byAddress);
  const verdict = shown === match.purchase ? context.verdicts.on(match) : undefined;
  const files = (shown?.outputs ?? []).map((output) => describeFile(output, context.placeOf(output, false)));
  const error = state === 'failed' || state === 'unresolved' ? match.purchase?.error : undefined;
  const request = requestOf(step, shown, context.boughtAt);
  const model = kinds[kind]?.model;
  return {
    ...{ address, task, kind, matrix, tags, state, files },
    ...defined({ key, row, take, error }),
    request,
    defaults: model && request[model.field] === undefined ? { [model.field]: `${model.default} (default)` } : {},
    // `describeGroups` sets this field.
    differs: [],
    ...(shown?.jobId !== undefined && { job: shown.jobId, credits: shown.credits ?? null }),
    ...defined({ verdict }),
    isJudged: context.isGated && canBeJudged(match),
    earlier: describeEarlier(match, shown, context),
    madeFrom: [...context.madeFrom],
    usedBy: [...context.usedBy],
  };
}

function stateOf(match: Match, context: Pick<AssetContext, 'byAddress' | 'unneeded'>): ReviewAsset['state'] {
  const state = stateOfStep(match, context);
  switch (state) {
    case 'lost':
      return 'failed';
    // The page shows these steps as planned, because they may still be bought.
    case 'unneeded':
    case 'not-bought':
      // The next run repeats a refused request. The page shows the step as failed with the reason.
      return match.purchase?.state === 'refused' ? 'failed' : 'planned';
    default:
      return state;
  }
}

function findShown(match: Match, byAddress: ReadonlyMap<string, Match>): Purchase | undefined {
  const owner =
    match.sharesJobOf === undefined || match.step.rejected !== undefined ? undefined : byAddress.get(match.sharesJobOf);
  const own = match.purchase ?? owner?.purchase;
  if (own !== undefined) return own;
  const counted = match.record === undefined ? [] : countedPurchases(match.record);
  return counted.find(({ outputs }) => outputs !== undefined) ?? counted.find(({ jobId }) => jobId !== undefined);
}

function canBeJudged(match: Match): boolean {
  const found = findOwn(match);
  if ('is' in found) return false;
  const { purchase } = found;
  return purchase.state === 'done' && purchase.fingerprint === match.step.fingerprint && purchase.jobId !== undefined;
}

/**
 * Returns the request with references by address. For a changed, pinned or accepted step, the request comes from the
 * lock.
 */
function requestOf(step: DecidedStep, shown: Purchase | undefined, boughtAt: BoughtAt): OpenRequest {
  if (step.decided?.wanted !== undefined) return readableRequest(step.paidRequest, boughtAt);
  if (shown?.request === undefined || shown.fingerprint === step.fingerprint) return step.request;
  return readableRequest(shown.request, boughtAt);
}

function describeEarlier(
  { step, record }: Match,
  shown: Purchase | undefined,
  { placeOf, boughtAt, isTaken }: AssetContext,
): ReviewEarlier[] {
  if (record === undefined || record.purchases.length < 2) return [];
  const others = record.purchases.filter((purchase) => purchase !== shown && purchase.jobId !== undefined);
  return others
    .filter(({ jobId }) => jobId !== shown?.jobId)
    .map(({ jobId, credits, request, outputs = [] }): ReviewEarlier => {
      const files = outputs.map((output) => describeFile(output, placeOf(output, isTaken(output.path))));
      return {
        ...defined({ job: jobId }),
        credits: credits ?? null,
        changed: request === undefined ? [] : changedFields(request, step),
        request: request === undefined ? {} : readableRequest(request, boughtAt),
        files: files.filter(({ problem }) => problem === undefined),
      };
    });
}

function changedFields(bought: OpenRequest, step: DecidedStep): string[] {
  const fields = findChanges(bought, step).changes.map(({ field }) => field.split('.')[0] ?? field);
  return [...new Set(fields)];
}

function describeFile({ path, type, bytes, sha256 }: Output, place: ReturnType<PlaceOf>): ReviewFile {
  const [media] = type.split('/');
  const is = media === 'image' || media === 'audio' || media === 'video' ? media : 'other';
  return {
    ...{ is, path, mediaType: type, bytes, sha256 },
    ...(place === 'kept' && { isKept: true }),
    ...((place === 'missing' || place === 'damaged') && { problem: place }),
  };
}
