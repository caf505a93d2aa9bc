import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CostDimension, costDimensions } from '../../plan/tally-charges.ts';
import type { ProgramContext } from './context.ts';
import { manifestArgument } from './name-manifest.ts';
import { addStateOptions } from './options.ts';

/** Commands that look back: at earlier runs, at the lock, and at its history in git. */
export function addHistoryCommands(program: Command, context: ProgramContext): void {
  addRunsCommands(program, context);
  addDiffCommand(program, context);
  addCostCommand(program, context);
}

function addRunsCommands(program: Command, { terminal, exit }: ProgramContext): void {
  const runs = addRunsOptions(
    program
      .command('runs')
      .addArgument(manifestArgument())
      .summary('list earlier runs, or show one (runs show <id>)')
      .description(
        'Lists earlier runs: when, how they ended, and what they were charged. The last 100 are kept, on this machine only.',
      ),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/runs.ts')).runs(file, { options, terminal })),
  );
  addRunsOptions(
    runs
      .command('show')
      .addArgument(manifestArgument())
      .argument('<id>', 'of the run, as the list shows it; its last four characters will do')
      .summary('show what one run did')
      .description('Shows what one run did: its steps by task, what went wrong, what was noticed.'),
  ).action(async (file: string, id: string, _options, command: Command) =>
    // An option that the list has, too, is read by it.
    exit(
      await (await import('../commands/runs.ts')).showRun(file, id, { options: command.optsWithGlobals(), terminal }),
    ),
  );
}

function addRunsOptions(command: Command): Command {
  return command
    .option('--sandbox', 'runs of the sandbox')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--json', 'one JSON document on stdout');
}

function addCostCommand(program: Command, { terminal, exit }: ProgramContext): void {
  addStateOptions(
    program
      .command('cost')
      .addArgument(manifestArgument())
      .summary('show what was spent, and where it went')
      .description(
        'Shows what was spent, by task or whatever else, and where it went: delivered, superseded, failed and charged, on hold. Months and authors are those of the commit in which a job first stands in the lock. Needs no network and writes nothing.',
      )
      .addOption(
        new Option('--by <what>', `one or several of ${costDimensions.join(', ')}`)
          .argParser(dimensions)
          .default(['task'], 'task'),
      )
      .option('--since <ref>', 'only what is not on record in this commit')
      .addOption(new Option('--format <format>', 'how to print it').choices(['text', 'json', 'csv']))
      .option('--json', 'one JSON document on stdout'),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/cost.ts')).cost(file, options, terminal)),
  );
}

function addDiffCommand(program: Command, { terminal, exit }: ProgramContext): void {
  program
    .command('diff')
    .addArgument(manifestArgument())
    .argument('[from]', 'a commit (default: HEAD)')
    .argument('[to]', 'another one (default: the lock as it is here)')
    .summary('show what was bought and decided between two commits')
    .description(
      'Shows how the lock differs between two commits, or since one: purchases, jobs that ended, credits, decisions, paid work that was given up. `plan --compare` shows what differs in the campaign. Needs no network and writes nothing.',
    )
    .option('--sandbox', 'the lock of the sandbox runs')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--all', 'a line for each job')
    .addOption(new Option('--format <format>', 'how to print it').choices(['text', 'json', 'markdown']))
    .option('--json', 'one JSON document on stdout')
    .action(async (file: string, from: string | undefined, to: string | undefined, options) =>
      exit(await (await import('../commands/diff.ts')).diff(file, [from, to], { options, terminal })),
    );
}

/** `month,author`. */
function dimensions(text: string): CostDimension[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const known = names.flatMap((name) => costDimensions.find((one) => one === name) ?? []);
  if (known.length < names.length)
    throw new InvalidArgumentError(`give one or several of ${costDimensions.join(', ')}`);
  return known;
}
