import { type Command, InvalidArgumentError } from 'commander';
import type { ProgramContext } from './context.ts';
import { manifestArgument } from './name-manifest.ts';
import { addStateOptions, age, lockTimeoutOption, serviceMovedOption, wholeNumber } from './options.ts';

/** As in lock-commands.ts: they change what is on record elsewhere. */
const tidyGroup = 'Decide and tidy up:';

/** Commands around the service: what it has, what may go, and whether all is well. Each loads what it needs only when it runs. */
export function addServiceCommands(program: Command, context: ProgramContext): void {
  addCatalogs(program, context);
  addRecords(program, context);
  addUploads(program, context);
  addDoctor(program, context);
  addRemovals(program, context);
}

function addCatalogs(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('voices')
      .summary('the voices of voiceovers')
      .description('Lists the voices of voiceovers. Without a key: those that the documentation names.')
      .option('--gender <gender>', 'female, male or neutral')
      .option('--accent <accent>', 'for example british')
      .option('--play <voice>', 'print only the link of its sample'),
  ).action(async (options) => exit(await (await import('../commands/voices.ts')).voices(options, terminal)));

  askOptions(
    program
      .command('models')
      .summary('the models of each kind, with their credits')
      .description('Lists the documented models, and those of the service’s catalog where it can be asked.')
      .option('--kind <kind>', 'only the models of this kind'),
  ).action(async (options) => exit(await (await import('../commands/models.ts')).models(options, terminal)));
}

function addRecords(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('accounts')
      .summary('the social accounts that posts can go to')
      .description('Lists the connected social accounts, and warns of those that expire.'),
  ).action(async (options) => exit(await (await import('../commands/accounts.ts')).accounts(options, terminal)));

  askOptions(
    program
      .command('jobs')
      .summary('the jobs at the service, and which no lock knows')
      .description('Lists the jobs at the service, newest first, and marks those that no lock of this folder knows.')
      .option('--kind <kind>', 'only jobs of this kind')
      .option('--state <state>', 'queued, processing, completed or failed')
      .option('--model <model>', 'only jobs of this model')
      .option('--limit <n>', 'at most so many', limit, 50)
      .option('--unknown', 'only those that no lock of this folder knows'),
  ).action(async (options) => exit(await (await import('../commands/jobs.ts')).jobs(options, terminal)));
}

function addUploads(program: Command, { terminal, exit }: ProgramContext): void {
  const uploads = program
    .command('uploads')
    .summary('bring files into the media library, or list it')
    .description('Works with the media library of the service. Takes no credits.');
  askOptions(
    uploads
      .command('add')
      .argument('<files...>', 'files of this machine')
      .description('Uploads files and prints their URLs and ids. Equal bytes go up once.'),
  ).action(async (files: string[], options) =>
    exit(await (await import('../commands/uploads.ts')).addUploads(files, options, terminal)),
  );
  askOptions(
    uploads
      .command('list')
      .description('Lists the media library, where the service has a list of it; its documentation names none.'),
  ).action(async (options) => exit(await (await import('../commands/uploads.ts')).showUploads(options, terminal)));
}

function addDoctor(program: Command, { terminal, exit }: ProgramContext): void {
  askOptions(
    program
      .command('doctor')
      .summary('check key, clock, service, locks and this folder')
      .description('Looks at everything that a run relies on, and says what to do about what is wrong.')
      .option(
        '--verify-replay',
        'buy one cheapest job, after asking, to see whether a lost answer can be asked for again',
      )
      .option('-y, --yes', 'with --verify-replay: do not ask'),
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
      .option('--older-than <age>', 'with --kept: only what was kept longer ago than this (12h, 30d)', age)
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
