import type { Judged } from '../../campaign/decisions/judge.ts';
import type {
  ReviewAsset,
  ReviewData,
  ReviewEarlier,
  ReviewFile,
  ReviewGate,
  ReviewGroup,
  ReviewWait,
} from '../../contract/review.ts';
import { stepAddress } from '../../graph/address.ts';
import type { OpenRequest } from '../../graph/graph.ts';
import { canonicalJson } from '../../ground/json.ts';
import { defined, groupBy } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Output, Purchase } from '../../lock/record.ts';
import { findChanges } from '../../plan/compare/changes.ts';
import { findOwn } from '../../plan/decisions/pin.ts';
import { readableRequest } from '../../plan/outputs/list-outputs.ts';
import type { PlanRow } from '../../plan/plan.ts';
import {
  type BoughtAt,
  boughtAtIn,
  type DecidedGate,
  type DecidedGraph,
  type DecidedStep,
  type Match,
} from '../../plan/situation/find-purchases.ts';
import { type Situation, stateOfStep } from '../../plan/situation/situation.ts';
import type { Verdicts } from '../../plan/situation/verdicts.ts';
import { nounOf } from '../review-text.ts';

interface CampaignFacts {
  situation: Situation;
  rows?: readonly PlanRow[] | undefined;
  selected?: ReadonlySet<string> | undefined;
  placeOf: PlaceOf;
}

export function describeCampaign(facts: CampaignFacts): Pick<ReviewData, 'campaign' | 'groups' | 'assets' | 'waits'> {
  const { situation, selected, placeOf, rows } = facts;
  const { graph, lock, matches, byAddress, unneeded, gateOf, verdicts } = situation;
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
    ({ step: { address, kind, rejected } }) =>
      kinds[kind]?.media !== 'none' &&
      // Steps that use a rejected output stay on the page, because users may undo the rejection.
      (rejected !== undefined || !unneeded.has(address)) &&
      (selected?.has(address) ?? true),
  );
  const assets = meant.map((match) =>
    describeAsset(match, {
      ...{ byAddress, unneeded, verdicts, boughtAt, placeOf },
      isGated: gateOf.has(match.step.address),
      madeFrom: madeFrom.get(match.step.address) ?? [],
      usedBy: usedBy.get(match.step.address) ?? [],
      isTaken: (path) => taken.has(path),
    }),
  );
  const waits = rows === undefined ? undefined : listWaits(graph, rows);
  return {
    ...{ campaign: graph.name, groups: describeGroups(assets, situation, waits), assets },
    ...defined({ waits }),
  };
}

export function withVerdicts(data: ReviewData, gates: Judged['gates']): ReviewData {
  const byName = new Map(gates.map((gate) => [gate.name, gate]));
  const assets = [...data.assets];
  const groups = data.groups.map((group): ReviewGroup => {
    const decided = byName.get(group.name);
    if (decided === undefined || group.gate === undefined) return group;
    for (const index of group.members) {
      const { verdict: _, ...asset } = data.assets[index] as ReviewAsset;
      const verdict = decided.verdicts.get(asset.address);
      assets[index] = { ...asset, ...defined({ verdict }) };
    }
    return { ...group, gate: { ...group.gate, state: decided.state.is } };
  });
  return { ...data, groups, assets };
}

const mostNamed = 50;

function neededSteps({ steps, gates }: DecidedGraph): Map<string, readonly string[]> {
  const byName = new Map(gates.map(({ name, members }) => [name, members]));
  const stepsOf = (need: string) => {
    const members = byName.get(need) ?? [need];
    return members.length <= mostNamed ? members : [];
  };
  return new Map(steps.map(({ address, needs }) => [address, needs.flatMap(stepsOf)]));
}

/**
 * Groups assets by gate, and assets without a gate by row key of their task, in the order of the manifest. Sets
 * `differs` of each asset. `waits`: undefined if unknown.
 */
function describeGroups(
  assets: ReviewAsset[],
  { graph, gateOf, byAddress }: Situation,
  waits: readonly ReviewWait[] | undefined,
): ReviewGroup[] {
  const nameOf = ({ address, task, key }: ReviewAsset) =>
    gateOf.get(address)?.name ?? stepAddress(task, { key, values: [], take: undefined });
  const sums = waits && sumWaits(waits);
  const byName = groupBy(assets.entries(), ([, asset]) => nameOf(asset));
  const groups = [...byName].map(([name, entries]): ReviewGroup => {
    const members = entries.map(([index]) => index);
    const own = entries.map(([, asset]) => asset);
    const [first] = own;
    const gate = first && gateOf.get(first.address);
    const keys = new Set(own.map(({ key }) => key));
    const named = new Set(own.map(({ address }) => byAddress.get(address)?.step.title));
    const [title] = named.size === 1 ? named : [];
    nameDifferences(own);
    return {
      ...{ name, task: first?.task ?? name, differBy: differencesOf(own), members },
      ...(keys.size === 1 && first?.key !== undefined && { key: first.key }),
      ...(title !== undefined && title !== first?.key && { title }),
      ...(gate && { gate: describeGate(gate, sums) }),
    };
  });
  const places = new Map(graph.tasks.map(({ id }, index) => [id, index]));
  const orderOf = ({ task }: ReviewGroup) => places.get(task) ?? places.size;
  return groups.sort((a, b) => orderOf(a) - orderOf(b));
}

