import { statSync } from 'node:fs';
import { Command, type ParseOptions } from 'commander';
import { safeText } from '../../report/safe-text.ts';
import { pasteAfter, readCall } from '../paste.ts';
import type { Terminal } from '../terminal.ts';
import type { ProgramContext } from './context.ts';
import { addEngineCommands } from './engine-commands.ts';
import { addExamples } from './examples.ts';
import { addHelpCommands } from './help-commands.ts';
import { addHistoryCommands } from './history-commands.ts';
import { addLanguageCommands } from './language-commands.ts';
import { addLockCommands } from './lock-commands.ts';
import { defaultManifest, nameManifest } from './name-manifest.ts';
import { addRunCommands } from './run-commands.ts';
import { addSandboxCommand } from './sandbox-command.ts';
import { addServiceCommands } from './service-commands.ts';

/** A command line of a person, in which FILE may be left out. */
class CommandLine extends Command {
  /** FILE was left out. */
  assumes = false;

  override async parseAsync(argv: readonly string[], options?: ParseOptions): Promise<this> {
    const word = argv.find((one) => !one.startsWith('-'));
    if (word !== undefined && this.commands.every((command) => command.name() !== word)) {
      throw (await import('./unknown-command.ts')).unknownCommand(this, word);
    }
    const named = nameManifest(this, argv);
    this.assumes = named !== argv;
    return super.parseAsync(named, options);
  }
}

/** The whole command line. What a command does is loaded when it is called. */
export function makeProgram(context: ProgramContext): Command {
  const { terminal } = context;
  const program = new CommandLine('mediabatch')
    .description('Turns a YAML manifest into paid media: plans the credits, stays in the budget, and never pays twice.')
    .usage('<command> [options]')
    .option('-V, --version', 'print the version')
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text, write) => write(sayUsage(text, terminal)),
    })
    .configureHelp({ subcommandTerm: termOf })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      '\nStart here: mediabatch init, then mediabatch apply --sandbox. The manual: mediabatch help\n',
    );
  program.hook('preAction', async (_program, command) => {
    terminal.called = readCall(command);
    const isMissing = program.assumes && statSync(defaultManifest, { throwIfNoEntry: false }) === undefined;
    if (isMissing) throw (await import('./no-manifest.ts')).noManifest(command.name());
  });
  terminal.paste = (command) => pasteAfter(program, terminal.called)(command);
  addLanguageCommands(program, context);
  addRunCommands(program, context);
  addHistoryCommands(program, context);
  addLockCommands(program, context);
  program.commandsGroup('The service:');
  addServiceCommands(program, context);
  addSandboxCommand(program, context);
  addEngineCommands(program, context);
  addHelpCommands(program, context);
  addExamples(program, () => terminal.outStyle);
  return program;
}

/** `plan <file>`: that there are options goes without saying, and leaves more room for what the command does. */
function termOf(command: Command): string {
  const inputs = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...inputs].join(' ');
}

/** A mistake of the command line. It repeats what was typed, which may hold what a terminal obeys. */
function sayUsage(text: string, { style }: Terminal): string {
  const safe = text.split('\n').map((line) => safeText(line, 2000));
  return safe.join('\n').replace(/^error: /, `${style.red('error')} MB3000 `);
}
