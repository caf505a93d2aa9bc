import { resolve } from 'node:path';
import { type Failure, failureOf } from '../../contract/failure.ts';
import { foldersOfPattern } from '../../disk/fs/pattern-folders.ts';
import { type Diagnostic, hasErrors } from '../../ground/diagnostic.ts';
import { messageOf } from '../../ground/values.ts';
import { comparePlans, type PlanDifference, type PlannedVersion } from '../../plan/compare-plans.ts';
import { loadChecked } from '../checked-graph.ts';
import { collectNotices } from '../collect-notices.ts';
import type { LoadedManifest } from '../load-manifest.ts';
import { tellLostLock } from '../lost-lock/lost-lock.ts';
import { makePlan } from '../make-plan.ts';
import type { Asked, InputReader } from '../manifest-inputs.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { PlanningOptions } from '../options.ts';
import { requireLock } from '../read-lock.ts';

export interface WatchOptions extends PlanningOptions {
  serviceMoved?: boolean | undefined;
}

/** One look at a campaign. */
export interface Round {
  /** In ms. */
  tookMs: number;
  /** Absent where there are mistakes. */
  planned?: PlannedVersion & { byDocument: boolean };
  /** Difference from the last plan before; absent without one, and without a plan now. */
  difference?: PlanDifference;
  diagnostics: readonly Diagnostic[];
  /** Texts that diagnostics point into, by file name. */
  sources: ReadonlyMap<string, string>;
  /** Why there is no plan, beside the mistakes of the manifest. */
  failure?: Failure;
  /** Texts for people. */
  notices: readonly string[];
  /** Questions that the disk was asked; absent where not even asking was possible. */
  asked?: readonly Asked[];
}

/**
 * Plans from the disk alone, and compares with an earlier round. Writes nothing, and never throws: whatever is wrong now may
 * be right a moment later.
 */
export async function planRound(
  campaign: OpenCampaign & { reader: InputReader },
  options: WatchOptions,
  earlier: Round['planned'],
): Promise<Round> {
  const from = performance.now();
  const { notices, tell } = collectNotices();
  const teller = { ...campaign, tell };
  let loaded: LoadedManifest | undefined;
  const roundOf = (more: Pick<Round, 'planned' | 'difference' | 'failure'>): Round => {
    const told = notices.flatMap((notice) => (notice.is === 'diagnostics' ? notice.diagnostics : []));
    return {
      tookMs: performance.now() - from,
      ...more,
      diagnostics: [...(loaded?.diagnostics ?? []), ...told],
      sources: loaded?.sources ?? new Map(),
      notices: [
        ...(loaded?.graph?.notices ?? []),
        ...notices.flatMap((notice) => (notice.is === 'notice' ? notice.text : [])),
      ],
      ...(loaded !== undefined && { asked: loaded.asked }),
    };
  };
  try {
    const checked = await loadChecked(teller, { againByDocument: earlier?.byDocument });
    loaded = checked;
    const { graph, facts, trace, diagnostics, byDocument } = checked;
    if (graph === undefined || hasErrors(diagnostics)) return roundOf({});
    const { lock } = await requireLock(teller, campaign.service, options);
    const made = await makePlan(teller, { graph, lock, facts, trace }, options);
    // Whoever watches buys nothing: what would end a run is only told.
    await tellLostLock(teller, { graph, lock, plan: made.plan, isNew: false }).catch((error: unknown) =>
      tell({ is: 'notice', text: messageOf(error) }),
    );
    const planned = { plan: made.plan, graph, lock, trace, byDocument };
    if (earlier === undefined) return roundOf({ planned });
    return roundOf({ planned, difference: comparePlans(earlier, planned, made) });
  } catch (error) {
    return roundOf({ failure: failureOf(error) ?? { code: 'MB3901', message: messageOf(error) } });
  }
}

/** Absolute paths of all that a plan was made from, and of what may come to be part of it. */
export async function pathsOf({ file, varFiles, paths }: OpenCampaign, asked: readonly Asked[]): Promise<string[]> {
  const found = [resolve(file), paths.lock, ...varFiles.map((path) => resolve(path))];
  for (const { ask, path } of asked) {
    if (ask === 'files') found.push(...(await foldersOfPattern(paths.folder, path)));
    else if (ask === 'data' || ask === 'digest') found.push(resolve(paths.folder, path));
  }
  return found;
}
