import { type Command, InvalidArgumentError, Option } from 'commander';
import { applyOptions, portRange } from '../../campaign/option-table.ts';
import { manifestArgument } from './name-manifest.ts';
import type { ProgramContext } from './options.ts';
import {
  addStateOptions,
  age,
  engineOption,
  lockTimeoutOption,
  numberIn,
  serviceMovedOption,
  wholeNumber,
} from './options.ts';

/** As in lock-commands.ts: they change what is on record elsewhere. */
const tidyGroup = 'Decide and tidy up:';

/** Commands around the service: what it has, what may go, and whether all is well. Each loads what it needs only when it runs. */
export function addServiceCommands(program: Command, context: ProgramContext): void {
  const list = program
    .command('list')
    .summary('list what the service has: voices, models, accounts, jobs, uploads')
    .description('Lists what the service has. Takes no credits.');
  addCatalogs(list, context);
  addRecords(list, context);
  addUpload(program, context);
  addDoctor(program, context);
  addRemovals(program, context);
}

function addCatalogs(parent: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    parent
      .command('voices')
      .summary('the voices of voiceovers')
      .description('Lists the voices of voiceovers. Without a key: those that the documentation names.')
      .option('--gender <gender>', 'female, male or neutral')
      .option('--accent <accent>', 'for example british')
      .option('--play <voice>', 'print only the link of its sample'),
  ).action(async (options) => exit(await (await import('../commands/models.ts')).voices(options, terminal)));

  askOptions(
    parent
      .command('models')
      .summary('the models of each kind, with their credits')
      .description('Lists the documented models, and those of the service’s catalog where it can be asked.')
      .option('--kind <kind>', 'only the models of this kind'),
  ).action(async (options) => exit(await (await import('../commands/models.ts')).models(options, terminal)));
}

function addRecords(parent: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    parent
      .command('accounts')
      .summary('the social accounts that posts can go to')
      .description('Lists the connected social accounts, and warns of those that expire.'),
  ).action(async (options) => exit(await (await import('../commands/accounts.ts')).accounts(options, terminal)));

  askOptions(
    parent
      .command('jobs')
      .summary('the jobs at the service, and which no lock knows')
      .description('Lists the jobs at the service, newest first, and marks those that no lock of this folder knows.')
      .option('--kind <kind>', 'only jobs of this kind')
      .option('--state <state>', 'queued, processing, completed or failed')
      .option('--model <model>', 'only jobs of this model')
      .option('--limit <n>', 'at most so many', limit, 50)
      .option('--unknown', 'only those that no lock of this folder knows'),
  ).action(async (options) => exit(await (await import('../commands/jobs.ts')).jobs(options, terminal)));

  askOptions(
    parent
      .command('uploads')
      .summary('the media library')
      .description('Lists the media library, where the service has a list of it; its documentation names none.'),
  ).action(async (options) => exit(await (await import('../commands/uploads.ts')).showUploads(options, terminal)));
}

function addUpload(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('upload')
      .argument('<paths...>', 'files of this machine')
      .summary('bring files into the media library')
      .description('Uploads files and prints their URLs and ids. Equal bytes are uploaded once. Takes no credits.'),
  ).action(async (paths: string[], options) =>
    exit(await (await import('../commands/uploads.ts')).addUploads(paths, options, terminal)),
  );
}

function addDoctor(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('doctor')
      .summary('check key, clock, service, locks and state folder')
      .description('Checks what a run relies on, and names the remedy for each problem. Reads only.'),
  ).action(async (options) => exit(await (await import('../commands/doctor.ts')).doctor(options, terminal)));
}

function addRemovals(program: Command, { terminal, exit }: ProgramContext): void {
  addStateOptions(
    program
      .command('gc')
      .helpGroup(tidyGroup)
      .addArgument(manifestArgument())
      .summary('delete local files that no step owns')
      .description('Deletes local files that were bought and that no step owns any more. Lists them and asks.')
      .option('--unpicked', 'instead: what was rejected, or not picked at a gate that is decided')
      .option('--kept', 'instead: what newer outputs replaced, which is kept in .mediabatch/')
      .option('--dry-run', 'list only')
      .option('-y, --yes', 'do not ask')
      .option('--json', 'one JSON document on stdout')
      .addOption(lockTimeoutOption()),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/gc.ts')).gc(file, options, terminal)),
  );

  addStateOptions(
    program
      .command('destroy')
      .helpGroup(tidyGroup)
      .addArgument(manifestArgument())
      .argument('[addresses...]', 'steps on record; * stands for anything. Without FILE they come first')
      .summary('remove records at the service, for good')
      .description(
        'Removes records of music, thumbnails and clippings at the service, for good. Lists them one by one and asks. Credits do not come back; files here stay.',
      )
      .option('--orphans', 'what the manifest no longer has')
      .addOption(serviceMovedOption())
      .option('-y, --yes', 'do not ask')
      .option('--json', 'one JSON document on stdout')
      .addOption(lockTimeoutOption()),
  ).action(async (file: string, addresses: string[], options) =>
    exit(await (await import('../commands/destroy.ts')).destroy(file, addresses, { options, terminal })),
  );
}

