import { statSync } from 'node:fs';
import { Command, type ParseOptions } from 'commander';
import { flagOf, type OptionRow, optionTable, wordsOf } from '../../campaign/option-table.ts';
import { shellWord } from '../../report/advice-text.ts';
import { facts, line, table } from '../../report/document.ts';
import { terminalText } from '../../report/render/terminal-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { makeStyle } from '../../report/style.ts';
import type { Terminal } from '../terminal.ts';
import { campaignGroups } from './campaign-commands.ts';
import { addCommands, type CommandGroup, type CommandRow, type ProgramContext, rowOf } from './command-row.ts';
import { lockCommands } from './lock-commands.ts';
import { defaultManifest, nameManifest } from './name-manifest.ts';
import { serviceGroups } from './service-commands.ts';

const helpCommand: CommandRow = {
  name: 'help',
  isEveryday: true,
  alsoCalled: ['man', 'version'],
  summary: 'read the manual: a topic, a command or a code',
  description: 'Shows a page of the manual, the options of a command, or what a code means and how to fix it.',
  arguments: [['[topic]', 'a topic of the manual, a command, or a code such as MB1203']],
  examples: [
    ['mediabatch help recovery', 'a page of the manual: recovery after a crash'],
    ['mediabatch help validate', 'what a command can do'],
    ['mediabatch help MB1203', 'what a code means'],
  ],
  run: async (terminal, topic, _options, command) =>
    (await import('../commands/help.ts')).help(topic, command.parent, terminal),
};

const commandGroups: readonly CommandGroup[] = [
  ...campaignGroups,
  ['Decide and tidy up:', lockCommands],
  ...serviceGroups,
  ['Help:', [helpCommand]],
];

class CommandLine extends Command {
  assumes = false;

  override helpInformation(): string {
    return firstScreen(this);
  }

  override async parseAsync(given: readonly string[], options?: ParseOptions): Promise<this> {
    const at = given.findIndex((one) => !one.startsWith('-'));
    const short = this.commands.flatMap((command) => {
      const option = rowOf(command)?.shortForms?.[given[at] ?? ''];
      return option === undefined ? [] : [command.name(), option];
    });
    const argv = short.length === 0 ? given : [...given.slice(0, at), ...short, ...given.slice(at + 1)];
    const word = argv.find((one) => !one.startsWith('-'));
    if (word !== undefined && this.commands.every((command) => command.name() !== word)) {
      throw (await import('./usage-errors.ts')).unknownCommand(this, word);
    }
    const named = nameManifest(this, argv);
    this.assumes = named !== argv;
    return super.parseAsync(named, options);
  }
}

export function makeProgram(context: ProgramContext): Command {
  const { terminal } = context;
  const program = new CommandLine('mediabatch')
    .description('Generates paid media from a YAML manifest within a budget, and never pays twice.')
    .usage('<command> [options]')
    .option('-V, --version', 'print the version')
    // `main` accepts `--no-color` anywhere in the command line.
    .option('--no-color', 'write without colours, as with NO_COLOR=1')
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text, write) => write(usageText(text, terminal)),
    })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      '\nStart here: mediabatch init, then mediabatch apply --sandbox\nThe manual: mediabatch help\n',
    );
  program.hook('preAction', async (_program, command) => {
    if (process.env.MEDIABATCH_SANDBOX !== undefined) await rehearse(command);
    terminal.called = readCall(command);
    const isMissing = program.assumes && statSync(defaultManifest, { throwIfNoEntry: false }) === undefined;
    if (isMissing) throw (await import('./usage-errors.ts')).noManifest(command.name());
  });
  terminal.paste = (command) => pasteAfter(program, terminal.called)(command);
  for (const group of commandGroups) addCommands(program, group, context);
  program.helpCommand(false);
  return program;
}

/** Sets `--sandbox` as if the user had typed it, so that printed commands also work without `MEDIABATCH_SANDBOX`. */
async function rehearse(command: Command): Promise<void> {
  const { knowsPlayMoneyOnly } = await import('../../campaign/environment.ts');
  const canRehearse = command.options.some(({ long }) => long === '--sandbox');
  if (knowsPlayMoneyOnly(process.env) && canRehearse) command.setOptionValueWithSource('sandbox', true, 'cli');
}

function firstScreen(program: Command): string {
  const shown = program.commands.filter((command) => rowOf(command)?.isEveryday);
  const columns = [{ title: '' }, { title: '' }];
  const document = [
    line(`Usage: ${program.name()} ${program.usage()}`),
    line(program.description()),
    line('Every day:', [
      table(
        columns,
        shown.map((command) => [command.name(), command.summary()]),
      ),
    ]),
    facts([
      { label: 'All commands, by theme:', text: 'mediabatch help commands' },
      { label: 'Options of a command:', text: 'mediabatch help COMMAND' },
      { label: 'Anywhere:', text: '--no-color, -h, --help; alone: -V, --version' },
    ]),
  ];
  return terminalText(document, { style: makeStyle(false) });
}

/** Escapes control sequences in a usage error. Removes a suggested option if it starts with another letter. */
function usageText(text: string, { style }: Terminal): string {
  const first = /^error: unknown option '(--.)/.exec(text)?.[1] ?? '';
  const guessed = text.replace(/\n\(Did you mean .*\)/, (guess) => (guess.includes(first) ? guess : ''));
  const safe = guessed.split('\n').map((line) => safeText(line, 2000));
  return safe.join('\n').replace(/^error: /, `${style.red('error')} MB3000 `);
}

/** Returns whether printed commands repeat the option. Without the plan's limits, a command would buy more steps. */
function isCarried({ settles, printed }: OptionRow, command: string): boolean {
  const where = printed ?? ({ campaign: 'always', plan: 'apply', run: 'never', here: 'never' } as const)[settles]; // I25
  return where === 'always' || (where === 'apply' && command === 'apply');
}

function readCall(command: Command): Terminal['called'] {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  const file: unknown = isAboutFile(command) ? command.processedArgs[0] : undefined;
  return { file: typeof file === 'string' ? file : undefined, options: Object.fromEntries(given) };
}

export function pasteAfter(program: Command, called: Terminal['called']): Terminal['paste'] {
  return ({ call: name, words, file = called.file ?? defaultManifest, bare, without }) => {
    let command: Command | undefined = program;
    for (const word of name.split(' ')) command = command?.commands.find((one) => one.name() === word);
    if (command === undefined) throw new Error(`internal error: there is no command ${name}`);
    const carried = Object.values(optionTable).flatMap((row) => (isCarried(row, name) ? [flagOf(row)] : []));
    const flags = command.options.flatMap((option) => {
      const { long, short } = option;
      const isGiven = long === without || words.some((word) => word === long || word === short);
      if (long == null || bare === true || isGiven || !carried.includes(long)) return [];
      return wordsOf(long, shownValue(option.attributeName(), called));
    });
    const subject = isAboutFile(command) ? [file.startsWith('-') ? `./${file}` : file] : [];
    return ['mediabatch', name, ...[...subject, ...flags, ...words].map((word) => shellWord(word))].join(' ');
  };
}

function shownValue(name: string, { options }: Terminal['called']): unknown {
  const value = options[name];
  if (name !== 'engine') return value;
  if (typeof value !== 'string' || !/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  url.password = '';
  for (const secret of ['password', 'sslpassword']) url.searchParams.delete(secret);
  return url.href;
}

function isAboutFile(command: Command): boolean {
  return command.registeredArguments[0]?.name() === 'file';
}
