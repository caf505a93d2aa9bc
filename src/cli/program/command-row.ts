import type { Command } from 'commander';
import { faint, line, table } from '../../report/document.ts';
import { terminalText } from '../../report/render/terminal-text.ts';
import type { Style } from '../../report/style.ts';
import type { Terminal } from '../terminal.ts';
import { type CommandOption, optionOf, underHeadings } from './options.ts';

/**
 * A line for a shell, and what it does. `not run`: it needs a real service or something that happens by accident; `until
 * Ctrl-C`: it ends when somebody ends it; `at gates`: it is about draft-to-final; `asks`: it waits for a yes.
 */
export type Example = readonly [line: string, about: string, how?: 'not run' | 'until Ctrl-C' | 'at gates' | 'asks'];

/** Everything that is known of a command: parsing, help, the manual and the tests read it. */
export interface CommandRow {
  /** Its full name: `list jobs`. */
  name: string;
  summary: string;
  description: string;
  arguments?: readonly (readonly [name: string, about: string, standard?: string])[];
  options?: readonly CommandOption[];
  /** Shows the options below headings. */
  hasHeadings?: true;
  /** Text below the options. */
  notes?: string;
  /** At least two. A test runs them in a folder of the quickstart, or at gates. */
  examples: readonly Example[];
  /** Shown on the first screen. */
  isEveryday?: true;
  /** Never suggested for a typing error, because something can be lost by it. */
  isDestructive?: true;
  /** Names that other tools give to it. */
  alsoCalled?: readonly string[];
  /** Other names of it with an option. */
  shortForms?: Readonly<Record<string, string>>;
  /** Gives the exit code. `given`: arguments, options and the command. Its code is loaded when it is called. */
  run?: (terminal: Terminal, ...given: Given) => Promise<number>;
}

type Given = Parameters<Parameters<Command['action']>[0]>;

export interface ProgramContext {
  terminal: Terminal;
  /** Called by an action at its end with the exit code of the process. */
  exit(code: number): void;
}

const rows = new WeakMap<Command, CommandRow>();

/** Looks up the row of a command; the program itself has none. */
export function rowOf(command: Command): CommandRow | undefined {
  return rows.get(command);
}

/** Adds commands below a heading. A part of another command follows it. */
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
  if (run !== undefined) command.action(async (...given) => exit(await run(terminal, ...given)));
}

/** Ends the help of every command with its examples. */
export function addExamples(program: Command, style: () => Style): void {
  program.addHelpText('afterAll', ({ command }) => {
    const own = rowOf(command)?.examples;
    return own === undefined ? '' : examplesText(own, style());
  });
}

/** Every command by its full name. */
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
