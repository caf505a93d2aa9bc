import {
  applyOptions,
  optionTable,
  planOptions,
  portRange,
  scopeOptions,
  selectionOptions,
  sharedOptions,
  varOptions,
} from '../../campaign/option-table.ts';
import { type CommandGroup, type CommandOption, type CommandRow, state, typedOptions } from './command-row.ts';
import { defaultManifest, manifestArgument } from './name-manifest.ts';

const selecting: readonly CommandOption[] = Object.values(selectionOptions);
const planning: readonly CommandOption[] = [
  ...state,
  ...selecting,
  ...Object.values({ ...scopeOptions, ...sharedOptions }),
];

const languageCommands: readonly CommandRow[] = [
  {
    name: 'init',
    isEveryday: true,
    alsoCalled: ['new', 'create', 'example', 'examples'],
    summary: 'write a campaign to start from',
    description:
      'Writes a campaign to start from, with .gitattributes, .gitignore and .env.example. Existing files stay as they are.',
    arguments: [['[dir]', 'folder to write into', '.']],
    options: [
      ['--example <name>', 'name of an example; --list shows them'],
      ['--from-csv <file>', 'a campaign for the rows and columns of your own data file', { conflicts: 'example' }],
      ['--agents', 'also write AGENTS.md: what a coding agent may do in this folder'],
      ['--list', 'show the examples'],
    ],
    examples: [
      ['mediabatch init spring', 'a small campaign, in a new folder'],
      ['mediabatch init grid --example product-grid', 'another example; --list shows all'],
      ['mediabatch init launch --from-csv products.csv', 'a picture for each row of your own table'],
    ],
    run: async (terminal, dir, options) => (await import('../commands/init.ts')).init(dir, options, terminal),
  },
  {
    name: 'validate',
    isEveryday: true,
    alsoCalled: ['check', 'lint', 'test'],
    summary: 'check a manifest and show every error at once',
    description:
      'Shows every error of a manifest, or “ok” with the numbers of tasks and steps. In GitHub Actions, also annotates the lines. Needs no network. Requests without a built-in description are checked against the API description that `plan --refresh` stored, or with --sandbox against that of the sandbox.',
    arguments: [['[files...]', `manifests (default: ${defaultManifest})`]],
    options: [optionTable.json, optionTable.sandbox, optionTable.strict, ...Object.values(varOptions)],
    examples: [
      ['mediabatch validate', 'campaign.yaml of this folder'],
      ['mediabatch validate --sandbox', 'also checks requests that only the sandbox describes'],
      ['mediabatch validate --json', 'for a program'],
    ],
    run: async (terminal, files, options) =>
      (await import('../commands/validate.ts')).validate(files, options, terminal),
  },
  {
    name: 'schema',
    summary: 'print a JSON Schema, or list the kinds',
    description:
      'Prints a published JSON Schema, or lists the `kinds` of a manifest with their fields. The list of kinds has the schema kinds.schema.json of the package. Template helpers: `help templates`.',
    arguments: [
      [
        '[name]',
        'name of a schema (manifest, plan, lock, event, result, status, failure and others), or kinds',
        'manifest',
      ],
    ],
    options: [['--json', 'kinds as one JSON document']],
    examples: [
      ['mediabatch schema kinds', 'the kinds of media, with every field'],
      ['mediabatch schema > mediabatch.schema.json', 'for editors, as init writes it'],
    ],
    run: async (terminal, name, options) => (await import('../commands/schema.ts')).schema(name, options, terminal),
  },
];

