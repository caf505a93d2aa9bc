import { lookAtEngine, requireEngine } from '../../campaign/on-engine/engine-run.ts';
import type { EngineRun, EngineState } from '../../contract/engine-state.ts';
import { exitCodes } from '../../contract/exit.ts';
import { troublesOf, troublesView, workersJson, workersView } from '../../report/tables/workers-text.ts';
import { outJson, show, type Terminal } from '../terminal.ts';

interface WorkersOptions {
  engine?: string;
  json?: boolean;
  /** Whether to print only problems, with an exit code. */
  check?: boolean;
  campaign?: string;
  state?: EngineRun['state'];
}

export async function workers(options: WorkersOptions, terminal: Terminal): Promise<number> {
  const state = await lookAtEngine(requireEngine(options.engine, process.env), {
    campaign: options.campaign,
    state: options.state,
  });
  const code = options.check === true && isInTrouble(state) ? exitCodes.unreachable : exitCodes.done;
  if (options.json) {
    outJson(terminal, workersJson(state));
    return code;
  }
  if (options.check === true) {
    show(terminal, troublesView(state));
    if (!hasLiving(state)) terminal.err('no worker is running\n');
    return code;
  }
  show(terminal, workersView(state));
  if (state.runs.length === 0) terminal.err('no run is on record on this engine\n');
  if (state.workers.length === 0) terminal.err('no worker is running\n');
  return exitCodes.done;
}

function isInTrouble(state: EngineState): boolean {
  return !hasLiving(state) || troublesOf(state).length > 0;
}

function hasLiving({ workers }: EngineState): boolean {
  return workers.some(({ isSilent }) => !isSilent);
}
