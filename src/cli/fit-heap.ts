import { setFlagsFromString } from 'node:v8';

/** Limits of steps and of characters. Below both, even a heap of unlimited growth stays under half a GiB. */
const manySteps = 20_000;
const longTexts = 1 << 20;
/** Number of steps below which the heap may treble, and the parser of answers is compiled only once. */
const fewSteps = 2000;

let isLarge = false;

/**
 * Sets by how much V8's heap may grow between garbage collections, and how WebAssembly is compiled. Called as soon as
 * the size of a campaign is known: first the length of its texts in characters, then its number of steps.
 *
 * - At the end of a campaign of 100,000 steps, 150 MB are alive, and V8 would let the heap grow to four times as much.
 *   Collecting after a growth of 40 % costs about 5 % of the time, and keeps such a run below 400 MiB.
 * - The heap of a small campaign is small compared with the downloaded bytes outside the heap. V8 would therefore
 *   collect after every few files, which takes an eighth of the CPU time of 64 files of 16 MiB.
 * - After ten answers V8 would optimize their parser, which takes up to 0.3 s of CPU and 30 MiB: as much as it saves
 *   in a run of 2,000 steps.
 */
export function fitHeap(known: { characters: number } | { steps: number }): void {
  const wasLarge = isLarge;
  isLarge ||= 'steps' in known ? known.steps >= manySteps : known.characters >= longTexts;
  if (isLarge && !wasLarge) setFlagsFromString('--heap-growing-percent=40');
  else if (!isLarge && 'steps' in known && known.steps < fewSteps) {
    setFlagsFromString('--heap-growing-percent=200');
    setFlagsFromString('--no-wasm-dynamic-tiering');
    setFlagsFromString('--no-wasm-tier-up');
  }
}
