import { homedir, tmpdir } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { ownVersion } from '../campaign/own-version.ts';
import { BrokenRunError } from '../contract/errors.ts';
import { exitCodes } from '../contract/exit.ts';
import { type Failure, failureOf, failures } from '../contract/failure.ts';
import { defined, messageOf } from '../ground/values.ts';
import { failureJson } from '../report/diagnostics/diagnostics-text.ts';
import { safeText } from '../report/safe-text.ts';
import { makeProgram } from './program/program.ts';
import { outJson, printFailure, processTerminal, type Terminal } from './terminal.ts';
import { endStage } from './timing.ts';

export { endAtUnhandledErrors } from './signals.ts';
export { flushed } from './terminal.ts';

/** Runs one command line and returns the exit code. The third Ctrl-C kills the process. */
export async function main(typed: string[], given?: Terminal): Promise<number> {
  const { argv, color } = readColor(typed);
  const terminal = given ?? processTerminal({ color });
  let exitCode: number = exitCodes.done;
  const program = makeProgram({
    terminal,
    exit(code) {
      exitCode = code;
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    terminal.err(endStage('print'));
    return exitCode;
  } catch (error) {
    return explain(error, terminal, /(?:^| )--(?:json|format[ =]json)(?: |$)/.test(argv.join(' ')));
  }
}

function readColor(typed: readonly string[]): { argv: string[]; color: 'wanted' | 'never' } {
  const end = typed.indexOf('--');
  const isMeant = (word: string, at: number) => word === '--no-color' && (end < 0 || at < end);
  const argv = typed.filter((word, at) => !isMeant(word, at));
  return { argv, color: argv.length < typed.length ? 'never' : 'wanted' };
}

/** Prints the error that ended a command, and returns its exit code. `isJson`: prints the error to stdout, too. */
export function explain(thrown: unknown, terminal: Terminal = processTerminal(), isJson = false): number {
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
  const failure = reportFailure(thrown, terminal);
  if (isJson) outJson(terminal, failureJson(failure, terminal.paste));
  return failures[failure.code].exit;
}

function reportFailure(thrown: unknown, terminal: Terminal): Failure {
  // Commander has already printed the message.
  if (thrown instanceof CommanderError) return { code: 'MB3000', message: thrown.message.replace(/^error: /, '') };
  const failure = failureOf(thrown);
  if (failure === undefined) return reportBug(thrown, terminal);
  printFailure(terminal, failure);
  return failure;
}

function reportBug(thrown: unknown, { err, style }: Terminal): Failure {
  const isRun = thrown instanceof BrokenRunError;
  const error = isRun ? thrown.cause : thrown;
  const message = messageOf(error);
  err(`${style.red('internal error')} this is a bug in mediabatch: ${safeText(message, 500)}\n`);
  const lock = isRun ? relative(process.cwd(), thrown.lock) || thrown.lock : undefined;
  if (lock !== undefined) {
    err(`  ${style.cyan('→')} everything paid so far is on record in ${safeText(lock)}; run again to continue\n`);
  }
  err('  please report it with these lines:\n');
  for (const line of bugReport(error, process.argv.slice(2))) err(`  ${style.dim(safeText(line, 1000))}\n`);
  return { code: 'MB3901', message, ...defined({ lock }) };
}

const ownFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/**
 * Returns the lines of a bug report: version, machine, command without values, and stack. Omits quoted strings, because
 * they may contain the user's data.
 */
export function bugReport(error: unknown, typed: readonly string[]): string[] {
  const text = error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error);
  const [command = '', ...words] = typed;
  const options = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*$/s, ''));
  return [
    `mediabatch ${ownVersion()}, Node ${process.version}, ${process.platform} ${process.arch}`,
    `command: ${[/^[a-z-]+$/.test(command) ? command : '…', ...options].join(' ')}`,
    ...withoutPrivate(text).split('\n'),
  ];
}

function withoutPrivate(text: string): string {
  const places: [folder: string, name: string][] = [
    [ownFolder, '<package>'],
    [process.cwd(), '<cwd>'],
    [tmpdir(), '<tmp>'],
    [homedir(), '<home>'],
  ];
  let shown = text;
  for (const [folder, name] of places) if (folder.length > 1) shown = shown.replaceAll(folder, name);
  return shown
    .replaceAll(/(["'`“])(?:(?!["'`”\n]).){8,}["'`”]/g, '$1…$1')
    .replaceAll(/(^|[\s(])(?:file:\/\/)?(?:\/|[A-Z]:\\)[^\s():]+/gm, '$1<path>');
}
