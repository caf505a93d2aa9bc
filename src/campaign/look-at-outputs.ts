import { KeptFiles } from '../disk/outputs/kept-files.ts';
import { checkOutputs, measureMedia, type OutputState } from '../disk/outputs/outputs.ts';
import type { OutputToCheck, PlanFacts } from '../plan/assemble.ts';
import type { MediaFacts } from '../plan/expectation.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { CampaignPaths } from './paths.ts';

/** Answers to the planner's questions about recorded outputs. */
export type OutputFacts = Required<Pick<PlanFacts, 'fileState' | 'isKept' | 'mediaFacts'>>;

/** Looks at recorded outputs on the disk, and answers what the planner asks about them. Others are missing. */
export async function lookAtOutputs(
  recorded: readonly OutputToCheck[],
  { paths, seen }: Pick<OpenCampaign, 'paths' | 'seen'>,
): Promise<{
  /** State of each output, by path. */
  states: ReadonlyMap<string, OutputState>;
  facts: OutputFacts;
}> {
  const states = await checkOutputs(
    paths.outputs,
    recorded.map(({ output }) => output),
    { seen },
  );
  const kept = await findIntactCopies(paths, recorded, states);
  const measured = new Map<string, MediaFacts | undefined>();
  for (const { output, measure } of recorded) {
    if (measure && states.get(output.path) === 'intact') {
      measured.set(output.path, await measureMedia(paths.outputs, output));
    }
  }
  return {
    states,
    facts: {
      fileState: (output) => states.get(output.path) ?? 'missing',
      isKept: (output) => kept.has(output.sha256),
      mediaFacts: (output) => measured.get(output.path),
    },
  };
}

/** Digests of outputs that are not at their paths, and of which an intact copy is kept. */
async function findIntactCopies(
  paths: CampaignPaths,
  recorded: readonly OutputToCheck[],
  states: ReadonlyMap<string, OutputState>,
): Promise<Set<string>> {
  const kept = new KeptFiles(paths.state, paths.kept);
  const found = new Set<string>();
  if (!kept.isThere()) return found;
  for (const { output } of recorded) {
    if (states.get(output.path) === 'intact' || found.has(output.sha256)) continue;
    if ((await kept.find(output)) !== undefined) found.add(output.sha256);
  }
  return found;
}
