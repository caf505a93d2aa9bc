import { basename, join, relative } from 'node:path';
import { campaignPaths } from '../../campaign/paths.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { readLiveHolder } from '../../disk/lock/guard.ts';
import { RunHistory } from '../../disk/state/run-history.ts';
import { type RunStory, tellRun, tellWholeRun } from '../../report/history/run-story.ts';
import { runsText, runText } from '../../report/history/run-text.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';

export interface RunsOptions {
  sandbox?: boolean;
  lock?: string;
  json?: boolean;
}

interface Context {
  options: RunsOptions;
  terminal: Terminal;
}

/** Earlier runs on this lock. Needs no manifest, no network, and writes nothing. */
export async function runs(file: string, { options, terminal }: Context): Promise<number> {
  const { stories, running } = await readRuns(file, options);
  if (options.json) {
    const list = stories.map((story) => ({ ...story, running: story.id === running }));
    terminal.out(`${safeJson({ mediabatch: 'runs', version: 1, runs: list }, 2)}\n`);
  } else if (stories.length === 0) {
    terminal.err(`no run of ${safeText(file)} is on record here\n`);
  } else {
    terminal.out(runsText(stories, { ...tableOptions(terminal), running }));
  }
  return exitCodes.done;
}

/** What one run did, by its id or the end of it. */
export async function showRun(file: string, name: string, { options, terminal }: Context): Promise<number> {
  const { stories, running, history, folder } = await readRuns(file, options);
  const found = stories.filter(({ id }) => id === name || id.endsWith(`-${name}`));
  const [story] = found;
  if (story === undefined || found.length > 1) throw noSuchRun(name, stories);
  const { id } = story;
  const whole = tellWholeRun(id, (await history.read(id)) ?? []);
  const isRunning = id === running;
  const path = relative('', join(folder, `${id}.jsonl`));
  if (options.json) {
    terminal.out(`${safeJson({ mediabatch: 'run', version: 1, ...whole, running: isRunning, path }, 2)}\n`);
  } else {
    terminal.out(runText(whole, { ...tableOptions(terminal), isRunning, path }));
  }
  return exitCodes.done;
}

/** Newest first. `running`: the id of the newest, where it has no end and somebody holds the lock. */
async function readRuns(file: string, options: RunsOptions) {
  const paths = campaignPaths(file, options);
  const history = new RunHistory(paths.state, paths.runs);
  const stories: RunStory[] = [];
  for (const { id } of await history.list()) {
    const story = tellRun(id, (await history.readEnds(id)) ?? []);
    // Campaigns of one folder share it. One whose first line is damaged may be any of them.
    if (story.lock === undefined || story.lock === basename(paths.lock)) stories.push(story);
  }
  // Ids tell the minute, and then nothing.
  stories.sort((a, b) => (beganAt(a) < beganAt(b) ? 1 : -1));
  const [newest] = stories;
  const isHeld = newest !== undefined && newest.how === undefined && (await isRunHeld(paths.lock));
  return { stories, history, folder: join(paths.state, paths.runs), running: isHeld ? newest.id : undefined };
}

/** Comparable; of a run whose first line is damaged by its id. */
function beganAt({ at, id }: RunStory): string {
  return at ?? `${id.slice(0, 10)}T${id.slice(11, 13)}:${id.slice(13, 15)}`;
}

async function isRunHeld(lock: string): Promise<boolean> {
  return (await readLiveHolder(lock).catch(() => undefined)) !== undefined;
}

function noSuchRun(name: string, stories: readonly RunStory[]): CampaignError {
  const near = stories.slice(0, 5).map(({ id }) => id);
  const hint = near.length === 0 ? 'no run of this campaign is on record here' : `the newest: ${near.join(', ')}`;
  return new CampaignError({ code: 'MB3002', message: `there is no run ${name} on record here`, hint, name });
}
