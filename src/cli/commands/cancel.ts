import { nameOfEngine } from '../../campaign/hold-guard.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { requireEngine } from '../../campaign/on-engine/engine-address.ts';
import { cancelOnEngine } from '../../campaign/on-engine/engine-run.ts';
import { exitCodes } from '../../contract/exit.ts';
import { safeText } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import type { Terminal } from '../terminal.ts';

export interface CancelOptions extends StateOptions {
  engine?: string;
}

/** Ends the spending of a run on an engine. Its jobs are paid: they are collected, and `apply` brings them. */
export async function cancel(file: string, options: CancelOptions, terminal: Terminal): Promise<number> {
  const { style, err } = terminal;
  const engine = requireEngine(options.engine, process.env, { mayBeEmbedded: true });
  const campaign = await open(file, options, terminal);
  const { name } = await requireGraph(campaign);
  const done = await cancelOnEngine(engine, campaign, { name });
  if (done === undefined) {
    err(`no run of ${safeText(name)} is open on this engine\n`);
    return exitCodes.done;
  }
  const { run, isOpen, shown } = done;
  if (!isOpen) err(`the run of ${safeText(name)} on ${safeText(shown)} had ended already\n`);
  else {
    err(
      `${style.green('cancelled')} the run of ${safeText(name)} that was submitted at ${run.submitted.toISOString()}\n`,
    );
    err('nothing more is bought for it; jobs that run are paid, and collected\n');
  }
  // The environment has its password, the printed address has not.
  const words = options.engine === undefined ? [] : ['--engine', nameOfEngine(shown)];
  err(`to bring what it has made: ${terminal.paste({ call: 'apply', words })}\n`);
  return exitCodes.done;
}
