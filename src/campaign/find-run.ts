import { basename } from 'node:path';
import type { HistoryLine } from '../contract/event.ts';
import { CampaignError } from '../contract/failure.ts';
import { RunHistory } from '../disk/state/run-history.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { type RunStory, tellRun } from '../report/history/run-story.ts';
import type { CampaignPaths } from './paths.ts';
import { findViolations as findEventViolations } from './validate-event.generated.ts';
import { findViolations as findLineViolations } from './validate-run-line.generated.ts';

/** Returns earlier runs on a lock, newest first, read from their first and last lines. */
export async function listRuns({ state, runs, lock }: CampaignPaths): Promise<RunStory[]> {
  const history = new RunHistory(state, runs);
  const stories: RunStory[] = [];
  for (const { id } of await history.list()) {
    const story = tellRun(id, historyLines((await history.readEnds(id)) ?? []));
    // Campaigns of one folder share the histories. A run whose first line is damaged may belong to any of them.
    if (story.lock === undefined || story.lock === basename(lock)) stories.push(story);
  }
  // Ids contain the time to the minute, followed by random characters.
  return stories.sort((a, b) => (beganAt(a) < beganAt(b) ? 1 : -1));
}

/**
 * Keeps one record of each run on an engine. A client that attaches again records the run's events again, although
 * its credits were spent once. Keeps the record with the end of the run, or else the one with the most credits.
 */
export function eachRunOnce(stories: readonly RunStory[]): RunStory[] {
  const runOf = ({ engineRun, id }: RunStory) => engineRun ?? id;
  const whole = new Map<string, RunStory>();
  for (const story of stories) {
    const known = whole.get(runOf(story));
    if (known === undefined || sawOf(story) > sawOf(known)) whole.set(runOf(story), story);
  }
  return stories.filter((story) => whole.get(runOf(story)) === story);
}

function sawOf({ how, spentNow }: RunStory): number {
  return how === 'ended' ? Number.POSITIVE_INFINITY : spentNow;
}

/** Returns the run whose id is `name` or ends in it. Throws MB3002 if no run or several runs match. */
export function findRun(name: string, stories: readonly RunStory[]): RunStory {
  const found = stories.filter(({ id }) => id === name || id.endsWith(`-${name}`));
  const [story] = found;
  if (story !== undefined && found.length === 1) return story;
  const near = stories.slice(0, 5).map(({ id }) => id);
  const hint = near.length === 0 ? 'no run of this campaign is on record here' : `the newest: ${near.join(', ')}`;
  throw new CampaignError({ code: 'MB3002', message: `there is no run ${name} on record here`, hint, name });
}

/** Time at which a run began, for sorting. If the first line is damaged, it is taken from the run's id. */
function beganAt({ at, id }: RunStory): string {
  return at ?? `${id.slice(0, 10)}T${id.slice(11, 13)}:${id.slice(13, 15)}`;
}

/** Returns the lines of a run's history. Foreign lines are dropped. */
export function historyLines(values: readonly Json[]): HistoryLine[] {
  return values.filter(isLine);
}

function isLine(value: Json): value is Json & HistoryLine {
  if (!isMap(value) || Number.isNaN(Date.parse(String(value.at)))) return false;
  return (value.mediabatch === undefined ? findEventViolations(value) : findLineViolations(value)).length === 0;
}
