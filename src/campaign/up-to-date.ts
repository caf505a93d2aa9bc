import { systemClock } from '../contract/clock.ts';
import { takeGuard } from '../disk/lock/guard.ts';
import { readLockBytes } from '../disk/lock/lock-file.ts';
import { checkOutputs, type OutputState } from '../disk/outputs/check-outputs.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import type { StatCache } from '../disk/outputs/stat-cache.ts';
import { orForgotten } from '../disk/state/caches.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { isQuiet } from '../plan/actions.ts';
import type { Plan, PlanTotals } from '../plan/plan.ts';
import { type Asked, haveSameAnswers } from './manifest-inputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { LoadedLock } from './read-lock.ts';

interface UpToDate {
  steps: number;
  totals: PlanTotals;
}

/**
 * Stored result of a run that had no work, with digests of its inputs. While the digests stay equal, later runs end
 * without parsing manifest and lock.
 */
interface Finding extends UpToDate {
  given: string;
  asked: readonly Asked[];
  lock: string;
}

export async function isUpToDate(
  { file, paths, seen }: OpenCampaign,
  given: string | undefined,
): Promise<UpToDate | undefined> {
  const finding = readFinding(seen.finding);
  if (finding === undefined || finding.given !== given) return undefined;
  return orForgotten(async () => {
    // The manifest changes most often, so it is checked first.
    if (!(await haveSameAnswers(file, finding.asked))) return undefined;
    const taken = await takeGuard(paths.lock, { waitMs: 0, clock: systemClock });
    if (taken.is === 'held') return undefined;
    try {
      const bytes = await readLockBytes(paths.lock);
      if (bytes === undefined || digestOf(bytes).sha256 !== finding.lock) return undefined;
      const states = await checkOutputs(paths.outputs, seen.files, { seen });
      return [...states.values()].every((state) => state === 'intact') ? finding : undefined;
    } finally {
      await taken.guard.release();
    }
  });
}

export function noteUpToDate(
  plan: Plan,
  facts: {
    given: string | undefined;
    asked: readonly Asked[];
    loaded: LoadedLock;
    states: ReadonlyMap<string, OutputState>;
    seen: StatCache;
  },
): (Json & Finding) | undefined {
  const { given, asked, loaded, states, seen } = facts;
  const { read, needsRewrite, isNotable } = loaded;
  if (given === undefined || read === undefined || needsRewrite || isNotable) return undefined;
  const isAllIntact = [...states.values()].every((state) => state === 'intact') && seen.knowsAll(states.size);
  if (!isQuiet(plan) || plan.totals.held > 0 || !isAllIntact) return undefined;
  const finding: Finding = { steps: plan.rows.length, totals: plan.totals, given, asked, lock: read.sha256 };
  return finding as Json & Finding;
}

function readFinding(json: Json | undefined): Finding | undefined {
  if (!isMap(json)) return undefined;
  const { given, lock, steps, totals, asked } = json;
  const isWhole =
    typeof given === 'string' &&
    typeof lock === 'string' &&
    typeof steps === 'number' &&
    isMap(totals) &&
    Object.values(totals).every((value) => typeof value === 'number') &&
    Array.isArray(asked) &&
    asked.every((entry) => isMap(entry) && typeof entry.path === 'string' && typeof entry.answer === 'string');
  return isWhole ? (json as Json & Finding) : undefined;
}
