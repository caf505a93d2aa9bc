import type { ReviewAsset } from '../../contract/review.ts';

export type Side = 'left' | 'right';

export function otherSide(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

export interface Sides {
  left: string;
  right?: string;
  active: Side;
}

/**
 * Chooses the initial pair: the picked asset on the left and the active asset on the right. Without a pick, chooses the
 * active asset and the asset next to it. If the group has only one asset, chooses the source and that asset. `group`:
 * visible assets of the active group, in order.
 */
export function startSides(group: readonly ReviewAsset[], active: string, source?: string): Sides {
  if (group.length === 1 && source !== undefined) return { left: source, right: active, active: 'right' };
  const picked = group.find(({ address, verdict }) => verdict?.is === 'picked' && address !== active);
  if (picked !== undefined) return { left: picked.address, right: active, active: 'right' };
  const here = group.findIndex(({ address }) => address === active);
  const next = group[here + 1];
  if (next !== undefined) return { left: active, right: next.address, active: 'left' };
  const before = group[here - 1];
  return before === undefined
    ? { left: active, active: 'left' }
    : { left: before.address, right: active, active: 'right' };
}

/**
 * Updates the comparison after the active asset has changed. If the inactive side shows the new asset, that side
 * becomes active. If neither side does, the new asset replaces the old one. In a new group, chooses the initial pair.
 */
export function followActive(sides: Sides, group: readonly ReviewAsset[], active: string, source?: string): Sides {
  if (sides[sides.active] === active) return sides;
  const other = otherSide(sides.active);
  if (sides[other] === active) return { ...sides, active: other };
  const stays = sides[other];
  if (stays === undefined || !group.some(({ address }) => address === stays)) return startSides(group, active, source);
  return { ...sides, [sides.active]: active };
}

export function nextOnSide(sides: Sides, group: readonly ReviewAsset[], by: 1 | -1): string | undefined {
  const others = group.filter(({ address }) => address !== sides[otherSide(sides.active)]);
  return others[others.findIndex(({ address }) => address === sides[sides.active]) + by]?.address;
}
