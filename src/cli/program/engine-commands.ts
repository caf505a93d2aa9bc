import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ProgramContext } from './context.ts';
import { manifestArgument } from './name-manifest.ts';
import { addStateOptions } from './options.ts';

/** Commands of runs that several machines carry out. */
export function addEngineCommands(program: Command, { terminal, exit }: ProgramContext): void {
  program.commandsGroup('Several machines:');

  program
    .command('worker')
    .summary('work on the runs of an engine, until it is ended')
    .description(
      'Carries out runs that `apply --engine` submitted for the account of MEDIABATCH_API_KEY: one worker is its head, which creates and waits; all with the --store of a run fetch its files. Start as many as you like, anywhere. Ctrl-C or SIGTERM hands over.',
    )
    .addOption(databaseOption())
    .option('--store <folder>', 'where files go: a folder that all workers share, or s3://bucket/prefix')
    .option('--files <n>', 'files at once', filesAtOnce, 8)
    .option('--exit-when-idle', 'end as soon as no run of the account is open')
    .action(async (options) => exit(await (await import('../commands/worker.ts')).worker(options, terminal)));

  addStateOptions(
    program
      .command('cancel')
      .addArgument(manifestArgument())
      .summary('stop the spending of a run on an engine')
      .description(
        'Nothing more is bought for the run of this campaign; jobs that run are paid, and collected. `apply` attaches to it, and brings what it has made.',
      )
      .addOption(engineOption()),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/cancel.ts')).cancel(file, options, terminal)),
  );

  program
    .command('workers')
    .summary('the runs, the head and the workers of an engine')
    .description('Shows the runs of an engine, who works on them, how fast, which files wait, and what went wrong.')
    .addOption(databaseOption())
    .option('--json', 'one JSON document on stdout')
    .action(async (options) => exit(await (await import('../commands/workers.ts')).workers(options, terminal)));
}

/** Not from the environment by commander, because `--help` would print its password. */
export function engineOption(): Option {
  return new Option(
    '--engine <address>',
    'postgres://user@host:5432/database, or embedded; better in MEDIABATCH_ENGINE, because `ps` shows options',
  );
}

/** The same for commands that go to an engine from elsewhere: the embedded one belongs to its `apply`. */
function databaseOption(): Option {
  return new Option(
    '--engine <address>',
    'postgres://user@host:5432/database; better in MEDIABATCH_ENGINE, because `ps` shows options',
  );
}

/** Workers beside one process. */
export function workersAtOnce(text: string): number {
  return upTo(16, text);
}

function filesAtOnce(text: string): number {
  return upTo(64, text);
}

function upTo(most: number, text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most)
    throw new InvalidArgumentError(`give a whole number from 1 to ${most}`);
  return value;
}
