import type {
  ReviewAsset,
  ReviewData,
  ReviewGate,
  ReviewGroup,
  ReviewWait,
  WantedVerdict,
} from '../../contract/review.ts';

export type Mark = WantedVerdict['is'];
export type GateState = ReviewGate['state'];

/** Contents of the page: the data of the host, and on top of it the verdicts that the host does not have yet. */
export interface Shown {
  data: ReviewData;
  /** In the order of the manifest. */
  groups: readonly ShownGroup[];
  /** By address; verdicts as they are shown. */
  assets: ReadonlyMap<string, ReviewAsset>;
  /** By the address of each member. */
  groupOf: ReadonlyMap<string, ShownGroup>;
}

export interface ShownGroup {
  group: ReviewGroup;
  /** Among all groups. */
  index: number;
  /** Members, in order, with verdicts as they are shown. */
  assets: readonly ReviewAsset[];
  /** State of its gate; absent: it has none. */
  state?: GateState;
  /** How many of its members are picked. */
  picked: number;
}

/** Verdicts that the host has not recorded, by address, in the order in which they were given. */
export type Own = ReadonlyMap<string, WantedVerdict>;

/** Lays `own` over `data`. A verdict about another purchase than the one that is shown counts for nothing. */
export function show(data: ReviewData, own: Own): Shown {
  const assets = new Map<string, ReviewAsset>();
  const groupOf = new Map<string, ShownGroup>();
  const groups = data.groups.map((group, index) => {
    const shown = showGroup(data, group, index, own);
    for (const asset of shown.assets) {
      assets.set(asset.address, asset);
      groupOf.set(asset.address, shown);
    }
    return shown;
  });
  return { data, groups, assets, groupOf };
}

function showGroup(data: ReviewData, group: ReviewGroup, index: number, own: Own): ShownGroup {
  const members = group.members.flatMap((member) => data.assets[member] ?? []);
  const { gate } = group;
  if (gate === undefined) return { group, index, assets: members, picked: 0 };
  const newPick = gate.choose === 1 && members.some((asset) => ownOf(asset, own)?.is === 'picked');
  const assets = members.map((asset): ReviewAsset => {
    const wanted = ownOf(asset, own);
    if (wanted !== undefined) return withVerdict(asset, wanted);
    // The host un-picks it in the same write.
    if (newPick && asset.verdict?.is === 'picked') return withVerdict(asset, undefined);
    return asset;
  });
  const picked = assets.filter(({ verdict }) => verdict?.is === 'picked').length;
  const touched = assets.some((asset, at) => asset !== members[at]);
  return { group, index, assets, picked, state: touched ? stateOf(assets, picked, gate.choose) : gate.state };
}

function ownOf(asset: ReviewAsset, own: Own): WantedVerdict | undefined {
  const wanted = own.get(asset.address);
  return wanted?.job === asset.job ? wanted : undefined;
}

function withVerdict(asset: ReviewAsset, wanted: WantedVerdict | undefined): ReviewAsset {
  const { verdict: _, ...rest } = asset;
  if (wanted === undefined || wanted.is === 'undecided') return rest;
  return { ...rest, verdict: { is: wanted.is, ...(wanted.note && { note: wanted.note }) } };
}

/** The rule of the runner's own gates. */
function stateOf(assets: readonly ReviewAsset[], picked: number, choose: number): GateState {
  if (picked === choose) return 'decided';
  if (picked > choose) return 'contested';
  return assets.filter(({ verdict }) => verdict?.is !== 'rejected').length < choose ? 'rejected' : 'open';
}

export function markOf(asset: ReviewAsset): Mark {
  return asset.verdict?.is ?? 'undecided';
}

/** Whether somebody has to look at the group: a gate that is open or contested, with something to look at. */
export function isUndecided({ state, assets }: ShownGroup): boolean {
  return (state === 'open' || state === 'contested') && assets.some(({ isJudged }) => isJudged);
}

/** Whether a verdict on this asset is missing, so that a filter of the undecided shows it. */
export function needsVerdict(asset: ReviewAsset, group: ShownGroup): boolean {
  if (!asset.isJudged || !isUndecided(group)) return false;
  return group.state === 'contested' ? asset.verdict?.is === 'picked' : asset.verdict === undefined;
}

export interface Counts {
  gates: number;
  decided: number;
  /** Open or contested, with something to look at. */
  left: number;
  /** All rejected: nothing is left to pick. */
  rejected: number;
  /** Steps that wait until somebody decides. */
  waits: Waits;
}

/** Steps and their credits: at most, or null and as expected; both null where nobody knows. */
export type Waits = Omit<ReviewWait, 'gates'>;

export function count({ data, groups }: Pick<Shown, 'data' | 'groups'>): Counts {
  const gates = groups.flatMap((shown) => (shown.group.gate === undefined ? [] : { ...shown, gate: shown.group.gate }));
  const open = new Set(gates.flatMap(({ group, state }) => (state === 'decided' ? [] : group.name)));
  const all = data.waits ?? gates.map(({ group, gate }) => ({ gates: [group.name], ...waitsOf(gate) }));
  const waits: Waits = { steps: 0, credits: 0, likely: 0 };
  for (const { gates: names, steps, credits, likely } of all) {
    // What waits for several counts once.
    if (!names.some((name) => open.has(name))) continue;
    waits.steps += steps;
    waits.credits = credits === null || waits.credits === null ? null : waits.credits + credits;
    waits.likely = likely === null || waits.likely === null ? null : waits.likely + likely;
  }
  return {
    gates: gates.length,
    decided: gates.length - open.size,
    left: gates.filter(isUndecided).length,
    rejected: gates.filter(({ state }) => state === 'rejected').length,
    waits,
  };
}

export function waitsOf({ waiting, waitingCredits, waitingLikely }: ReviewGate): Waits {
  return { steps: waiting, credits: waitingCredits, likely: waitingCredits ?? waitingLikely ?? null };
}
