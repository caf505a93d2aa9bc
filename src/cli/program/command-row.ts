import type { Command } from 'commander';
import { faint, line, table } from '../../report/document.ts';
import { terminalText } from '../../report/render/terminal-text.ts';
import type { Style } from '../../report/style.ts';
import type { Terminal } from '../terminal.ts';
import { type CommandOption, optionOf, requireNeeded, underHeadings } from './options.ts';

/**
 * A command line, and what it does. `not run`: the tests do not run it, because it needs a real service or an
 * accidental situation; `until Ctrl-C`: it runs until it is interrupted; `at gates`: it belongs to the example
 * draft-to-final; `asks`: it waits for a yes.
 */
export type Example = readonly [line: string, about: string, how?: 'not run' | 'until Ctrl-C' | 'at gates' | 'asks'];

/** All facts about a command, used by the parser, the help, the manual and the tests. */
export interface CommandRow {
  /** Full name, like `list jobs`. */
  name: string;
  summary: string;
  description: string;
  arguments?: readonly (readonly [name: string, about: string, standard?: string])[];
  options?: readonly CommandOption[];
  /** Whether help groups its options under headings. */
  hasHeadings?: true;
  notes?: string;
  /** At least two. A test runs them in the quickstart folder, or in that of draft-to-final. */
  examples: readonly Example[];
  /** Whether the first help screen shows it. */
  isEveryday?: true;
  /** Whether it can lose data, so that it is never suggested for a typing error. */
  isDestructive?: true;
  alsoCalled?: readonly string[];
  /** Other names that mean this command with an option. */
  shortForms?: Readonly<Record<string, string>>;
  /**
   * Runs the command and returns the exit code. `given`: arguments, options and the command. The code of a command is
   * loaded when it is called.
   */
  run?: (terminal: Terminal, ...given: Given) => Promise<number>;
}

type Given = Parameters<Parameters<Command['action']>[0]>;

export interface ProgramContext {
  terminal: Terminal;
  exit(code: number): void;
}

const rows = new WeakMap<Command, CommandRow>();

/** Returns the row of a command; the program itself has none. */
export function rowOf(command: Command): CommandRow | undefined {
  return rows.get(command);
}

/** Adds commands under a heading. A subcommand follows its parent. */
export function addCommands(
  program: Command,
  group: string,
  all: readonly CommandRow[],
  context: ProgramContext,
): void {
  program.commandsGroup(group);
  for (const row of all) addCommand(program, row, context);
}

function addCommand(program: Command, row: CommandRow, { terminal, exit }: ProgramContext): void {
  const [own = '', parent] = row.name.split(' ').reverse();
  const above = program.commands.find((one) => one.name() === parent) ?? program;
  const command = above.command(own).summary(row.summary).description(row.description);
  rows.set(command, row);
  for (const [name, about, standard] of row.arguments ?? []) command.argument(name, about, standard);
  for (const option of row.options ?? []) command.addOption(optionOf(option));
  if (row.hasHeadings === true) underHeadings(command);
  if (row.notes !== undefined) command.addHelpText('after', `\n${row.notes}`);
  const { run } = row;
  if (run === undefined) return;
  command.action(async (...given) => {
    requireNeeded(command, row.options ?? []);
    exit(await run(terminal, ...given));
  });
}

export function addExamples(program: Command, style: () => Style): void {
  program.addHelpText('afterAll', ({ command }) => {
    const own = rowOf(command)?.examples;
    return own === undefined ? '' : examplesText(own, style());
  });
}

export function namedCommands({ commands }: Command): [string, Command, CommandRow][] {
  return commands.flatMap((one) => {
    const row = rowOf(one);
    return row === undefined ? [] : [[row.name, one, row] as [string, Command, CommandRow], ...namedCommands(one)];
  });
}

function examplesText(own: readonly Example[], style: Style): string {
  const cells = own.map(([example, about]) => [example, faint(`# ${about}`)]);
  return `\n${terminalText([line('Examples:', [table([{ title: '' }, { title: '' }], cells)])], { style })}`;
}
