import type { ReviewAsset } from '../../contract/review.ts';

export type Side = 'left' | 'right';

export function otherSide(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

/** Addresses of the two compared assets. One of the two is the active asset of the page. */
export interface Sides {
  left: string;
  right?: string;
  active: Side;
}

/**
 * Chooses the initial pair: the picked asset on the left and the active asset on the right. Without a pick, chooses the
 * active asset and its neighbour. If the group has one asset, chooses the source and the asset.
 *
 * @param group shown assets of the active group, in order
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
 * Returns the sides after a change of the active asset. If the other side has the asset, that side becomes active.
 * Otherwise the asset replaces the asset on the active side. In another group, both sides start again.
 */
export function followActive(sides: Sides, group: readonly ReviewAsset[], active: string, source?: string): Sides {
  if (sides[sides.active] === active) return sides;
  const other = otherSide(sides.active);
  if (sides[other] === active) return { ...sides, active: other };
  const stays = sides[other];
  if (stays === undefined || !group.some(({ address }) => address === stays)) return startSides(group, active, source);
  return { ...sides, [sides.active]: active };
}

/** Returns the address `by` positions further. Skips the asset on the other side. */
export function nextOnSide(sides: Sides, group: readonly ReviewAsset[], by: 1 | -1): string | undefined {
  const others = group.filter(({ address }) => address !== sides[otherSide(sides.active)]);
  return others[others.findIndex(({ address }) => address === sides[sides.active]) + by]?.address;
}
