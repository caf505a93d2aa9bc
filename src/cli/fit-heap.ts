import { setFlagsFromString } from 'node:v8';

/** With fewer steps and shorter texts, a campaign needs less than 512 MiB, even if heap growth is not limited. */
const manySteps = 20_000;
const longTexts = 1 << 20;
/** Below this number of steps, the heap may grow to three times its size between collections. */
const fewSteps = 2000;

let isLarge = false;

/**
 * Sets V8's heap growth. Called twice: with the length of the manifest's texts, then with the number of steps.
 *
 * - Large campaigns: a run of 100,000 steps has 150 MB of live data. A heap growth of 40 % keeps the process below
 *   400 MiB and costs 5 % of the time.
 * - Small campaigns: with less growth, downloaded bytes would cause a garbage collection after every few files.
 * - For fewer than 2,000 steps, optimizing the WebAssembly parser of answers costs more than it saves.
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
