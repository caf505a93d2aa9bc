import { applyOptions, optionTable, portRange } from '../../campaign/option-table.ts';
import { type CommandGroup, type CommandOption, type CommandRow, state } from './command-row.ts';
import { manifestArgument } from './name-manifest.ts';

const asking: readonly CommandOption[] = [['--sandbox', 'query the embedded sandbox of this folder'], optionTable.json];

const serviceCommands: readonly CommandRow[] = [
  {
    name: 'list',
    alsoCalled: ['kinds', 'voices', 'models', 'accounts', 'jobs'],
    summary: 'list voices, models, accounts, jobs or uploads of the service',
    description: 'Lists resources of the service. Costs nothing.',
    examples: [
      ['mediabatch list voices --gender female', 'find a voice'],
      ['mediabatch list jobs --sandbox --limit 5', 'the newest jobs'],
    ],
  },
  {
    name: 'list voices',
    summary: 'the voices for voiceovers',
    description: 'Lists the voices for voiceovers. Without an API key, lists the documented voices.',
    options: [
      ['--gender <gender>', 'female, male or neutral'],
      ['--accent <accent>', 'for example british'],
      ...asking,
    ],
    examples: [
      ['mediabatch list voices --gender female --accent british', 'some of them'],
      ['mediabatch list voices --json', 'for a program'],
    ],
    run: async (terminal, options) => (await import('../commands/list.ts')).voices(options, terminal),
  },
  {
    name: 'list models',
    summary: 'the models of each kind, with their credits',
    description: 'Lists the documented models, and those of the service’s catalog if it is reachable.',
    options: [['--kind <kind>', 'only the models of this kind'], ...asking],
    examples: [
      ['mediabatch list models --kind image', 'with their credits'],
      ['mediabatch list models --json', 'for a program'],
    ],
    run: async (terminal, options) => (await import('../commands/list.ts')).models(options, terminal),
  },
  {
    name: 'list accounts',
    summary: 'the social accounts that posts can go to',
    description: 'Lists the connected social accounts, and when each must be reconnected.',
    options: asking,
    examples: [
      ['mediabatch list accounts', 'where posts can go', 'not run'],
      ['mediabatch list accounts --sandbox', 'accounts of the sandbox'],
    ],
    run: async (terminal, options) => (await import('../commands/list.ts')).accounts(options, terminal),
  },
  {
    name: 'list jobs',
    summary: 'the jobs at the service; those in no lock are marked',
    description: 'Lists the jobs at the service, newest first, and marks those that no lock of this folder contains.',
    options: [
      ['--kind <kind>', 'only jobs of this kind'],
      [
        '--limit <n>',
        'maximum number of jobs to show',
        { takes: 'number', range: { least: 1, most: 10_000, whole: true }, standard: 50 },
      ],
      ['--unknown', 'only jobs that no lock of this folder contains'],
      ...asking,
    ],
    examples: [
      ['mediabatch list jobs --sandbox --limit 5', 'the newest'],
      ['mediabatch list jobs --unknown', 'bought, but not in any lock of this folder', 'not run'],
    ],
    run: async (terminal, options) => (await import('../commands/list.ts')).jobs(options, terminal),
  },
  {
    name: 'list uploads',
    summary: 'the media library',
    description: 'Lists the media library, if the service offers a list (the API documents none).',
    options: asking,
    examples: [
      ['mediabatch list uploads', 'if the service has a list of uploads', 'not run'],
      ['mediabatch list uploads --json', 'for a program', 'not run'],
    ],
    run: async (terminal, options) => (await import('../commands/list.ts')).uploads(options, terminal),
  },
  {
    name: 'upload',
    summary: 'upload files to the media library',
    description: 'Uploads files and prints their URLs and ids. Costs nothing.',
    arguments: [['<paths...>', 'files on this machine']],
    options: asking,
    examples: [
      ['mediabatch upload --sandbox logo.png', 'prints its URL'],
      ['mediabatch upload --sandbox --json logo.png', 'for a program'],
    ],
    run: async (terminal, paths, options) => (await import('../commands/list.ts')).upload(paths, options, terminal),
  },
  {
    name: 'doctor',
    alsoCalled: ['config', 'configure', 'settings', 'login', 'auth'],
    summary: 'check key, clock, service, locks and state folder',
    description: 'Checks the prerequisites of a run, and prints a fix for each problem. Read-only.',
    options: asking,
    examples: [
      ['mediabatch doctor --sandbox', 'checks the locks of this folder and the embedded sandbox'],
      ['mediabatch doctor', 'also checks key, clock and service', 'not run'],
    ],
    run: async (terminal, options) => (await import('../commands/doctor.ts')).doctor(options, terminal),
  },
  {
    name: 'sandbox',
    summary: 'serve a local stand-in for the service',
    description: 'Serves a local stand-in for the service, with jobs, credits and files of its own. Needs no account.',
    options: [
      [
        '--port <port>',
        'port on 127.0.0.1; 0 selects a free port',
        { takes: 'number', range: portRange, standard: 4010 },
      ],
      ['--credits <n>', 'balance of a new sandbox', { takes: 'whole' }],
      [
        '--speed <factor>',
        'speed of jobs relative to real time',
        { takes: 'number', range: applyOptions.sandboxSpeed.range, standard: 1 },
      ],
      [
        '--fail-rate <share>',
        'share of jobs that fail, 0 to 1',
        { takes: 'number', range: applyOptions.sandboxFailRate.range, standard: 0 },
      ],
      ['--faults <file>', 'JSON file of scripted faults'],
      ['--data <dir>', 'folder of the sandbox state', { standard: '.mediabatch/sandbox' }],
      ['--files <dir>', 'folder of rendered files, which sandboxes can share (default: in --data)'],
    ],
    examples: [
      ['mediabatch sandbox', 'on port 4010, with a status page', 'not run'],
      ['mediabatch sandbox --port 0 --credits 500 --speed 20', 'on a free port, with fast jobs', 'until Ctrl-C'],
    ],
    run: async (terminal, options) => (await import('../commands/sandbox.ts')).sandbox(options, terminal),
  },
];

