import { requireGraph } from '../../campaign/load-manifest.ts';
import { actOnRun, type RunAct, requireEngine } from '../../campaign/on-engine/engine-run.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { clockText } from '../../report/numbers.ts';
import { safeText } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import type { Terminal } from '../terminal.ts';

interface CancelOptions extends StateOptions {
  engine?: string;
}

interface Words {
  done: string;
  /** Message when there was nothing to do. */
  idle: string;
  /** The consequence for the run and its jobs. */
  follows?: string;
  next?: readonly [text: string, call: 'apply' | 'resume'];
}

const wordsOf: Readonly<Record<RunAct, Words>> = {
  cancel: {
    done: 'cancelled',
    idle: 'had ended already',
    follows: 'nothing more is bought for this run; its running jobs are paid, and are collected',
    next: ['to download its outputs', 'apply'],
  },
  pause: {
    done: 'paused',
    idle: 'has ended, or was cancelled',
    follows: 'nothing new is sent for this run; its running jobs are paid, and are collected',
    next: ['to go on', 'resume'],
  },
  resume: { done: 'resumed', idle: 'is not paused' },
};

/**
 * Cancels, pauses or resumes a run on an engine. Its jobs are paid, so they are collected in any case, and `apply`
 * downloads them.
 */
export async function cancel(
  act: RunAct,
  file: string,
  { options, terminal }: { options: CancelOptions; terminal: Terminal },
): Promise<number> {
  const { style, err } = terminal;
  const engine = requireEngine(options.engine, process.env, { cancels: true });
  const campaign = await open(file, options, terminal);
  const { name } = await requireGraph(campaign);
  const found = await actOnRun(engine, campaign, { name, act });
  if (found === undefined) {
    err(`no run of ${safeText(name)} is open on this engine\n`);
    return exitCodes.done;
  }
  const { run, isDone, shown } = found;
  const { done, idle, follows, next } = wordsOf[act];
  const at = clockText(run.submitted.getTime(), systemClock.now());
  const named = `the run of ${safeText(name)} that was submitted at ${at}`;
  err(isDone ? `${style.green(done)} ${named}\n` : `${named} ${idle}\n`);
  if (isDone && follows !== undefined) err(`${follows}\n`);
  if (next === undefined || !(isDone || act === 'cancel')) return exitCodes.done;
  // The address in the environment has the password; the printed address does not.
  const words = options.engine === undefined ? [] : ['--engine', shown];
  err(`${next[0]}: ${terminal.paste({ call: next[1], words })}\n`);
  return exitCodes.done;
}
