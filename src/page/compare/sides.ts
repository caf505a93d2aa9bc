import type { ReviewAsset } from '../../contract/review.ts';
import { otherSide, type Side } from './pair.ts';

/** Addresses of the two that are compared; the active one of the page is on one of the sides. */
export interface Sides {
  left: string;
  /** Omitted when nothing is compared with it. */
  right?: string;
  active: Side;
}

/**
 * Which two to begin with: the active one against what is picked, which stays on the left; without a pick against the one
 * after it, or before it. One that is alone in its group stands beside what it is made from.
 *
 * @param group what a view shows of the group of `active`, in order
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
 * Follows a change of the active asset: to the other side if it is there, else it replaces the side that was active (after
 * a verdict, the next candidate meets the same opponent). In another group both sides are reset.
 */
export function followActive(sides: Sides, group: readonly ReviewAsset[], active: string, source?: string): Sides {
  if (sides[sides.active] === active) return sides;
  const other = otherSide(sides.active);
  if (sides[other] === active) return { ...sides, active: other };
  const stays = sides[other];
  if (stays === undefined || !group.some(({ address }) => address === stays)) return startSides(group, active, source);
  return { ...sides, [sides.active]: active };
}

/** The one that comes `by` later on the active side; the one on the other side is passed over. */
export function nextOnSide(sides: Sides, group: readonly ReviewAsset[], by: 1 | -1): string | undefined {
  const others = group.filter(({ address }) => address !== sides[otherSide(sides.active)]);
  return others[others.findIndex(({ address }) => address === sides[sides.active]) + by]?.address;
}

/** Left becomes right. The same one stays active. */
export function swapSides({ left, right, active }: Sides): Sides {
  return right === undefined ? { left, active } : { left: right, right: left, active: otherSide(active) };
}
