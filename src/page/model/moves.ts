import type { ReviewAsset } from '../../contract/review.ts';
import { isPlanned, type Strip } from './filter.ts';
import { isUndecided, needsVerdict, type Shown, type ShownGroup } from './shown.ts';

export type Direction = 'left' | 'right' | 'up' | 'down';

/** Line of assets from left to right. `at`: horizontal position of the asset in columns. */
export type Line = readonly { address: string; at: number }[];

export function linesOfList(assets: readonly ReviewAsset[]): Line[] {
  return assets.map(({ address }) => [{ address, at: 0 }]);
}

/**
 * Returns the address that an arrow key selects. Left and right follow the reading order. Up and down select the
 * nearest asset in the line above or below.
 */
export function moveInLines(lines: readonly Line[], active: string, direction: Direction): string | undefined {
  if (direction === 'left' || direction === 'right') {
    const all = lines.flat();
    const here = all.findIndex(({ address }) => address === active);
    return all[here + (direction === 'left' ? -1 : 1)]?.address;
  }
  const row = lines.findIndex((line) => line.some(({ address }) => address === active));
  const from = lines[row]?.find(({ address }) => address === active);
  const line = lines[row + (direction === 'up' ? -1 : 1)];
  if (from === undefined || line === undefined) return undefined;
  const distance = ({ at }: { at: number }) => Math.abs(at - from.at);
  return [...line].sort((a, b) => distance(a) - distance(b))[0]?.address;
}

/**
 * Returns the address at the same position in the next (`by` 1) or previous group. Skips groups without purchases,
 * unless no group has purchases.
 */
export function moveByGroup(all: readonly Strip[], active: string, by: 1 | -1): string | undefined {
  const isAlone = all.every(isPlanned);
  const strips = all.filter((strip) => isAlone || !isPlanned(strip) || has(strip.assets, active));
  const here = strips.findIndex(({ assets }) => has(assets, active));
  const place = strips[here]?.assets.findIndex(({ address }) => address === active) ?? 0;
  const assets = strips[here + by]?.assets ?? [];
  return assets[Math.min(place, assets.length - 1)]?.address;
}

/** Returns the first asset to review in the next (`by` 1) or previous undecided group. Wraps around at the ends. */
export function moveToUndecided(strips: readonly Strip[], active: string, by: 1 | -1): string | undefined {
  const here = strips.findIndex(({ assets }) => has(assets, active));
  for (let step = 1; step <= strips.length; step += 1) {
    const strip = strips.at((((here + by * step) % strips.length) + strips.length) % strips.length);
    if (strip === undefined || strip === strips[here] || !isUndecided(strip.group)) continue;
    return firstToSee(strip);
  }
  return undefined;
}

export function firstUndecided(strips: readonly Strip[]): string | undefined {
  const strip = strips.find(({ group }) => isUndecided(group));
  return strip && firstToSee(strip);
}

export function nextUndecided(strips: readonly Strip[], active: string, count: number): ReviewAsset[] {
  const here = strips.findIndex(({ assets }) => has(assets, active));
  const found: Strip[] = [];
  for (let at = here + 1; at < strips.length && found.length < count; at += 1) {
    const strip = strips[at];
    if (strip !== undefined && isUndecided(strip.group)) found.push(strip);
  }
  return found.flatMap(({ assets }) => assets);
}

function firstToSee({ group, assets }: Strip): string | undefined {
  return (assets.find((asset) => needsVerdict(asset, group)) ?? assets[0])?.address;
}

/**
 * Returns the asset that becomes active after a verdict on `address`. After the removal of a verdict, the active asset
 * stays unless it is hidden. If the group needs no further decision, an asset of the next undecided group becomes
 * active. In an undecided group, the next or else the previous asset without a verdict becomes active. `strips`:
 * visible assets after the verdict.
 */
export function afterVerdict(
  shown: Shown,
  strips: readonly Strip[],
  address: string,
  is: 'picked' | 'rejected' | 'undecided',
): string {
  const group = shown.groupOf.get(address);
  if (group === undefined) return address;
  if (is !== 'undecided') {
    const isOpen = group.state !== 'rejected' && isUndecided(group);
    const next = isOpen ? neighbourIn(group, strips, address) : undefined;
    const found = next ?? nextGroup(strips, group);
    if (found !== undefined) return found;
  }
  return nearest(shown, strips, address) ?? address;
}

function neighbourIn(group: ShownGroup, strips: readonly Strip[], address: string): string | undefined {
  const visible = strips.find((strip) => strip.group.index === group.index)?.assets ?? [];
  const here = group.assets.findIndex((asset) => asset.address === address);
  const open = (asset: ReviewAsset) => needsVerdict(asset, group) && has(visible, asset.address);
  const after = group.assets.slice(here + 1).find(open);
  return (after ?? group.assets.slice(0, here).findLast(open))?.address;
}

function nextGroup(strips: readonly Strip[], { index }: ShownGroup): string | undefined {
  const open = strips.filter(({ group }) => group.index !== index && group.state !== 'rejected' && isUndecided(group));
  const strip = open.find(({ group }) => group.index > index) ?? open[0];
  return strip && firstToSee(strip);
}

/** Returns `address` if it is visible, or else the next visible address, or else the previous visible address. */
export function nearest(shown: Shown, strips: readonly Strip[], address: string): string | undefined {
  const index = shown.groupOf.get(address)?.index;
  if (index === undefined) return strips[0]?.assets[0]?.address;
  const own = strips.find(({ group }) => group.index === index);
  if (own !== undefined) {
    if (has(own.assets, address)) return address;
    const here = own.group.assets.findIndex((asset) => asset.address === address);
    const visible = (asset: ReviewAsset) => has(own.assets, asset.address);
    const { assets } = own.group;
    return (assets.slice(here + 1).find(visible) ?? assets.slice(0, here).findLast(visible))?.address;
  }
  const after = strips.find(({ group }) => group.index > index);
  return (after?.assets[0] ?? strips.findLast(({ group }) => group.index < index)?.assets.at(-1))?.address;
}

function has(assets: readonly ReviewAsset[], address: string): boolean {
  return assets.some((asset) => asset.address === address);
}
