import { type Command, Option } from 'commander';
import type { ProgramContext } from './context.ts';
import { manifestArgument } from './name-manifest.ts';
import { addStateOptions, engineOption, numberIn } from './options.ts';

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
    .option('--files <n>', 'files at once', numberIn({ least: 1, most: 64, whole: true }), 8)
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

/** For commands that go to an engine from elsewhere: the embedded one belongs to its `apply`. */
function databaseOption(): Option {
  return new Option(
    '--engine <address>',
    'postgres://user@host:5432/database; better in MEDIABATCH_ENGINE, because `ps` shows options',
  );
}