const runCommands: readonly CommandRow[] = [
  {
    name: 'plan',
    isEveryday: true,
    alsoCalled: ['preview', 'dry-run', 'estimate', 'compare', 'changes', 'diff', 'watch'],
    summary: 'show what a run would do, and what it costs',
    description:
      'Shows what a run would do with each step, why, and the cost. Needs no network, except with --refresh. Writes nothing except the file of --out.',
    arguments: [manifestArgument],
    options: [...Object.values(planOptions), ...planning],
    examples: [
      ['mediabatch plan', 'what a run would do, and what it costs'],
      ['mediabatch plan --select +cover', 'the cover and the steps that it needs'],
      ['mediabatch plan --sandbox --out campaign.plan.json', 'to review, and then to apply exactly as saved'],
      ['mediabatch plan --sandbox --compare HEAD', 'what changed since the last commit'],
    ],
    run: async (terminal, file, _options, command) =>
      (await import('../commands/plan.ts')).plan(file, typedOptions(command), terminal),
  },
  {
    name: 'approve',
    isEveryday: true,
    summary: 'approve a saved plan, so that apply runs it without a prompt',
    description:
      'Shows a saved plan and asks for approval. `apply` then runs that exact plan once without prompting. The approval is signed and stored in your user state directory.',
    arguments: [['[plan]', 'a plan that was saved with plan --out']],
    options: [
      [
        '--valid <age>',
        'how long the approval is valid: 12h, 30d',
        { takes: 'duration', standard: 7 * 86_400_000, shown: '7d' },
      ],
      ['--by <name>', 'name of the approver (default: git user.name, else the user name)'],
      ['--rows', 'print the request of every step without asking', { conflicts: ['valid', 'by', 'list', 'revoke'] }],
      ['--list', 'list the approvals on this machine', { conflicts: ['valid', 'by', 'revoke'] }],
      ['--revoke', 'revoke the approval of this plan', { conflicts: ['valid', 'by'] }],
      ['--json', 'with --list: one JSON document on stdout', { needs: '--list' }],
    ],
    examples: [
      ['mediabatch approve campaign.plan.json', 'shows the plan, and asks', 'not run'],
      ['mediabatch approve campaign.plan.json --rows', 'every prompt, text, voice and model', 'not run'],
      ['mediabatch approve --list', 'the approvals on this machine'],
      ['mediabatch approve --revoke campaign.plan.json', 'revokes the approval', 'not run'],
    ],
    run: async (terminal, file, options) => (await import('../commands/approve.ts')).approve(file, options, terminal),
  },
  {
    name: 'apply',
    isEveryday: true,
    alsoCalled: ['run', 'start', 'up', 'deploy', 'build', 'retry', 'generate', 'fetch', 'download', 'pull'],
    summary: 'plan, ask, run, download, and write the lock',
    description:
      'Plans, asks for approval, runs, and writes the lock. Run the same command again to resume. Paid jobs are never paid again, and published posts are never posted again.',
    arguments: [['[file]', 'the manifest, or a plan that was saved with plan --out (default: campaign.yaml)']],
    options: [...Object.values(applyOptions), ...planning],
    examples: [
      ['mediabatch apply --sandbox', 'a rehearsal with sandbox credits', 'asks'],
      ['mediabatch apply --sandbox --yes --redo hero@lamp,9:16', 'buys one picture again'],
      ['mediabatch apply --sandbox --review', 'opens a page to pick drafts; the run waits', 'not run'],
      ['mediabatch apply --max-credits 50', 'with real credits, and a limit for this run', 'not run'],
    ],
    run: async (terminal, file, _options, command) =>
      (await import('../commands/apply.ts')).apply(file, typedOptions(command), terminal),
  },
  {
    name: 'status',
    isEveryday: true,
    alsoCalled: ['ls', 'ps', 'show', 'state', 'info'],
    shortForms: { graph: '--graph' },
    summary: 'show what is done, running, failed and missing',
    description:
      'Shows what is done, running, failed and missing, and the credits. Needs no network and writes nothing.',
    arguments: [manifestArgument],
    options: [
      ['--list', 'one line for each step, with its job, credits, file and error'],
      optionTable.json,
      [
        '--graph',
        'dependencies and states as a Mermaid graph; with --list, of each step',
        { conflicts: ['json', 'follow'] },
      ],
      ['--engine <address>', 'include what the run of this campaign on an engine has recorded so far'],
      [
        '--follow',
        'show the progress of a run that another terminal started',
        { conflicts: ['list', 'json', 'select', 'exclude'] },
      ],
      ...state,
      ...selecting,
    ],
    examples: [
      ['mediabatch status', 'done, running, failed; credits'],
      ['mediabatch status --sandbox --list', 'step by step'],
      ['mediabatch status --sandbox --follow', 'a run in another terminal'],
      ['mediabatch status --sandbox --graph', 'dependencies as Mermaid, for a README'],
    ],
    run: async (terminal, file, options) =>
      options.follow === true
        ? (await import('../commands/follow.ts')).follow(file, options, terminal)
        : (await import('../commands/status.ts')).status(file, options, terminal),
  },
  {
    name: 'review',
    isEveryday: true,
    summary: 'review outputs in the browser; pick and reject with the keyboard',
    description:
      'Serves a local page to view, compare, pick and reject outputs. Decisions are written to the lock. Ends with Ctrl-C; the exit code is 0 even if gates are still open. Costs nothing.',
    arguments: [manifestArgument],
    options: [
      [
        '--port <n>',
        'listen on this port of 127.0.0.1',
        { takes: 'number', range: portRange, standard: 0, shown: 'any free port' },
      ],
      ['--no-open', 'only print the address'],
      ...state,
      ...selecting,
    ],
    notes:
      'From another machine: run ssh -L 4020:127.0.0.1:4020 HOST, start mediabatch review --port 4020 --no-open\nthere, and open the printed address on this machine. The page listens only on 127.0.0.1.',
    examples: [
      ['mediabatch review --sandbox', 'opens the page; Ctrl-C ends the command', 'not run'],
      ['mediabatch review --no-open --port 4020', 'prints the address only', 'not run'],
    ],
    run: async (terminal, file, options) => (await import('../commands/review.ts')).review(file, options, terminal),
  },
  {
    name: 'report',
    summary: 'write a gallery: a folder that any browser opens offline',
    description:
      'Writes a gallery of outputs and requests: a folder or a single file to open from disk. Viewers can pick outputs in the gallery and send picks.json back. Needs no network and costs nothing.',
    arguments: [manifestArgument],
    options: [
      ['--out <dir>', 'the folder (default: CAMPAIGN.report next to the manifest)'],
      ['--copy', 'copy the media into the folder, so that you can send it'],
      [
        '--max-size <size>',
        'copy, and shrink pictures to keep the folder below this, as in 20MB',
        { takes: 'bytes', conflicts: 'singleFile' },
      ],
      ['--single-file <file>', 'one HTML file with small pictures only, 20 MB at most', { conflicts: ['out', 'copy'] }],
      [
        '--for <reader>',
        'for a client: a copy without prices, prompts, ids, paths or commands',
        { takes: ['client'], conflicts: 'compare' },
      ],
      ['--note <text>', 'with --for: a line above the pictures, such as the sender and a deadline', { needs: '--for' }],
      optionTable.json,
      ['--compare <ref>', 'compare each output with its version in this commit'],
      ...state,
      ...selecting,
    ],
    examples: [
      ['mediabatch report --sandbox --out gallery', 'a folder for any browser'],
      ['mediabatch report --sandbox --single-file gallery.html', 'one file, small pictures only'],
      ['mediabatch report --compare main --copy', 'before and after, as a folder to send', 'not run'],
    ],
    run: async (terminal, file, options) => (await import('../commands/report.ts')).report(file, options, terminal),
  },
  {
    name: 'explain',
    alsoCalled: ['why', 'flatten', 'resolved'],
    shortForms: { render: '--request', expand: '--origins' },
    summary: 'explain what a run would do with a step, and why',
    description:
      'Explains what a run would do with a step, field by field. With --request, prints the request of the step; with --origins, its resolved values and where each comes from. Needs no network and writes nothing.',
    arguments: [manifestArgument, ['[address]', 'address of the step, as the plan shows it; optional with --origins']],
    options: [
      optionTable.json,
      ['--request', 'show the request as it is sent'],
      ['--origins', 'show all resolved values, and where each comes from', { conflicts: 'request' }],
      ...state,
    ],
    examples: [
      ['mediabatch explain hero@lamp,1:1', 'why the step would be bought'],
      ['mediabatch explain hero@lamp,1:1 --request', 'the request as it is sent'],
      ['mediabatch explain hero@lamp,1:1 --origins', 'where each value of the step comes from'],
      ['mediabatch explain --origins --json', 'all values of every step, as JSON'],
    ],
    run: async (terminal, file, address, options) =>
      (await import('../commands/explain.ts')).explain(file, address, { options, terminal }),
  },
];