const engineCommands: readonly CommandRow[] = [
  {
    name: 'worker',
    summary: 'run a worker for an engine until it is stopped',
    description:
      'Carries out runs that `apply --engine` submitted for the account of MEDIABATCH_API_KEY. One worker leads: it creates jobs and polls them. All workers with the --store of the run download its files. Start any number of workers, on any machine. On Ctrl-C or SIGTERM, another worker takes over its runs.',
    options: [
      optionTable.engine,
      ['--store <folder>', 'store of outputs: a folder that all workers share, or s3://bucket/prefix'],
      [
        '--files <n>',
        'number of files to transfer at once',
        { takes: 'number', range: { least: 1, most: 64, whole: true }, standard: 8 },
      ],
      ['--exit-when-idle', 'end as soon as no run of the account is open'],
      ['--port <n>', 'serve /healthz and /readyz on this port', { takes: 'number', range: portRange }],
      ['--host <address>', 'with --port: address to listen on; 0.0.0.0 for other machines', { standard: '127.0.0.1' }],
      [
        '--limit <limits>',
        'credits that all campaigns of the account may spend: 100/run,400/day,2000/month (default: MEDIABATCH_LIMIT)',
      ],
      ['--drain', 'at the first signal, finish the open runs of the account, then end; at a second signal, hand over'],
      ['--log <form>', 'format of the log: text or JSON', { takes: ['text', 'json'], standard: 'text' }],
      [
        '--keep <age>',
        'delete runs of the account that ended longer ago than this (12h, 30d; default: never)',
        { takes: 'duration' },
      ],
    ],
    examples: [
      ['mediabatch worker', 'MEDIABATCH_ENGINE is set', 'not run'],
      ['mediabatch worker --engine postgres://me@db/media --store /mnt/media', 'and fetches files', 'not run'],
      ['mediabatch worker --port 9102 --host 0.0.0.0', 'with /healthz and /readyz', 'not run'],
    ],
    run: async (terminal, options) => (await import('../commands/engine.ts')).worker(options, terminal),
  },
  runAct(
    'cancel',
    'stop a run on an engine from spending more',
    'Stops buying for the run of this campaign. Running jobs are already paid and are still collected. `apply` attaches to the run and downloads its files.',
  ),
  runAct(
    'pause',
    'pause a run on an engine until `resume`',
    'Stops the run of this campaign from creating jobs. Running jobs are already paid and are still collected. The run stays paused even if another worker becomes the leader. A paused run reserves credits only for unresolved create requests.',
  ),
  runAct('resume', 'resume a paused run on an engine', 'Resumes the run of this campaign after `pause`.'),
  {
    name: 'workers',
    summary: 'show the runs, leaders and workers of an engine',
    description: 'Shows the runs of an engine with their leaders, workers, throughput, waiting files and failures.',
    options: [
      optionTable.engine,
      ['--check', 'print only problems, and exit with 69 if there are any'],
      ['--campaign <name>', 'only runs of this campaign'],
      ['--state <state>', 'only runs in this state', { takes: ['open', 'paused', 'stopping', 'ended'] }],
      optionTable.json,
    ],
    examples: [
      ['mediabatch workers', 'as it is now', 'not run'],
      ['mediabatch workers --check', 'for monitoring: exits with 69 if anything is wrong', 'not run'],
    ],
    run: async (terminal, options) => (await import('../commands/engine.ts')).workers(options, terminal),
  },
  {
    name: 'engine',
    summary: 'set up the database of an engine',
    description:
      'Sets up the database of an engine. Workers and `apply` do this themselves if their database role permits it.',
    examples: [
      ['mediabatch engine migrate', 'MEDIABATCH_ENGINE is set', 'not run'],
      ['mediabatch engine migrate --grant media', 'lets workers use the tables', 'not run'],
    ],
  },
  {
    name: 'engine migrate',
    summary: 'create or upgrade the tables',
    description:
      'Creates the tables of an engine, or upgrades those of an older version. Workers and `apply` do this themselves if their role may create schemas in the database; `workers`, `status` and `cancel` never do.',
    options: [
      optionTable.engine,
      ['--grant <role>', 'database role to grant access to the tables, for workers and submitters'],
    ],
    examples: [
      ['mediabatch engine migrate', 'MEDIABATCH_ENGINE is set', 'not run'],
      [
        'mediabatch engine migrate --engine postgres://owner@db/media --grant media',
        'lets workers use the tables',
        'not run',
      ],
    ],
    run: async (terminal, options) => (await import('../commands/engine.ts')).migrate(options, terminal),
  },
];

function runAct(act: 'cancel' | 'pause' | 'resume', summary: string, description: string): CommandRow {
  return {
    name: act,
    summary,
    description,
    arguments: [manifestArgument],
    options: [optionTable.engine, ...state],
    examples: [
      [`mediabatch ${act}`, 'MEDIABATCH_ENGINE is set', 'not run'],
      [`mediabatch ${act} shop.yaml --engine postgres://me@db/media`, 'the run of another campaign', 'not run'],
    ],
    run: async (terminal, file, options) =>
      (await import('../commands/engine.ts')).changeRun(act, file, { options, terminal }),
  };
}

export const serviceGroups: readonly CommandGroup[] = [
  ['The service:', serviceCommands],
  ['Several machines:', engineCommands],
];
