import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CostDimension, costDimensions } from '../../plan/prices/tally-charges.ts';
import { manifestArgument } from './name-manifest.ts';
import type { ProgramContext } from './options.ts';
import { addSelectOptions, addStateOptions } from './options.ts';

/** Commands that look back: at earlier runs, at the lock and at files. */
export function addHistoryCommands(program: Command, context: ProgramContext): void {
  program.commandsGroup('Look back:');
  addRunsCommands(program, context);
  addCostCommand(program, context);
  addOutputsCommand(program, context);
  addDeliverCommand(program, context);
}

function addRunsCommands(program: Command, { terminal, exit }: ProgramContext): void {
  const runs = addRunsOptions(
    program
      .command('runs')
      .addArgument(manifestArgument())
      .summary('list earlier runs, or show one (runs show <id>)')
      .description(
        'Lists earlier runs with their time, result and charges. The last 100 runs of this machine are stored.',
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
      .description('Shows the steps of one run by task, its failures and its notices.'),
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
    .option('--lock <file>', 'path of the lock (default: next to the manifest)')
    .option('--json', 'one JSON document on stdout');
}

function addCostCommand(program: Command, { terminal, exit }: ProgramContext): void {
  addStateOptions(
    program
      .command('cost')
      .addArgument(manifestArgument())
      .summary('show what was spent, and where it went')
      .description(
        'Shows the credits spent, by task or another dimension, and their use: delivered, superseded, charged for failures, reserved. Months and authors come from the commit that added a job to the lock. Needs no network and writes nothing.',
      )
      .addOption(
        new Option('--by <what>', `one or several of ${costDimensions.join(', ')}`)
          .argParser(dimensions)
          .default(['task'], 'task'),
      )
      .option('--since <ref>', 'only what is not on record in this commit')
      .addOption(
        new Option('--all', 'every campaign of this working tree that has a lock').conflicts(['since', 'lock']),
      )
      .addOption(new Option('--format <format>', 'how to print it').choices(['text', 'json', 'csv']))
      .option('--json', 'one JSON document on stdout'),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/cost.ts')).cost(file, options, terminal)),
  );
}

function addOutputsCommand(program: Command, { terminal, exit }: ProgramContext): void {
  addSelectOptions(
    addStateOptions(
      program
        .command('outputs')
        .addArgument(manifestArgument())
        .summary('list every file with its row, verdict, credits and request')
        .description(
          'Lists every purchased file on a line of its own, with its row and matrix columns, path, digest, size, review decision, credits, sources and request. Needs no network and no key. Files that are not on this machine are listed from the lock.',
        )
        .option('--picked', 'leave out candidates of a gate that are not picked')
        .addOption(
          new Option(
            '--format <format>',
            'text for the eye (default), csv for spreadsheets, json or jsonl for programs',
          ).choices(['text', 'csv', 'json', 'jsonl']),
        )
        .option('--json', 'the same as --format json')
        .option('--out <file>', 'write it here; .csv (as Excel opens it), .json or .jsonl says the format')
        .option('--sidecar', 'write FILE.json beside each file that is here, with the same in it')
        .addHelpText(
          'after',
          '\nIn CSV an apostrophe stands before a text that a spreadsheet would calculate (=, +, -, @); numbers stay numbers.\nA file (--out) begins with a byte order mark and has paths as seen from its own folder. JSON has every text as it is.',
        ),
    ),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/outputs.ts')).outputs(file, options, terminal)),
  );
}

function addDeliverCommand(program: Command, { terminal, exit }: ProgramContext): void {
  addSelectOptions(
    addStateOptions(
      program
        .command('deliver')
        .addArgument(manifestArgument())
        .summary('copy outputs to a folder or S3 bucket')
        .description(
          'Copies files to a folder or an S3 bucket, verifies each by its digest, and writes a list next to them (outputs.csv). Deletes nothing. Overwrites only earlier copies of the same campaign, and skips files that are already there. Copying to a folder needs no network.',
        )
        .option(
          '--to <dir>',
          'a folder, which is made where there is none, or s3://BUCKET/PREFIX (AWS_* of the environment)',
        )
        .option('--picked', 'leave out candidates of a gate that are not picked')
        .option('--layout <template>', "names below it, without extension: '{{row.sku}}/{{slug matrix.ratio}}'")
        .option('--dry-run', 'print the names; copy nothing')
        .addHelpText(
          'after',
          '\nA layout may use row, matrix, key, task, kind, take, part and path (where the file is now).\nTwo files of one name are an error before anything is copied.',
        ),
    ),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/deliver.ts')).deliverOutputs(file, options, terminal)),
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
