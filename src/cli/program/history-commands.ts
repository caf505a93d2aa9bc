import { InvalidArgumentError } from 'commander';
import { type CostDimension, costDimensions } from '../../plan/prices/tally-charges.ts';
import type { CommandRow } from './command-row.ts';
import { manifestArgument } from './name-manifest.ts';
import { type CommandOption, jsonOption, lockOption, selecting, state } from './options.ts';

const runsOptions: readonly CommandOption[] = [['--sandbox', 'runs of the sandbox'], lockOption, jsonOption];

export const historyCommands: readonly CommandRow[] = [
  {
    name: 'outputs',
    isEveryday: true,
    alsoCalled: ['export'],
    summary: 'list every file with its row, review, credits and request',
    description:
      'Lists every purchased file and every post on a line of its own, with the columns of its row, joined tables and matrix, path, digest, size, review decision, credits, sources and request. Needs no network and no key. Files that are not on this machine are listed from the lock.',
    arguments: [manifestArgument],
    options: [
      ['--picked', 'leave out candidates of a gate that are not picked'],
      [
        '--format <format>',
        'text (default), csv or xlsx for spreadsheets, json or jsonl for programs',
        { words: ['text', 'csv', 'csv-semicolon', 'xlsx', 'json', 'jsonl'] },
      ],
      ['--json', 'the same as --format json'],
      ['--out <file>', 'path of the list; .csv, .xlsx, .json or .jsonl sets the format'],
      ...state,
      ...selecting,
    ],
    notes:
      'In CSV, text that a spreadsheet would calculate (=, +, -, @) gets an apostrophe; numbers stay numbers.\nA file (--out) begins with a byte order mark and has paths as seen from its own folder. JSON has every text as it is, .xlsx all but plain numbers, which are number cells.\ncsv-semicolon is CSV for a spreadsheet with decimal commas (German, French): semicolons, and 3,5 for 3.5.',
    examples: [
      ['mediabatch outputs --sandbox', 'every output with its row'],
      ['mediabatch outputs --sandbox --out outputs.csv', 'for a spreadsheet'],
      ['mediabatch outputs --sandbox -s kind:image --picked --format json', 'for a program'],
    ],
    run: async (terminal, file, options) => (await import('../commands/outputs.ts')).outputs(file, options, terminal),
  },
  {
    name: 'deliver',
    summary: 'copy outputs to a folder or S3 bucket',
    description:
      'Copies files to a folder or an S3 bucket, verifies each by its digest, and writes a list next to them (outputs.csv). Deletes nothing. Overwrites only earlier copies of the same campaign, and skips files that are already there. Copying to a folder needs no network.',
    arguments: [manifestArgument],
    options: [
      ['--to <dir>', 'a folder, created if missing, or s3://BUCKET/PREFIX (AWS_* of the environment)'],
      ['--picked', 'leave out candidates of a gate that are not picked'],
      ['--layout <template>', "names below it, without extension: '{{row.sku}}/{{slug matrix.ratio}}'"],
      ['--format <format>', 'format of the list, as of outputs (default: csv)', { words: ['csv', 'csv-semicolon'] }],
      ['--dry-run', 'print the names; copy nothing'],
      ...state,
      ...selecting,
    ],
    notes:
      'A layout may use row, matrix, key, task, kind, take, part and path (where the file is now).\nTwo files of one name are an error before anything is copied.',
    examples: [
      ['mediabatch deliver --sandbox --to delivery --picked', 'without unpicked candidates', 'at gates'],
      ["mediabatch deliver --sandbox --to shop -s song --layout 'songs/{{key}}'", 'under names of your own'],
      ['mediabatch deliver --sandbox --to delivery --dry-run', 'which files; copies nothing', 'at gates'],
    ],
    run: async (terminal, file, options) =>
      (await import('../commands/deliver.ts')).deliverOutputs(file, options, terminal),
  },
  {
    name: 'cost',
    isEveryday: true,
    alsoCalled: ['costs', 'price', 'prices', 'spend', 'spent', 'credits'],
    summary: 'show what was spent, and where it went',
    description:
      'Shows the credits spent, by task or another dimension, and their use: delivered, superseded, charged for failures, reserved. Needs no network and writes nothing.',
    arguments: [manifestArgument],
    options: [
      [
        '--by <what>',
        `one or several of ${costDimensions.join(', ')}`,
        { read: dimensions, standard: ['task'], shown: 'task' },
      ],
      ['--format <format>', 'how to print it', { words: ['text', 'json', 'csv'] }],
      jsonOption,
      ...state,
    ],
    examples: [
      ['mediabatch cost --sandbox --by kind,model', 'where credits went'],
      ['mediabatch cost --sandbox --format csv', 'for a spreadsheet'],
    ],
    run: async (terminal, file, options) => (await import('../commands/cost.ts')).cost(file, options, terminal),
  },
  {
    name: 'runs',
    alsoCalled: ['history', 'log', 'logs'],
    summary: 'list earlier runs, or show one (runs show <id>)',
    description:
      'Lists earlier runs with their time, result and charges. The last 100 runs of this machine are stored.',
    arguments: [manifestArgument],
    options: runsOptions,
    examples: [
      ['mediabatch runs', 'when, how they ended, what they cost'],
      ['mediabatch runs --sandbox --json', 'rehearsals, for a program'],
    ],
    run: async (terminal, file, options) => (await import('../commands/runs.ts')).runs(file, { options, terminal }),
  },
  {
    name: 'runs show',
    summary: 'show what one run did',
    description: 'Shows the steps of one run by task, its failures and its notices.',
    arguments: [manifestArgument, ['<id>', 'of the run, as the list shows it; its last four characters are enough']],
    options: runsOptions,
    examples: [
      ['mediabatch runs show k3f9', 'the end of its id is enough', 'not run'],
      ['mediabatch runs show --sandbox 2026-11-22-0435-k3f9 --json', 'for a program', 'not run'],
    ],
    // An option that the parent command has, too, is parsed by the parent.
    run: async (terminal, file, id, _options, command) =>
      (await import('../commands/runs.ts')).showRun(file, id, { options: command.optsWithGlobals(), terminal }),
  },
];

/** Parses `kind,model`. */
function dimensions(text: string): CostDimension[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const known = names.flatMap((name) => costDimensions.find((one) => one === name) ?? []);
  if (known.length < names.length)
    throw new InvalidArgumentError(`give one or several of ${costDimensions.join(', ')}`);
  return known;
}
