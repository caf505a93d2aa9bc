import { join, relative } from 'node:path';
import { campaignPaths } from '../../campaign/paths.ts';
import { eachRunOnce, findRun, historyLines, listRuns } from '../../campaign/runs.ts';
import { readLiveHolder } from '../../disk/lock/guard.ts';
import { RunHistory } from '../../disk/state/run-history.ts';
import { jsonOf } from '../../report/document.ts';
import { runsView, runView, summarizeWholeRun } from '../../report/history/run-story.ts';
import { safeText } from '../../report/safe-text.ts';
import type { Flags, Texts } from '../open.ts';
import { outJson, show, type Terminal } from '../terminal.ts';

type RunsOptions = Flags<'sandbox' | 'json'> & Texts<'lock'>;

export async function runs(file: string, options: RunsOptions, terminal: Terminal): Promise<void> {
  const { stories: all, running } = await readRuns(file, options);
  const stories = eachRunOnce(all);
  if (options.json) {
    const list = stories.map((story) => ({ ...story, running: story.id === running }));
    outJson(terminal, jsonOf('runs', { runs: list }));
  } else if (stories.length === 0) {
    terminal.err(`no run of ${safeText(file)} is recorded on this machine\n`);
  } else {
    show(terminal, runsView(stories, running));
  }
}

export async function showRun(
  file: string,
  name: string,
  { options, terminal }: { options: RunsOptions; terminal: Terminal },
): Promise<void> {
  const { stories, running, history, folder } = await readRuns(file, options);
  const { id } = findRun(name, stories);
  const whole = summarizeWholeRun(id, historyLines((await history.read(id)) ?? []));
  const isRunning = id === running;
  const path = relative('', join(folder, `${id}.jsonl`));
  if (options.json) {
    outJson(terminal, jsonOf('run', { ...whole, running: isRunning, path }));
  } else {
    show(terminal, runView(whole, { isRunning, path }));
  }
}

async function readRuns(file: string, options: RunsOptions) {
  const paths = campaignPaths(file, options);
  const history = new RunHistory(paths.state, paths.runs);
  const stories = await listRuns(paths);
  const open = stories.slice(0, 1).find(({ how }) => how === undefined);
  const holder = open && (await readLiveHolder(paths.lock).catch(() => undefined));
  return { stories, history, folder: join(paths.state, paths.runs), running: holder && open?.id };
}