const runsOptions: readonly CommandOption[] = [
  ['--sandbox', 'runs of the sandbox'],
  optionTable.lock,
  optionTable.json,
];

const historyCommands: readonly CommandRow[] = [
  {
    name: 'outputs',
    isEveryday: true,
    alsoCalled: ['export', 'files', 'open'],
    summary: 'list every file with its row, decision, credits and request',
    description:
      'Lists every purchased file and every post, one per line. Columns: those of the row, joined tables and matrix, then path, digest, size, review decision, credits, sources and request. Needs no network and no key. Files that are not on this machine are listed from the lock.',
    arguments: [manifestArgument],
    options: [
      ['--picked', 'leave out outputs that were not picked at their gate'],
      [
        '--format <format>',
        'text (default), csv or xlsx for spreadsheets, json or jsonl for programs',
        { takes: ['text', 'csv', 'csv-semicolon', 'xlsx', 'json', 'jsonl'] },
      ],
      ['--json', 'the same as --format json'],
      ['--out <file>', 'path of the list; .csv, .xlsx, .json or .jsonl sets the format'],
      ...state,
      ...selecting,
    ],
    notes:
      'In CSV, text that a spreadsheet would run as a formula (=, +, -, @) gets a leading apostrophe; numbers stay numbers.\nA CSV file (--out) begins with a byte order mark; paths in a file are relative to its folder. JSON contains every text unchanged, and so does .xlsx, except that plain numbers become number cells.\ncsv-semicolon is CSV for a spreadsheet with decimal commas (German, French): semicolons, and 3,5 for 3.5.',
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
      'Copies files to a folder or an S3 bucket, verifies each by its digest, and writes a list next to them (outputs.csv). Deletes nothing. Overwrites only earlier copies of the same campaign, and skips files that are already in the folder. Copying to a folder needs no network.',
    arguments: [manifestArgument],
    options: [
      ['--to <dir>', 'a folder, created if missing, or s3://BUCKET/PREFIX (AWS_* of the environment)'],
      ['--picked', 'leave out outputs that were not picked at their gate'],
      [
        '--layout <template>',
        "template of file names in that folder, without extension: '{{row.sku}}/{{slug matrix.ratio}}'",
      ],
      [
        '--format <format>',
        'format of the list, as for mediabatch outputs (default: csv)',
        { takes: ['csv', 'csv-semicolon'] },
      ],
      ['--dry-run', 'print the names; copy nothing'],
      ...state,
      ...selecting,
    ],
    notes:
      'A layout may use row, matrix, key, task, kind, take, part and path (current path of the file).\nIf two files would get the same name, the command fails and copies nothing.',
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
      ['--by <what>', 'one or more of task, kind, model, tag', { standard: 'task' }],
      ['--format <format>', 'output format', { takes: ['text', 'json', 'csv'] }],
      optionTable.json,
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
    description: 'Lists earlier runs with their time, result and charges. The last 100 runs on this machine are kept.',
    arguments: [manifestArgument],
    options: runsOptions,
    examples: [
      ['mediabatch runs', 'time, result and charges of each run'],
      ['mediabatch runs --sandbox --json', 'sandbox runs, as JSON'],
    ],
    run: async (terminal, file, options) => (await import('../commands/runs.ts')).runs(file, options, terminal),
  },
  {
    name: 'runs show',
    summary: 'show what one run did',
    description: 'Shows the steps of one run by task, its failures and its notices.',
    arguments: [manifestArgument, ['<id>', 'id of the run, as the list shows it; the last four characters are enough']],
    options: runsOptions,
    examples: [
      ['mediabatch runs show k3f9', 'one run, by the end of its id', 'not run'],
      ['mediabatch runs show --sandbox 2026-11-22-0435-k3f9 --json', 'for a program', 'not run'],
    ],
    // Commander parses an option with the parent command if the parent also has it.
    run: async (terminal, file, id, _options, command) =>
      (await import('../commands/runs.ts')).showRun(file, id, { options: command.optsWithGlobals(), terminal }),
  },
];

export const campaignGroups: readonly CommandGroup[] = [
  ['Write a campaign:', languageCommands],
  ['Run a campaign:', runCommands],
  ['Look back:', historyCommands],
];
