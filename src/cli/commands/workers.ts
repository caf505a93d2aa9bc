import { requireEngine } from '../../campaign/on-engine/engine-address.ts';
import { lookAtEngine } from '../../campaign/on-engine/look-at-engine.ts';
import { exitCodes } from '../../contract/exit.ts';
import { safeJson } from '../../report/safe-text.ts';
import { workersJson, workersText } from '../../report/tables/workers-text.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';

export interface WorkersOptions {
  engine?: string;
  json?: boolean;
}

/** Runs, head, workers, rates and errors of an engine, as they are now. */
export async function workers(options: WorkersOptions, terminal: Terminal): Promise<number> {
  const state = await lookAtEngine(requireEngine(options.engine, process.env));
  if (options.json) {
    terminal.out(`${safeJson(workersJson(state), 2)}\n`);
    return exitCodes.done;
  }
  terminal.out(workersText(state, tableOptions(terminal)));
  if (state.runs.length === 0) terminal.err('no run is on record on this engine\n');
  if (state.workers.length === 0) terminal.err('no worker is running\n');
  return exitCodes.done;
}