const notKnown = { steps: 0, what: undefined, credits: null, likely: null };
const nothing = { steps: 0, what: undefined, credits: 0, likely: 0 };

function describeGate(gate: DecidedGate, waits: ReturnType<typeof sumWaits> | undefined): ReviewGate {
  const { name, is, choose, note, reasons, state } = gate;
  const { steps, what, credits, likely } = waits === undefined ? notKnown : (waits.get(name) ?? nothing);
  return {
    ...{ is, choose, state: state.is, waiting: steps, waitingCredits: credits },
    ...(credits === null && likely !== null && { waitingLikely: likely }),
    ...defined({ note, reasons, waitingWhat: what }),
  };
}

function differencesOf(assets: readonly ReviewAsset[]): string[] {
  const isSeveral = (values: Iterable<unknown>) => new Set(values).size > 1;
  const axes = new Set(assets.flatMap(({ matrix }) => Object.keys(matrix)));
  return [
    ...(isSeveral(assets.map(({ key }) => key)) ? ['key'] : []),
    ...[...axes].filter((axis) => isSeveral(assets.map(({ matrix }) => matrix[axis]))),
    ...(isSeveral(assets.map(({ take }) => take)) ? ['take'] : []),
  ];
}

function nameDifferences(assets: readonly ReviewAsset[]): void {
  if (assets.length < 2) return;
  const differing = differingFields(assets.map(({ request }) => request));
  for (const asset of assets) asset.differs = differing;
}

/** Counts steps that wait for open gates, grouped by these gates. A step that waits for several gates counts once. */
function listWaits(graph: DecidedGraph, rows: readonly PlanRow[]): ReviewWait[] {
  const held = new Map(rows.flatMap((row) => (row.blockedBy === 'gate' ? [[row.address, row] as const] : [])));
  const gatesOf = new Map<string, readonly string[]>();
  const byName = new Map(graph.gates.map((gate) => [gate.name, gate]));
  const waits = new Map<string, ReviewWait>();
  // A step may depend on a gate whose members wait for other gates.
  const gatesBefore = (need: string): readonly string[] => {
    const gate = byName.get(need);
    const known = gatesOf.get(need);
    if (known !== undefined || gate === undefined) return known ?? [];
    const gates = [...new Set(gate.members.flatMap((member) => gatesOf.get(member) ?? []))];
    gatesOf.set(need, gates);
    return gates;
  };
  // Steps are in order of dependency.
  for (const { address, waits: own = [], needs } of graph.steps) {
    const row = held.get(address);
    if (row === undefined) continue;
    const gates = [...new Set([...own, ...needs.flatMap(gatesBefore)])];
    gatesOf.set(address, gates);
    const name = JSON.stringify(gates);
    const noun = nounOf(row.kind);
    const { steps, what, credits, likely } = waits.get(name) ?? {
      ...{ steps: 0, what: noun, credits: 0, likely: 0 },
    };
    const cost = row.wouldCost === undefined ? 0 : row.wouldCost;
    waits.set(name, {
      gates,
      steps: steps + 1,
      ...(what === noun && { what }),
      credits: add(credits, cost),
      likely: add(likely, cost ?? row.price?.likely ?? null),
    });
  }
  return [...waits.values()].filter(({ gates }) => gates.length > 0);
}

function sumWaits(waits: readonly ReviewWait[]): Map<string, Omit<ReviewWait, 'gates'>> {
  const sums = new Map<string, Omit<ReviewWait, 'gates'>>();
  for (const { gates, steps, what, credits, likely } of waits) {
    for (const gate of gates) {
      const sum = sums.get(gate) ?? { steps: 0, what, credits: 0, likely: 0 };
      sums.set(gate, {
        steps: sum.steps + steps,
        ...(sum.what === what && { what }),
        credits: add(sum.credits, credits),
        likely: add(sum.likely, likely),
      });
    }
  }
  return sums;
}

function add(sum: number | null, more: number | null): number | null {
  return sum === null || more === null ? null : sum + more;
}

export function differingFields(requests: readonly OpenRequest[]): string[] {
  const fields = new Set(requests.flatMap((request) => Object.keys(request)));
  return [...fields].filter((field) => {
    const texts = requests.map(({ [field]: value }) => (value === undefined ? undefined : canonicalJson(value)));
    return new Set(texts).size > 1;
  });
}

/** Locates an output's file. `isKeptOnly`: searches only retained files, because another output now has its path. */
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

function describeAsset(match: Match, context: AssetContext): ReviewAsset {
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
    // A step that is not needed now is shown as planned, because it may still be bought.
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
 * Returns the request of a step; its references to outputs contain step addresses. For a changed, pinned or accepted
 * step, the request comes from the lock.
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
