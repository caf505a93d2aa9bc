import { setFlagsFromString } from 'node:v8';

/** Limits of steps and of texts: below either even a heap that grows as it likes stays under half a GiB. */
const manySteps = 20_000;
const longTexts = 1 << 20;
/** Number of steps below which the heap may treble. */
const fewSteps = 2000;

let isLarge = false;

/**
 * Says by how much the heap may grow before it is collected; changes nothing else. To be asked as soon as something is
 * known of a campaign: how long its texts are (in characters), and then how many steps it makes of them.
 *
 * - Each step leaves little behind, but at the end of a campaign of 100,000 steps 150 MB are alive, and V8 would let the
 *   heap grow to four times as much. Collecting when it has grown by 40 % costs some 5 % of time, and keeps a run of them
 *   below 400 MiB.
 * - The heap of a small campaign is so small that the bytes of downloads, which pass by it, count for more than it does:
 *   V8 goes through all of it after every few files, which takes an eighth of the CPU of 64 files of 16 MiB.
 */
export function fitHeap(known: { characters: number } | { steps: number }): void {
  const wasLarge = isLarge;
  isLarge ||= 'steps' in known ? known.steps >= manySteps : known.characters >= longTexts;
  if (isLarge && !wasLarge) setFlagsFromString('--heap-growing-percent=40');
  else if (!isLarge && 'steps' in known && known.steps < fewSteps) setFlagsFromString('--heap-growing-percent=200');
}
