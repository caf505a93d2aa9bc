/** What a workload consists of; the number of a step is its place in the list. */
export interface BenchStep {
  /** Numbers of the steps that must be done before. */
  needs: number[];
  durationMs: number;
}

export function independent(count: number, durationMs: (index: number) => number): BenchStep[] {
  return Array.from({ length: count }, (_, index) => ({ needs: [], durationMs: durationMs(index) }));
}

export const thirds = ['a', 'b', 'c'] as const;

/**
 * Layers of equal width. Each layer is in three parts, and each step needs one step of each part of the layer before:
 * that is how a manifest says “these three”.
 */
export function layered(layers: number, width: number, durationMs: number): BenchStep[] {
  return Array.from({ length: layers * width }, (_, index) => {
    const layer = Math.floor(index / width);
    const place = index % width;
    const needs =
      layer === 0 ? [] : thirds.map((_third, part) => (layer - 1) * width + neededPlace(place, part, width));
    return { needs, durationMs };
  });
}

/** Parts are every third place; spread, so that layers do not fall apart into separate chains. */
function neededPlace(place: number, part: number, width: number): number {
  const size = Math.ceil((width - part) / 3);
  return ((place * (part + 2) + part) % size) * 3 + part;
}

/**
 * The shortest time for these steps in this order and with so many at once, if everything but the jobs took no time, and
 * making them took the service so long that it makes `createsPerSecond`.
 */
export function idealMs(
  steps: BenchStep[],
  concurrency: number,
  createsPerSecond: number = Number.POSITIVE_INFINITY,
): number {
  const paceMs = 1000 / createsPerSecond;
  let createdAt = 0;
  const endsAt: number[] = [];
  const slots = Array.from({ length: concurrency }, () => 0);
  for (const { needs, durationMs } of steps) {
    const free = slots.indexOf(Math.min(...slots));
    const readyAt = Math.max(0, ...needs.map((need) => endsAt[need] ?? 0));
    const begunAt = Math.max(slots[free] ?? 0, readyAt);
    createdAt = paceMs === 0 ? begunAt : Math.max(begunAt, createdAt) + paceMs;
    const endAt = createdAt + durationMs;
    slots[free] = endAt;
    endsAt.push(endAt);
  }
  return Math.max(0, ...endsAt.slice(-concurrency), ...slots);
}
