import type { Decided, DecideOptions } from '../campaign/decide.ts';
import { exitCodes } from '../contract/exit.ts';
import { rulingsJson, rulingsText } from '../report/plan/rulings-text.ts';
import { safeJson } from '../report/safe-text.ts';
import { askAboutMove } from './ask-about-move.ts';
import type { StateOptions } from './open.ts';
import type { Terminal } from './terminal.ts';

/** Options of the command line that all decisions share. */
export interface DecisionOptions extends StateOptions {
  /** In ms. */
  lockTimeout: number;
  dryRun?: boolean;
  json?: boolean;
  yes?: boolean;
  /** The service of the lock has a new address. */
  serviceMoved?: boolean;
}

export interface DecisionContext<Options extends DecisionOptions = DecisionOptions> {
  options: Options;
  terminal: Terminal;
}

/** The same for the application. */
export function toDecideOptions({ options, terminal }: DecisionContext): DecideOptions {
  const { lockTimeout, dryRun, serviceMoved, yes } = options;
  return {
    lockTimeoutMs: lockTimeout,
    dryRun,
    ...(serviceMoved === true && { askAboutMove: (question) => askAboutMove(question, { yes, terminal }) }),
  };
}

/** Says what was decided. `command`: as the person called it, `pin`. */
export function tellDecided(command: string, decided: Decided, { options, terminal }: DecisionContext): number {
  if (!('rulings' in decided)) {
    terminal.err('nothing was recorded\n');
    return decided.is === 'no' ? exitCodes.done : exitCodes.interrupted;
  }
  const { is: stage, rulings } = decided;
  const dryRun = stage === 'dry run';
  if (options.json) terminal.out(`${safeJson(rulingsJson(rulings, { command, dryRun, paste: terminal.paste }), 2)}\n`);
  terminal.err(rulingsText(rulings, { command, stage, style: terminal.style }));
  return exitCodes.done;
}
