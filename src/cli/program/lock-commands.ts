import type { Command } from 'commander';
import type { Verb } from '../commands/decisions.ts';
import { manifestArgument } from './name-manifest.ts';
import type { ProgramContext } from './options.ts';
import { addStateOptions, collectText, lockTimeoutOption, serviceMovedOption, wholeNumber } from './options.ts';

/** Commands by which a person settles what the lock cannot know. */
export function addLockCommands(program: Command, context: ProgramContext): void {
  const { terminal, exit } = context;
  program.commandsGroup('Decide and tidy up:');
  addDecisionCommands(program, context);

  addStateOptions(
    program
      .command('resolve')
      .addArgument(manifestArgument())
      .argument('<address>', 'the step, as the plan shows it')
      .summary('decide about a create whose answer was lost')
      .description('Records what a person has found out about a create whose answer was lost. Spends nothing itself.')
      .option('--job <id>', 'it was charged, and this is its job')
      .option('--credits <n>', 'with --job: what it was charged', wholeNumber)
      .option('--not-spent', 'it was not charged')
      .option('--spend-again', 'buy it, whatever happened before')
      .option('--send <id>', 'the create that is meant, where an address has several that are open')
      .option('--json', 'one JSON document on stdout')
      .addOption(lockTimeoutOption()),
  ).action(async (file: string, address: string, options) =>
    exit(await (await import('../commands/resolve.ts')).resolve(file, address, { options, terminal })),
  );

  program
    .command('unlock')
    .addArgument(manifestArgument())
    .option('--id <id>', 'the id of the run, as the refusal showed it')
    .summary('end the claim of a run on another machine')
    .description(
      'Ends the claim of a run that is gone on another machine. One on an engine ends there: what it has bought comes into the lock, and no worker goes on with it.',
    )
    .option('--sandbox', 'the lock of the sandbox runs')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--json', 'one JSON document on stdout')
    .option('--force', 'of a run on an engine: although it is open there, or the engine does not answer')
    .action(async (file: string, options) =>
      exit(await (await import('../commands/unlock.ts')).unlock(file, options, terminal)),
    );
}

/** Decisions of people, recorded in the lock. None of them costs credits. */
function addDecisionCommands(program: Command, context: ProgramContext): void {
  for (const verb of verbs) addVerb(program, verb, context);
  addRecordCommands(program, context);
}

interface VerbRow {
  name: Verb;
  summary: string;
  description: string;
  options?: readonly [flags: string, text: string, collect?: typeof collectText][];
}

const noteOptions: VerbRow['options'] = [
  ['--note <text>', 'why, for the record'],
  ['--by <name>', 'who decides; default: the name that git knows'],
];

/** Decisions about steps that are named or selected. */
const verbs: readonly VerbRow[] = [
  {
    name: 'pick',
    summary: 'pick outputs at their gates',
    description:
      'Picks outputs at their gates: what hangs on a gate is made from them by the next apply. Where one is to be picked, it takes the place of an earlier one. Costs nothing.',
    options: [
      ...noteOptions,
      ['--from <picks.json>', 'what people picked elsewhere; of several files, where they agree', collectText],
    ],
  },
  {
    name: 'reject',
    summary: 'turn outputs down at their gates',
    description:
      'Turns outputs down at their gates: nothing is made from them. They stay on disk and in the lock. Costs nothing.',
    options: [...noteOptions, ['--reason <text>', 'why, as one of the `reasons` of the gate']],
  },
  {
    name: 'unpick',
    summary: 'take back what was picked or rejected',
    description: 'Takes verdicts back: the outputs are neither picked nor rejected. Costs nothing itself.',
  },
  {
    name: 'accept',
    summary: 'declare outputs right as they are',
    description:
      'Declares outputs right as they are: edited by hand, made from an input that has changed since, or not as `expect` wants them. Nothing is bought again for them, nor for what uses them. Costs nothing.',
  },
  {
    name: 'pin',
    summary: 'keep what steps have, whatever changes',
    description:
      'Keeps what steps have, whatever changes in the manifest. The plan says what each would cost. `pin: true` in a task does the same for all its steps. Costs nothing.',
  },
  {
    name: 'unpin',
    summary: 'let the manifest decide about steps again',
    description: 'Takes the pin off: the manifest decides about the steps again. Costs nothing itself.',
  },
  {
    name: 'forget',
    summary: 'let what was bought count as never bought',
    description:
      'Drops purchases from the plan: orphans are no longer listed, and their steps are planned again. Job ids stay in the lock, and credits stay counted. Costs nothing itself.',
    options: [
      ['--orphans', 'everything that the manifest no longer has'],
      ['--force', 'running jobs, too: their outputs are given up'],
    ],
  },
];

function addVerb(program: Command, { name, summary, description, options = [] }: VerbRow, context: ProgramContext) {
  const { terminal, exit } = context;
  const command = chosenSteps(program.command(name)).summary(summary).description(description);
  for (const [flags, text, collect] of options) {
    if (collect === undefined) command.option(flags, text);
    else command.option(flags, text, collect);
  }
  addDecideOptions(command).action(async (file: string, addresses: string[], given) =>
    exit(
      await (await import('../commands/decisions.ts')).decideSteps(name, file, addresses, { options: given, terminal }),
    ),
  );
}

function addRecordCommands(program: Command, { terminal, exit }: ProgramContext): void {
  addDecideOptions(
    program
      .command('move')
      .addArgument(manifestArgument())
      .argument('<old>', 'the address on record')
      .argument('<new>', 'the step that it is now')
      .summary('give what was bought a new address')
      .description(
        'Gives what was bought a new address, where key and input changed at the same time. What keeps its input is found without it. Costs nothing.',
      ),
  ).action(async (file: string, from: string, to: string, options) =>
    exit(await (await import('../commands/decisions.ts')).move(file, { from, to }, { options, terminal })),
  );

  addDecideOptions(
    program
      .command('import')
      .addArgument(manifestArgument())
      .argument('<address>', 'a step that is not bought')
      .argument('<job>', 'the id of a paid job')
      .summary('give a step a job that is paid already')
      .description(
        'Gives a step a job that is paid already, after asking the service for it. The next apply collects it. Costs nothing.',
      )
      .option('--credits <n>', 'what it was charged, where the service does not say', wholeNumber)
      .option('--offline', 'do not ask the service')
      .addOption(serviceMovedOption())
      .option('-y, --yes', 'do not ask'),
  ).action(async (file: string, address: string, job: string, options) =>
    exit(await (await import('../commands/adopt.ts')).importStep(file, { address, job }, { options, terminal })),
  );

  addDecideOptions(
    program
      .command('adopt')
      .addArgument(manifestArgument())
      .summary('find paid jobs that no lock knows')
      .description(
        'Lists jobs at the service that no lock of this folder knows, and gives them to the steps that asked for exactly this. Asks first. Costs nothing.',
      )
      .option('--job <id>', 'of several candidates this one; may be given several times', collectText)
      .addOption(serviceMovedOption())
      .option('-y, --yes', 'do not ask'),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/adopt.ts')).adopt(file, { options, terminal })),
  );
}

function chosenSteps(command: Command): Command {
  return command
    .addArgument(manifestArgument())
    .argument('[addresses...]', 'steps or tasks; * stands for anything. Without FILE they come first')
    .option('-s, --select <selection>', 'by selection: tag:launch, state:changed', collectText);
}

function addDecideOptions(command: Command): Command {
  return addStateOptions(command)
    .option('--dry-run', 'show what would be decided, record nothing')
    .option('--json', 'one JSON document on stdout')
    .addOption(lockTimeoutOption());
}
