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
    .summary('list voices, models, accounts, jobs or uploads of the service')
    .description('Lists resources of the service. Costs nothing.');
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
      .description('Lists the voices for voiceovers. Without a key, lists the documented ones.')
      .option('--gender <gender>', 'female, male or neutral')
      .option('--accent <accent>', 'for example british')
      .option('--play <voice>', 'print only the link of its sample'),
  ).action(async (options) => exit(await (await import('../commands/models.ts')).voices(options, terminal)));

  askOptions(
    parent
      .command('models')
      .summary('the models of each kind, with their credits')
      .description('Lists the documented models, and those of the service’s catalog if it is reachable.')
      .option('--kind <kind>', 'only the models of this kind'),
  ).action(async (options) => exit(await (await import('../commands/models.ts')).models(options, terminal)));
}

function addRecords(parent: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    parent
      .command('accounts')
      .summary('the social accounts that posts can go to')
      .description('Lists the connected social accounts, with a warning for those that expire soon.'),
  ).action(async (options) => exit(await (await import('../commands/accounts.ts')).accounts(options, terminal)));

  askOptions(
    parent
      .command('jobs')
      .summary('the jobs at the service, marked when no lock has them')
      .description('Lists the jobs at the service, newest first, and marks those that no lock of this folder contains.')
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
      .description('Lists the media library, if the service offers a list (the API documents none).'),
  ).action(async (options) => exit(await (await import('../commands/uploads.ts')).showUploads(options, terminal)));
}

function addUpload(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('upload')
      .argument('<paths...>', 'files of this machine')
      .summary('upload files to the media library')
      .description('Uploads files and prints their URLs and ids. Equal bytes are uploaded once. Costs nothing.'),
  ).action(async (paths: string[], options) =>
    exit(await (await import('../commands/uploads.ts')).addUploads(paths, options, terminal)),
  );
}

function addDoctor(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('doctor')
      .summary('check key, clock, service, locks and state folder')
      .description('Checks the prerequisites of a run, and prints a fix for each problem. Read-only.'),
  ).action(async (options) => exit(await (await import('../commands/doctor.ts')).doctor(options, terminal)));
}

function addRemovals(program: Command, { terminal, exit }: ProgramContext): void {
  addStateOptions(
    program
      .command('gc')
      .helpGroup(tidyGroup)
      .addArgument(manifestArgument())
      .summary('delete downloaded files that no step refers to')
      .description('Deletes downloaded files that no step refers to. Lists them and asks for confirmation.')
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
      .summary('permanently delete records at the service')
      .description(
        'Permanently deletes records of music, thumbnails and clippings at the service. Lists them and asks for confirmation. Credits are not refunded; local files stay.',
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
    .summary('run a worker for an engine until it is stopped')
    .description(
      'Carries out runs that `apply --engine` submitted for the account of MEDIABATCH_API_KEY. One worker leads: it creates jobs and polls them. All workers with the run’s --store download its files. Start any number, on any machine. Ctrl-C or SIGTERM hands over.',
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
    'Stops buying for the run of this campaign. Running jobs are already paid and are still collected. `apply` attaches to the run and downloads its files.',
  );
  addRunAct(
    'pause',
    'hold a run on an engine up, until `resume`',
    'Stops new requests of the run of this campaign. Running jobs are already paid and are still collected. The run stays open under any leader, and reserves credits only for unresolved creates.',
  );
  addRunAct('resume', 'let a paused run on an engine go on', 'Resumes the run of this campaign after `pause`.');

  program
    .command('workers')
    .summary('show the runs, leaders and workers of an engine')
    .description('Shows the runs of an engine with their leaders, workers, throughput, waiting files and failures.')
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
    .summary('set up the database of an engine')
    .description('Sets up the database of an engine. Workers and `apply` do this themselves if their role permits it.');
  engine
    .command('migrate')
    .summary('create or upgrade the tables')
    .description(
      'Creates the tables of an engine, or upgrades those of an older version. Workers and `apply` do this themselves if their role may create schemas in the database; `workers`, `status` and `cancel` never do.',
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
