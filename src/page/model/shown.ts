import type {
  ReviewAsset,
  ReviewChange,
  ReviewData,
  ReviewGate,
  ReviewGroup,
  ReviewWait,
  WantedVerdict,
} from '../../contract/review.ts';

export type Mark = WantedVerdict['is'];
type GateState = ReviewGate['state'];

/** Content of the page: the data of the host, changed by verdicts that the host has not recorded. */
export interface Shown {
  data: ReviewData;
  own: Own;
  groups: readonly ShownGroup[];
  assets: ReadonlyMap<string, ReviewAsset>;
  groupOf: ReadonlyMap<string, ShownGroup>;
}

export interface ShownGroup {
  group: ReviewGroup;
  index: number;
  assets: readonly ReviewAsset[];
  state?: GateState;
  picked: number;
}

/** Verdicts that the host has not recorded, by address, oldest first. */
export type Own = ReadonlyMap<string, WantedVerdict>;

/** Applies a change from the server to the data of the page. Unchanged assets and groups stay the same objects. */
export function withChange(data: ReviewData, { since: _, assets, groups, ...rest }: ReviewChange): ReviewData {
  const { run: _run, next: _next, ...kept } = data;
  const byAddress = new Map(assets.map((asset) => [asset.address, asset]));
  const byName = new Map(groups.map((group) => [group.name, group]));
  return {
    ...kept,
    ...rest,
    assets: data.assets.map((asset) => byAddress.get(asset.address) ?? asset),
    groups: data.groups.map((group) => byName.get(group.name) ?? group),
  };
}

/**
 * Applies the verdicts in `own` to `data`. Ignores verdicts on replaced outputs. A group that has not changed since
 * `before` stays the same object.
 */
export function show(data: ReviewData, own: Own, before?: Shown): Shown {
  const groups = data.groups.map((group, index) => {
    const known = before?.groups[index];
    const isSame = before !== undefined && known?.group === group && isShownAlike(group, { data, own }, before);
    return isSame ? known : showGroup(data, group, index, own);
  });
  const changed = groups.filter((shown) => shown !== before?.groups[shown.index]);
  const isSameSet = before?.groups.length === groups.length && changed.every((shown) => hasSameSteps(shown, before));
  const assets = new Map(isSameSet ? before.assets : undefined);
  const groupOf = new Map(isSameSet ? before.groupOf : undefined);
  for (const shown of isSameSet ? changed : groups) {
    for (const asset of shown.assets) {
      assets.set(asset.address, asset);
      groupOf.set(asset.address, shown);
    }
  }
  return { data, own, groups, assets, groupOf };
}

function hasSameSteps({ index, assets }: ShownGroup, before: Shown): boolean {
  const old = before.groups[index]?.assets ?? [];
  return old.length === assets.length && assets.every(({ address }, at) => address === old[at]?.address);
}

function isShownAlike(group: ReviewGroup, now: Pick<Shown, 'data' | 'own'>, before: Shown): boolean {
  return group.members.every((member) => {
    const asset = now.data.assets[member];
    const address = asset?.address ?? '';
    return asset === before.data.assets[member] && now.own.get(address) === before.own.get(address);
  });
}

function showGroup(data: ReviewData, group: ReviewGroup, index: number, own: Own): ShownGroup {
  const members = group.members.flatMap((member) => data.assets[member] ?? []);
  const { gate } = group;
  if (gate === undefined) return { group, index, assets: members, picked: 0 };
  const newPick = gate.choose === 1 && members.some((asset) => ownOf(asset, own)?.is === 'picked');
  const assets = members.map((asset): ReviewAsset => {
    const wanted = ownOf(asset, own);
    if (wanted !== undefined) return withVerdict(asset, wanted);
    // The host un-picks the earlier pick when it records the new pick.
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
  const { is, note, reason, by } = wanted;
  return { ...rest, verdict: { is, ...(note && { note }), ...(reason && { reason }), ...(by && { by }) } };
}

function stateOf(assets: readonly ReviewAsset[], picked: number, choose: number): GateState {
  if (picked === choose) return 'decided';
  if (picked > choose) return 'contested';
  return assets.filter(({ verdict }) => verdict?.is !== 'rejected').length < choose ? 'rejected' : 'open';
}

export function numbersOf(assets: readonly ReviewAsset[]): number[] {
  const takes = new Set(assets.map(({ take }) => take));
  const areOwn = takes.size === assets.length && !takes.has(undefined);
  return assets.map(({ take }, index) => (areOwn ? take : undefined) ?? index + 1);
}

export function digitOf({ assets }: Pick<ShownGroup, 'assets'>, asset: ReviewAsset): number | undefined {
  const number = numbersOf(assets)[assets.indexOf(asset)];
  return number !== undefined && number <= 9 ? number : undefined;
}

export function markOf(asset: ReviewAsset): Mark {
  return asset.verdict?.is ?? 'undecided';
}

/**
 * Returns whether a gate needs replacements because all outputs are rejected. An `approve` gate with only
 * rejected outputs counts as decided.
 */
function needsReplacements({ state, group: { gate } }: Pick<ShownGroup, 'state' | 'group'>): boolean {
  return state === 'rejected' && gate?.is !== 'approve';
}

export function isUndecided(shown: ShownGroup): boolean {
  const { state, assets } = shown;
  const isOpen = state === 'open' || state === 'contested' || needsReplacements(shown);
  return isOpen && assets.some(({ isJudged }) => isJudged);
}

export function needsVerdict(asset: ReviewAsset, group: ShownGroup): boolean {
  if (!asset.isJudged || !isUndecided(group)) return false;
  if (group.state === 'rejected') return true;
  return group.state === 'contested' ? asset.verdict?.is === 'picked' : asset.verdict === undefined;
}

interface Counts {
  gates: number;
  decided: number;
  /** Number of gates that need a decision and have an output to review. */
  left: number;
  rejected: number;
  waits: Waits;
}

export type Waits = Omit<ReviewWait, 'gates'>;

export function count({ data, groups }: Pick<Shown, 'data' | 'groups'>): Counts {
  const gates = groups.flatMap((shown) => (shown.group.gate === undefined ? [] : { ...shown, gate: shown.group.gate }));
  const isOpen = ({ state }: ShownGroup) => state === 'open' || state === 'contested';
  const open = new Set(gates.filter(isOpen).map(({ group }) => group.name));
  const rejected = gates.filter(needsReplacements).length;
  const all = data.waits ?? gates.map(({ group, gate }) => ({ gates: [group.name], ...waitsOf(gate) }));
  const waits: Waits = { steps: 0, credits: 0, likely: 0 };
  for (const { gates: names, steps, what, credits, likely } of all) {
    // A step that waits for several gates counts once.
    if (!names.some((name) => open.has(name))) continue;
    waits.what = waits.steps === 0 || waits.what === what ? what : undefined;
    waits.steps += steps;
    waits.credits = credits === null || waits.credits === null ? null : waits.credits + credits;
    waits.likely = likely === null || waits.likely === null ? null : waits.likely + likely;
  }
  return {
    gates: gates.length,
    decided: gates.length - open.size - rejected,
    left: gates.filter(isUndecided).length,
    rejected,
    waits,
  };
}

export function waitsOf({ waiting, waitingWhat, waitingCredits, waitingLikely }: ReviewGate): Waits {
  return {
    steps: waiting,
    what: waitingWhat,
    credits: waitingCredits,
    likely: waitingCredits ?? waitingLikely ?? null,
  };
}
