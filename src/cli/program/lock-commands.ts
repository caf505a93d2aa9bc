import { type Command, Option } from 'commander';
import type { Verb, VerbOptions } from '../commands/decisions.ts';
import { manifestArgument } from './name-manifest.ts';
import type { ProgramContext } from './options.ts';
import { addStateOptions, collectText, lockTimeoutOption, serviceMovedOption, wholeNumber } from './options.ts';

type OptionParts = readonly [
  flags: string,
  text: string,
  read?: (text: string, earlier: string[] | undefined) => string[] | number,
];

/** A decision of a person, recorded in the lock. None of them costs credits. */
interface VerbRow {
  name: Exclude<Verb, `un${string}`>;
  /** Arguments after FILE. Defaults to the named or selected steps. */
  words?: readonly (readonly [name: string, text: string])[];
  summary: string;
  description: string;
  options?: readonly (OptionParts | (() => Option))[];
}

const noteOptions: readonly OptionParts[] = [
  ['--note <text>', 'why, for the record'],
  ['--by <name>', 'who decides; default: the name that git knows'],
];
const yesOption: OptionParts = ['-y, --yes', 'do not ask'];

const verbs: readonly VerbRow[] = [
  {
    name: 'pick',
    summary: 'pick outputs at their gates',
    description:
      'Picks outputs at their gates. The next apply uses them for the steps behind the gate. At a gate with a single pick, a new pick replaces the earlier one. Costs nothing.',
    options: [
      ...noteOptions,
      ['--from <picks.json>', 'what people picked elsewhere; of several files, where they agree', collectText],
      () => undoOption('take back what was picked or rejected'),
    ],
  },
  {
    name: 'reject',
    summary: 'turn outputs down at their gates',
    description: 'Rejects outputs at their gates: no step uses them. They stay on disk and in the lock. Costs nothing.',
    options: [...noteOptions, ['--reason <text>', 'why, as one of the `reasons` of the gate']],
  },
  {
    name: 'accept',
    summary: 'declare outputs right as they are',
    description:
      'Accepts outputs as they are: edited by hand, made from an input that changed later, or outside of `expect`. Neither they nor the steps that use them are bought again. Costs nothing.',
  },
  {
    name: 'pin',
    summary: 'keep what steps have, whatever changes',
    description:
      'Keeps the current outputs of steps when the manifest changes. The plan shows what each change would cost. `pin: true` does the same for all steps of a task. Costs nothing.',
    options: [() => undoOption('remove the pin: the manifest decides again')],
  },
  {
    name: 'forget',
    summary: 'let what was bought count as never bought',
    description:
      'Removes purchases from the plan: orphans are no longer listed, and current steps are planned again. Job ids stay in the lock, and credits stay counted. Costs nothing itself.',
    options: [
      ['--orphans', 'everything that the manifest no longer has'],
      ['--force', 'running jobs, too: their outputs are given up'],
    ],
  },
  {
    name: 'move',
    words: [
      ['<old>', 'the address on record'],
      ['<new>', 'the step that it is now'],
    ],
    summary: 'give what was bought a new address',
    description:
      'Moves a purchase to a new address when key and input changed together. Steps with an unchanged input are found without it. Costs nothing.',
  },
  {
    name: 'adopt',
    words: [['[address]', 'a step without a job, which gets the job of --job']],
    summary: 'record paid jobs that no lock contains',
    description:
      'Lists jobs at the service that no lock of this folder contains, and records each at the step with exactly its request. Asks first. With ADDRESS it records one job, of any request, after querying the service. The next apply collects it. Costs nothing.',
    options: [
      ['--job <id>', 'the job, or one of several candidates; may be given several times', collectText],
      ['--credits <n>', 'with ADDRESS: the charge, where the service does not report it', wholeNumber],
      ['--offline', 'with ADDRESS: do not query the service'],
      serviceMovedOption,
      yesOption,
    ],
  },
  {
    name: 'resolve',
    words: [['<address>', 'the step, as the plan shows it']],
    summary: 'decide about a create whose answer was lost',
    description: 'Records what a person has found out about a create whose answer was lost. Spends nothing itself.',
    options: [
      ['--job <id>', 'it was charged, and this is its job'],
      ['--credits <n>', 'with --job: what it was charged', wholeNumber],
      ['--not-spent', 'it was not charged'],
      ['--spend-again', 'buy it, whatever happened before'],
      ['--send <id>', 'the create that is meant, where an address has several that are open'],
    ],
  },
];

/** Commands by which a person settles what the lock cannot know. */
export function addLockCommands(program: Command, context: ProgramContext): void {
  program.commandsGroup('Decide and tidy up:');
  for (const row of verbs) addVerb(program, row, context);
  addUnlock(program, context);
}

function addVerb(program: Command, row: VerbRow, { terminal, exit }: ProgramContext): void {
  const { name, words, summary, description, options = [] } = row;
  const command = program.command(name).summary(summary).description(description).addArgument(manifestArgument());
  for (const [word, text] of words ?? []) command.argument(word, text);
  if (words === undefined) {
    command
      .argument('[addresses...]', 'steps or tasks; * stands for anything. Without FILE they come first')
      .option('-s, --select <selection>', 'by selection: tag:launch, state:changed', collectText);
  }
  for (const option of options) command.addOption(typeof option === 'function' ? option() : optionOf(option));
  addStateOptions(command)
    .option('--dry-run', 'show what would be decided, record nothing')
    .option('--json', 'one JSON document on stdout')
    .addOption(lockTimeoutOption())
    .action(async (file: string, ...given) => {
      const options = command.opts<VerbOptions>();
      // Commander passes options and command after the arguments.
      const words: string[] = given
        .slice(0, -2)
        .flat()
        .filter((word) => word !== undefined);
      const { decideBy } = await import('../commands/decisions.ts');
      exit(await decideBy(name, file, { words, options, terminal }));
    });
}

function undoOption(text: string): Option {
  return new Option('--undo', text).conflicts(['note', 'by', 'from']);
}

function optionOf([flags, text, read]: OptionParts): Option {
  const option = new Option(flags, text);
  return read === undefined ? option : option.argParser<unknown>((given, earlier) => read(given, earlier as string[]));
}

function addUnlock(program: Command, { terminal, exit }: ProgramContext): void {
  program
    .command('unlock')
    .addArgument(manifestArgument())
    .option('--id <id>', 'the id of the run, as the refusal showed it')
    .summary('release the lock of a run on another machine')
    .description(
      'Releases the lock of a run that died on another machine. A run on an engine is ended there: its purchases are added to the lock, and workers stop.',
    )
    .option('--sandbox', 'the lock of the sandbox runs')
    .option('--lock <file>', 'path of the lock (default: next to the manifest)')
    .option('--json', 'one JSON document on stdout')
    .option('--force', 'of a run on an engine: although it is open there, or the engine does not answer')
    .action(async (file: string, options) =>
      exit(await (await import('../commands/unlock.ts')).unlock(file, options, terminal)),
    );
}
