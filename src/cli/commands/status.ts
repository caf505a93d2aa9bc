import { checkOutputs } from '../../disk/outputs.ts';
import { SeenFiles } from '../../disk/seen-files.ts';
import { outputsToCheck } from '../../plan/assemble.ts';
import { safeJson } from '../../report/safe-text.ts';
import { makeStatus } from '../../report/status.ts';
import { statusJson, statusText } from '../../report/status-text.ts';
import { requireGraph, requireLock } from '../campaign.ts';
import { campaignPaths } from '../campaign-paths.ts';
import { exitCodes } from '../exit.ts';
import { makeSelector } from '../select-steps.ts';
import type { Terminal } from '../terminal.ts';
import { collectVars } from '../vars.ts';

export interface StatusOptions {
  json?: boolean;
  sandbox?: boolean;
  lock?: string;
  var?: Record<string, string>;
  select?: string[];
  exclude?: string[];
}

export async function status(file: string, options: StatusOptions, terminal: Terminal): Promise<number> {
  const paths = campaignPaths(file, options);
  const graph = await requireGraph(file, collectVars(options.var), terminal);
  const { lock } = await requireLock(paths, undefined, terminal);
  const selected = makeSelector(graph, lock).chosen(options);
  const outputs = outputsToCheck(graph, lock).map(({ output }) => output);
  const present = await checkOutputs(paths.outputs, outputs, { seen: await SeenFiles.open(paths.state, paths.lock) });
  const view = makeStatus({ campaign: graph.name, graph, lock, present, ...(selected !== undefined && { selected }) });
  if (options.json) terminal.out(`${safeJson(statusJson(view), 2)}\n`);
  else terminal.out(statusText(view, { style: terminal.outStyle }));
  return exitCodes.done;
}
