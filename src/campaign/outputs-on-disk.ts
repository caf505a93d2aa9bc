import { systemClock } from '../contract/clock.ts';
import type { OutputFiles } from '../contract/ports.ts';
import { checkOutputs, type OutputState } from '../disk/outputs/check-outputs.ts';
import { KeptFiles } from '../disk/outputs/kept-files.ts';
import { measureFiles } from '../disk/outputs/measure-files.ts';
import { createOutputs } from '../disk/outputs/outputs.ts';
import { SavedFiles } from '../disk/outputs/saved-files.ts';
import type { Output } from '../lock/record.ts';
import { assemblePlan, type OutputToCheck, outputsToCheck } from '../plan/assemble.ts';
import type { Plan } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import { type SeenFiles, type Situation, withFiles } from '../plan/situation/situation.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { CampaignPaths } from './paths.ts';

export type OutputFacts = Required<SeenFiles>;

type Files = Pick<OpenCampaign, 'paths' | 'seen' | 'measures'>;

export async function inspectOutputs(
  recorded: readonly OutputToCheck[],
  campaign: Files,
): Promise<{
  states: ReadonlyMap<string, OutputState>;
  facts: OutputFacts;
}> {
  const { paths, seen } = campaign;
  const check = (outputs: readonly Output[]) => checkOutputs(paths.outputs, outputs, { seen });
  const states = await check(recorded.map(({ output }) => output));
  const kept = await findIntactCopies(paths, recorded, states);
  const mediaFacts = await measure(recorded, states, campaign);
  const replaced = new Set<string>();
  for (const { output, replaced: others = [] } of recorded) {
    if (states.get(output.path) !== 'changed') continue;
    // These outputs have the same path, so they are checked one after another.
    for (const other of others) if ((await check([other])).get(other.path) === 'intact') replaced.add(other.path);
  }
  return {
    states,
    facts: {
      isReplaced: (output) => replaced.has(output.path),
      fileState: (output) => states.get(output.path) ?? 'missing',
      isKept: (output) => kept.has(output.sha256),
      mediaFacts,
    },
  };
}

export async function seeExpected({ matches }: Pick<Situation, 'matches'>, campaign: Files): Promise<SeenFiles> {
  const { paths, seen } = campaign;
  const expected = outputsToCheck(matches).filter(({ aspects }) => aspects.length > 0);
  const states = await checkOutputs(
    paths.outputs,
    expected.map(({ output }) => output),
    { seen },
  );
  return { fileState: () => 'intact', mediaFacts: await measure(expected, states, campaign) };
}

/** Makes a plan from graph and lock only: without limits, post checks and, by default, checks of output files. */
export function planByLock(
  { replays, accountOf }: Pick<OpenCampaign, 'replays' | 'accountOf'>,
  situation: Situation,
  { hints = {}, fileState = () => 'intact' }: { hints?: PriceHints; fileState?: SeenFiles['fileState'] } = {},
): Plan {
  const seen = withFiles(situation, { fileState });
  return assemblePlan({ situation: seen, hints, replays, accountOf, now: systemClock.now(), concurrency: 1 });
}

async function measure(
  recorded: readonly OutputToCheck[],
  states: ReadonlyMap<string, OutputState>,
  { paths, measures: kept }: Files,
): Promise<OutputFacts['mediaFacts']> {
  const wanted = recorded.filter(({ output, aspects }) => aspects.length > 0 && states.get(output.path) === 'intact');
  const measured = await measureFiles({ root: paths.outputs, kept }, wanted);
  return (output) => measured.get(output);
}

async function findIntactCopies(
  paths: CampaignPaths,
  recorded: readonly OutputToCheck[],
  states: ReadonlyMap<string, OutputState>,
): Promise<Set<string>> {
  const kept = new KeptFiles(paths.state, paths.kept);
  const found = new Set<string>();
  if (!kept.exists()) return found;
  for (const { output } of recorded) {
    if (states.get(output.path) === 'intact' || found.has(output.sha256)) continue;
    if ((await kept.find(output)) !== undefined) found.add(output.sha256);
  }
  return found;
}

export function outputFilesOf({ paths, seen, measures }: Files): OutputFiles {
  const saved = new SavedFiles(paths.state, paths.outputs);
  return createOutputs(paths.outputs, { seen, measures, saved, kept: new KeptFiles(paths.state, paths.kept) });
}