function askOptions(command: Command): Command {
  return command
    .option('--sandbox', 'ask the embedded service of this folder')
    .option('--json', 'one JSON document on stdout');
}

function limit(text: string): number {
  const value = wholeNumber(text);
  if (value < 1 || value > 10_000) throw new InvalidArgumentError('give a number from 1 to 10000');
  return value;
}

export function addSandboxCommand(program: Command, { terminal, exit }: ProgramContext): void {
  program
    .command('sandbox')
    .summary('serve a local stand-in for the service')
    .description('Serves a local stand-in for the service: real jobs, credits and files, no account.')
    .option('--port <port>', 'port on 127.0.0.1; 0 takes a free one', numberIn(portRange), 4010)
    .option('--credits <n>', 'balance of a new sandbox', wholeNumber)
    .option('--speed <factor>', 'how much faster than life jobs run', numberIn(applyOptions.sandboxSpeed.range), 1)
    .option('--fail-rate <share>', 'share of jobs that fail, 0 to 1', numberIn(applyOptions.sandboxFailRate.range), 0)
    .option('--faults <file>', 'scripted faults, JSON')
    .option('--data <dir>', 'where its state lives', '.mediabatch/sandbox')
    .option('--files <dir>', 'where rendered files are kept (default: in --data); several sandboxes may share it')
    .action(async (options) => exit(await (await import('../commands/sandbox.ts')).sandbox(options, terminal)));
}

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
    .addOption(
      new Option('--port <n>', 'serve /healthz, /readyz and /metrics (Prometheus) there').argParser(
        numberIn(portRange),
      ),
    )
    .option('--host <address>', 'with --port: listen there; 0.0.0.0 for other machines', '127.0.0.1')
    .option(
      '--limit <limits>',
      'credits that all campaigns of the account may spend: 100/run,400/day,2000/month (default: MEDIABATCH_LIMIT)',
    )
    .option('--drain', 'at a signal end only when no run of the account is open; at a second one hand over')
    .addOption(new Option('--log <form>', 'its lines for people, or as JSON').choices(['text', 'json']).default('text'))
    .addOption(
      new Option(
        '--keep <age>',
        'delete runs of the account that ended longer ago (12h, 30d; default: never)',
      ).argParser(age),
    )
    .action(async (options) => exit(await (await import('../commands/worker.ts')).worker(options, terminal)));

  const addRunAct = (act: 'cancel' | 'pause' | 'resume', summary: string, description: string) =>
    addStateOptions(
      program
        .command(act)
        .addArgument(manifestArgument())
        .summary(summary)
        .description(description)
        .addOption(engineOption()),
    ).action(async (file: string, options) =>
      exit(await (await import('../commands/cancel.ts')).cancel(act, file, { options, terminal })),
    );
  addRunAct(
    'cancel',
    'stop the spending of a run on an engine',
    'Nothing more is bought for the run of this campaign; jobs that run are paid, and collected. `apply` attaches to it, and brings what it has made.',
  );
  addRunAct(
    'pause',
    'hold a run on an engine up, until `resume`',
    'Nothing new is sent for the run of this campaign; jobs that run are paid, and collected. It stays open, whichever worker leads, and holds no credits but those of creates without an answer.',
  );
  addRunAct(
    'resume',
    'let a paused run on an engine go on',
    'The run of this campaign goes on where `pause` has held it up.',
  );

  program
    .command('workers')
    .summary('the runs, the head and the workers of an engine')
    .description('Shows the runs of an engine, who works on them, how fast, which files wait, and what went wrong.')
    .addOption(databaseOption())
    .option('--check', 'only what is wrong, and exit code 69 if anything is: for monitoring')
    .option('--campaign <name>', 'only runs of this campaign')
    .addOption(
      new Option('--state <state>', 'only runs in this state').choices(['open', 'paused', 'stopping', 'ended']),
    )
    .option('--json', 'one JSON document on stdout')
    .action(async (options) => exit(await (await import('../commands/workers.ts')).workers(options, terminal)));

  addEngineCommand(program, { terminal, exit });
}

function addEngineCommand(program: Command, { terminal, exit }: ProgramContext): void {
  const engine = program
    .command('engine')
    .summary('make the tables of an engine, for roles that may not')
    .description('Sets up the database of an engine. Workers and `apply` do so by themselves where their role may.');
  engine
    .command('migrate')
    .summary('make the tables, or bring them up to this version')
    .description(
      'Makes the tables of an engine, or brings those of an older version up. Workers and `apply` do so by themselves where their role may create schemas in the database; `workers`, `status` and `cancel` never do.',
    )
    .addOption(databaseOption())
    .option('--grant <role>', 'let this role use them: for workers and submitters that own nothing')
    .action(async (options) =>
      exit(await (await import('../commands/engine-migrate.ts')).engineMigrate(options, terminal)),
    );
}

function databaseOption(): Option {
  return new Option(
    '--engine <address>',
    `postgres://user@host:5432/database; better in MEDIABATCH_ENGINE, because \`ps\` shows options`,
  );
}
