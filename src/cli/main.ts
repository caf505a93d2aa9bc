import { relative } from 'node:path';
import { CommanderError } from 'commander';
import { BrokenRunError, GuardLostError, LockChangedError, UnsafeFileError } from '../contract/errors.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { adviceText } from '../report/advice-text.ts';
import { safeText } from '../report/safe-text.ts';
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
    return explain(error, terminal);
  }
}

/** Says what ended a command, and gives its exit code. */
export function explain(thrown: unknown, terminal: Terminal = processTerminal()): number {
  const { style } = terminal;
  const error = thrown instanceof BrokenRunError ? thrown.cause : thrown;
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  }
  if (error instanceof CommandError) {
    if (error.message !== '') terminal.err(`${style.red('error')} ${safeText(error.message, 2000)}\n`);
    if (error.hint !== undefined) terminal.err(`  ${style.cyan('→')} ${adviceText(error.hint, terminal.paste)}\n`);
    return error.exitCode;
  }
  if (error instanceof GuardLostError) {
    terminal.err(`${style.red('error')} ${safeText(error.message)}\n`);
    terminal.err('  → nothing more was bought; run again when the other run has ended\n');
    return exitCodes.lockHeld;
  }
  if (error instanceof Error && isWriteFailure(error)) {
    terminal.err(`${style.red('error')} cannot write: ${safeText(error.message)}\n`);
    terminal.err('  → make room or fix the permissions, then run again; everything recorded so far is kept\n');
    return exitCodes.cannotWrite;
  }
  const message = error instanceof Error ? error.message : String(error);
  terminal.err(`${style.red('internal error')} this is a bug in mediabatch: ${safeText(message, 500)}\n`);
  if (thrown instanceof BrokenRunError) {
    const lock = safeText(relative(process.cwd(), thrown.lock) || thrown.lock);
    terminal.err(`  ${style.cyan('→')} everything paid so far is on record in ${lock}; run again to go on\n`);
  }
  terminal.err('  please report it with these lines:\n');
  const text = error instanceof Error ? (error.stack ?? message) : message;
  for (const line of text.split('\n')) terminal.err(`  ${style.dim(safeText(line, 1000))}\n`);
  return exitCodes.internalError;
}

const writeFailures = new Set(['ENOSPC', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE']);

/** The disk, or somebody else on it, got in the way: not a bug of ours. */
function isWriteFailure(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  const isOurs = error instanceof LockChangedError || error instanceof UnsafeFileError;
  return isOurs || (code !== undefined && writeFailures.has(code));
}
