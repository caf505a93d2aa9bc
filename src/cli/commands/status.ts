import { relative } from 'node:path';
import { findFinishedJobs } from '../../campaign/find-finished-jobs.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { requireLock } from '../../campaign/read-lock.ts';
import { makeSelector } from '../../campaign/select-steps.ts';
import { exitCodes } from '../../contract/exit.ts';
import { readLiveHolder } from '../../disk/lock/guard.ts';
import { checkOutputs } from '../../disk/outputs/outputs.ts';
import { outputsToCheck } from '../../plan/assemble.ts';
import { makeStatus, type RunStatus } from '../../plan/status.ts';
import { safeJson } from '../../report/safe-text.ts';
import { stepsText } from '../../report/status-steps.ts';
import { statusJson, statusText } from '../../report/status-text.ts';
import { open } from '../open.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';

export interface StatusOptions {
  json?: boolean;
  /** Each step by itself. */
  list?: boolean;
  sandbox?: boolean;
  lock?: string;
  var?: Record<string, string>;
  varFile?: string[];
  select?: string[];
  exclude?: string[];
}

export async function status(file: string, options: StatusOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const { paths, seen } = campaign;
  const graph = await requireGraph(campaign);
  const { lock } = await requireLock(campaign, undefined);
  const selected = makeSelector(graph, lock).chosen(options);
  const outputs = outputsToCheck(graph, lock).map(({ output }) => output);
  const present = await checkOutputs(paths.outputs, outputs, { seen });
  const folder = relative('', paths.outputs).replaceAll('\\', '/');
  const run = await findRun(paths.lock);
  const finishedJobs = await findFinishedJobs(paths, lock);
  const view = makeStatus({
    campaign: graph.name,
    graph,
    lock,
    present,
    finishedJobs,
    folder: folder === '' ? '' : `${folder}/`,
    ...(run !== undefined && { run }),
    ...(selected !== undefined && { selected }),
  });
  if (options.json) terminal.out(`${safeJson(statusJson(view), 2)}\n`);
  else if (options.list) terminal.out(stepsText(view.rows, tableOptions(terminal)));
  else
    terminal.out(
      statusText(view, { style: terminal.outStyle, paste: terminal.paste, isSelection: selected !== undefined }),
    );
  return exitCodes.done;
}

/** Who has the lock. A guard that cannot be read says nothing of it. */
async function findRun(lockPath: string): Promise<RunStatus | undefined> {
  const holder = await readLiveHolder(lockPath).catch(() => undefined);
  return holder === undefined ? undefined : { pid: holder.pid, host: holder.host, since: holder.since };
}
