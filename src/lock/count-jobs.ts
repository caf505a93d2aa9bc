import { kinds } from '../kinds/index.ts';
import type { Lock } from './record.ts';

/** Counts what was bought, or may have been. Uploads are free, and so is what was refused. */
export function countJobs({ steps }: Lock): number {
  let count = 0;
  for (const { kind, purchases } of steps.values()) {
    if (kinds[kind]?.recovery === 'again') continue;
    for (const { state } of purchases) if (state !== 'refused') count += 1;
  }
  return count;
}
