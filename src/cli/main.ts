import { relative } from 'node:path';
import { CommanderError } from 'commander';
import { BrokenRunError } from '../contract/errors.ts';
import { exitCodes } from '../contract/exit.ts';
import { type Failure, failureOf, failures } from '../contract/failure.ts';
import { messageOf } from '../ground/values.ts';
import { failureGithub, failureJson, failureText } from '../report/failure-text.ts';
import { safeJson, safeText } from '../report/safe-text.ts';
import { toCheckoutPath } from './checkout-path.ts';
import { makeProgram } from './program/program.ts';
import { processTerminal, type Terminal } from './terminal.ts';

export { endAtStrayErrors } from './last-resort.ts';
export { allSaid } from './terminal.ts';

/** Runs one command line and gives the exit code. Only a third Ctrl-C ends the process from below. */
export async function main(argv: string[], terminal: Terminal = processTerminal()): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = makeProgram({
    terminal,
    exit(code) {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error, terminal, /(?:^| )--(?:json|format[ =]json)(?: |$)/.test(argv.join(' ')));
  }
}

/** Says what ended a command, on stdout too where a document is expected there, and gives its exit code. */
export function explain(thrown: unknown, terminal: Terminal = processTerminal(), isJson = false): number {
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
  const failure = tellFailure(thrown, terminal);
  if (isJson) terminal.out(`${safeJson(failureJson(failure, terminal.paste), 2)}\n`);
  return failures[failure.code].exit;
}

function tellFailure(thrown: unknown, terminal: Terminal): Failure {
  // Its words have been said.
  if (thrown instanceof CommanderError) return { code: 'MB3000', message: thrown.message.replace(/^error: /, '') };
  const failure = failureOf(thrown);
  if (failure === undefined) return tellBug(thrown, terminal);
  terminal.err(failureText(failure, terminal));
  terminal.github?.(failureGithub(failure, { paste: terminal.paste, toCheckoutPath }));
  return failure;
}

function tellBug(thrown: unknown, { err, style }: Terminal): Failure {
  const isRun = thrown instanceof BrokenRunError;
  const error = isRun ? thrown.cause : thrown;
  const message = messageOf(error);
  err(`${style.red('internal error')} this is a bug in mediabatch: ${safeText(message, 500)}\n`);
  const lock = isRun ? relative(process.cwd(), thrown.lock) || thrown.lock : undefined;
  if (lock !== undefined) {
    err(`  ${style.cyan('→')} everything paid so far is on record in ${safeText(lock)}; run again to go on\n`);
  }
  err('  please report it with these lines:\n');
  const text = error instanceof Error ? (error.stack ?? message) : message;
  for (const line of text.split('\n')) err(`  ${style.dim(safeText(line, 1000))}\n`);
  return { code: 'MB3901', message, ...(lock !== undefined && { lock }) };
}
