import { measureFiles } from '../disk/outputs/measure-files.ts';
import type { StepRows } from '../graph/expansion.ts';
import type { Output } from '../lock/record.ts';
import { outputsToCheck } from '../plan/assemble.ts';
import { type FoundOutput, findSaved, listOutputs, type PostEntry } from '../plan/outputs/list-outputs.ts';
import { withFiles } from '../plan/situation/situation.ts';
import type { PlanningOptions } from './check-options.ts';
import { requireTracedGraph } from './load-manifest.ts';
import { lookAtOutputs } from './look-at-outputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { makeSelector } from './select-steps.ts';
import { Session } from './session.ts';

export interface OutputsOptions extends Pick<PlanningOptions, 'select' | 'exclude'> {
  /** Only picked outputs, and outputs without a gate. */
  picked?: boolean | undefined;
}

export interface FoundOutputs {
  campaign: string;
  files: FoundOutput[];
  posts: PostEntry[];
  /** Whether a file with this digest is recorded as a current or earlier output of this campaign. */
  isOnRecord(sha256: string): boolean;
  without: number;
  /** With `picked`: undecided gates, whose files are omitted. */
  undecided: string[];
}

/** Returns every file of a campaign with facts from manifest, lock and disk. No network. */
export async function findOutputs(campaign: OpenCampaign, options: OutputsOptions): Promise<FoundOutputs> {
  const rows = new Map<string, StepRows>();
  const { graph } = await requireTracedGraph(campaign, rows);
  const { lock, situation: recorded } = await Session.open(campaign, { graph, isOnlyRead: true });
  const earlier = recorded.matches.flatMap((match) => {
    const { purchase, isEarlier } = findSaved(match);
    return isEarlier ? (purchase?.outputs ?? []) : [];
  });
  const toCheck = [...outputsToCheck(recorded.matches), ...earlier.map((output) => ({ output, aspects: [] }))];
  const { states, facts } = await lookAtOutputs(toCheck, campaign);
  const situation = withFiles(recorded, facts);
  const selected = makeSelector(situation).chosen(options);
  const which = options.picked === true ? 'picked' : 'all';
  const { entries, posts, without, undecided } = listOutputs({ situation, selected, which, rows });
  const stateOf = ({ path }: Output) => states.get(path) ?? 'missing';
  const intact = entries.flatMap(({ output }) =>
    stateOf(output) === 'intact' ? [{ output, aspects: ['size', 'credentials'] as const }] : [],
  );
  const measured = await measureFiles({ root: campaign.paths.outputs, kept: campaign.measures }, intact);
  const files = entries.map((entry): FoundOutput => {
    const { width, height, durationSeconds: seconds, hasCredentials } = measured.get(entry.output) ?? {};
    const found: FoundOutput = Object.assign(entry, { fileState: stateOf(entry.output) });
    if (width !== undefined) found.width = width;
    if (height !== undefined) found.height = height;
    if (seconds !== undefined) found.seconds = seconds;
    if (hasCredentials === true) found.contentCredentials = 'present';
    return found;
  });
  const digests = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const { outputs = [] } of purchases) for (const { sha256 } of outputs) digests.add(sha256);
  }
  return { campaign: graph.name, files, posts, without, undecided, isOnRecord: (sha256) => digests.has(sha256) };
}
