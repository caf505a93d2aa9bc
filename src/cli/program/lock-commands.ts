import { optionTable } from '../../campaign/option-table.ts';
import type { Verb } from '../commands/decisions.ts';
import { type CommandOption, type CommandRow, state } from './command-row.ts';
import { manifestArgument } from './name-manifest.ts';

/** A command that records a user's decision in the lock. Costs no credits. */
interface Decision extends CommandRow {
  name: Exclude<Verb, `un${string}`>;
}

const yesOption: CommandOption = ['-y, --yes', 'do not ask'];

const noteOptions: readonly CommandOption[] = [
  ['--note <text>', 'why, for the record'],
  ['--by <name>', 'name of the reviewer (default: the git user name)'],
];

const decisions: readonly Decision[] = [
  {
    name: 'pick',
    alsoCalled: ['undo', 'choose', 'select'],
    shortForms: { unpick: '--undo' },
    summary: 'pick outputs at their gates',
    description:
      'Picks outputs at their gates. The next apply uses the picked outputs in the steps after the gate. At a gate with a single pick, a new pick by name replaces the earlier one. A pattern does not change decided groups or rejected outputs. Costs nothing.',
    options: [
      ...noteOptions,
      [
        '--from <picks.json>',
        'picks that were saved by the review page',
        { takes: 'path', conflicts: ['note', 'by', 'replace'] },
      ],
      ['--replace', 'with a pattern or -s: also change decided groups and rejected outputs'],
      undoOption('undo picks and rejections'),
    ],
    examples: [
      ['mediabatch pick --sandbox teaser', 'approves it', 'at gates'],
      ["mediabatch pick --sandbox 'draft@*/1' --note 'seen by Ada'", 'this take of each product, and why', 'at gates'],
      ['mediabatch pick --sandbox --from picks.json', 'picks that a reviewer saved', 'not run'],
      ['mediabatch pick --sandbox draft@lamp/2 --undo', 'opens the gate of this output again', 'at gates'],
    ],
  },
  {
    name: 'reject',
    summary: 'reject outputs at their gates',
    description: 'Rejects outputs at their gates. No step uses rejected outputs, but their files stay. Costs nothing.',
    options: [...noteOptions, ['--reason <text>', 'why: one of the gate’s `reasons`']],
    examples: [
      ['mediabatch reject --sandbox draft@lamp', 'all takes; --redo draft@lamp buys replacements', 'at gates'],
      ['mediabatch reject --sandbox draft@lamp/1 --note dark', 'says why', 'at gates'],
    ],
  },
  {
    name: 'accept',
    summary: 'accept outputs as they are',
    description:
      'Accepts outputs as they are, even if they were edited by hand, were made from an input that has changed since, or fail `expect`. Neither these outputs nor the steps that use them are bought again. Costs nothing.',
    examples: [
      ['mediabatch accept --sandbox --select state:changed --dry-run', 'all changed outputs; records nothing yet'],
      ['mediabatch accept --sandbox hero@lamp,1:1', 'a picture that was retouched by hand'],
    ],
  },
  {
    name: 'pin',
    shortForms: { unpin: '--undo' },
    summary: 'keep the outputs of steps despite changes',
    description:
      'Keeps the current outputs of steps when the manifest changes. The plan shows what each change would cost. `pin: true` does the same for all steps of a task. Costs nothing.',
    options: [undoOption('remove the pin: the manifest decides again')],
    examples: [
      ['mediabatch pin --sandbox hero@lamp,9:16', 'an approved picture stays'],
      ['mediabatch pin --sandbox hero@clock,1:1 --undo', 'the manifest decides again'],
    ],
  },
  {
    name: 'forget',
    isDestructive: true,
    summary: 'remove purchases from the plan',
    description:
      'Removes purchases from the plan: orphans are no longer listed, and steps of the manifest are planned as if they had never been bought. Job ids stay in the lock, and credits stay counted. The command itself costs nothing.',
    options: [
      ['--orphans', 'all steps that are no longer in the manifest'],
      ['--force', 'also forget running jobs, without downloading their outputs'],
    ],
    examples: [
      ['mediabatch forget --sandbox hero@vase,1:1', 'as if it had never been bought'],
      ['mediabatch forget --sandbox --orphans', 'all steps that are no longer in the manifest'],
    ],
  },
  {
    name: 'move',
    arguments: [
      ['<old>', 'the address on record'],
      ['<new>', 'new address of the purchase'],
    ],
    summary: 'move a purchase to a new address',
    description:
      'Moves a purchase to a new address after both the key and an input of its step have changed. If the input of a step is unchanged, the plan finds its purchase without this command. Costs nothing.',
    examples: [
      ['mediabatch move --sandbox song@winter song@autumn', 'the song now belongs to autumn'],
      ['mediabatch move song@winter song@autumn --dry-run', 'shows the move, records nothing', 'not run'],
    ],
  },
  {
    name: 'adopt',
    alsoCalled: ['import'],
    arguments: [['[address]', 'step without a job, for which the job of --job is recorded']],
    summary: 'record paid jobs that no lock contains',
    description:
      'Lists jobs at the service that no lock of this folder contains, and records each at the step whose request is exactly the same. Asks first. With ADDRESS, queries the service and records one job, whatever the request of the job was. The next apply collects the outputs. Costs nothing.',
    options: [
      ['--job <id>', 'with ADDRESS: the job, as the service shows it'],
      [
        '--credits <n>',
        'with --job: the charge, if the service does not report it',
        { takes: 'whole', needs: '--job' },
      ],
      ['--offline', 'with --job: do not query the service', { needs: '--job' }],
      optionTable.serviceMoved,
      yesOption,
    ],
    examples: [
      ['mediabatch adopt --sandbox --dry-run', 'shows matching jobs; records nothing'],
      ['mediabatch adopt song@spring --job 68d1f0c2 --credits 5 --offline', 'without querying the service', 'not run'],
    ],
  },
  {
    name: 'resolve',
    isDestructive: true,
    arguments: [['<address>', 'the step, as the plan shows it']],
    summary: 'settle a create request whose answer was lost',
    description:
      'Records what a user has found out about a create request whose answer was lost. The command itself spends nothing.',
    options: [
      ['--job <id>', 'the create request was charged, and created this job'],
      ['--credits <n>', 'with --job: charge of the job', { takes: 'whole', needs: '--job' }],
      ['--not-spent', 'the request was not charged', { conflicts: ['job', 'spendAgain'] }],
      ['--spend-again', 'buy the step even if the lost request was charged', { conflicts: 'job' }],
      ['--send <id>', 'id of the create request, if the address has several unresolved ones'],
    ],
    examples: [
      [
        'mediabatch resolve song@spring --job 68d1f0c2 --credits 5',
        'the request was charged, and created this job',
        'not run',
      ],
      ['mediabatch resolve song@spring --not-spent', 'the request was not charged', 'not run'],
      ['mediabatch resolve song@spring --spend-again', 'buy the step in any case', 'not run'],
    ],
  },
];

export const lockCommands: readonly CommandRow[] = [
  ...decisions.map(asCommand),
  {
    name: 'unlock',
    isDestructive: true,
    summary: 'release the lock of a run on another machine',
    description:
      'Releases the lock of a run that died on another machine. A run on an engine is ended: its purchases are added to the lock, and workers no longer execute the run.',
    arguments: [manifestArgument],
    options: [
      ['--id <id>', 'id of the run, as the error message shows it'],
      ['--sandbox', 'the lock of the sandbox runs'],
      optionTable.lock,
      optionTable.json,
      ['--force', 'unlock a run on an engine even if it is open or the engine is down'],
    ],
    examples: [
      ['mediabatch unlock --id 4f1c2b7a', 'the run id from the error message', 'not run'],
      ['mediabatch unlock --sandbox --id 4f1c2b7a', 'releases the lock of a sandbox run', 'not run'],
    ],
    run: async (terminal, file, options) => (await import('../commands/unlock.ts')).unlock(file, options, terminal),
  },
  {
    name: 'gc',
    alsoCalled: ['clean', 'cleanup', 'prune', 'purge'],
    isDestructive: true,
    summary: 'delete downloaded files that no step refers to',
    description: 'Deletes downloaded files that no step refers to. Lists the files and asks for confirmation.',
    arguments: [manifestArgument],
    options: [
      ['--kept', 'delete the replaced outputs in .mediabatch/ instead'],
      ['--dry-run', 'list only'],
      yesOption,
      optionTable.json,
      optionTable.lockTimeoutMs,
      ...state,
    ],
    examples: [
      ['mediabatch gc --sandbox --dry-run', 'files that no step refers to'],
      ['mediabatch gc --sandbox --yes', 'deletes the files without asking'],
      ['mediabatch gc --sandbox --kept --yes', 'files that newer outputs replaced'],
    ],
    run: async (terminal, file, options) => (await import('../commands/leftovers.ts')).gc(file, options, terminal),
  },
  {
    name: 'destroy',
    isDestructive: true,
    summary: 'permanently delete records at the service',
    description:
      'Permanently deletes records of music, thumbnails and clippings at the service. Lists the records and asks for confirmation. Credits are not refunded; local files stay.',
    arguments: [manifestArgument, ['[addresses...]', 'steps on record; * matches anything. FILE can be omitted']],
    options: [
      ['--orphans', 'steps that are no longer in the manifest'],
      optionTable.serviceMoved,
      yesOption,
      optionTable.json,
      optionTable.lockTimeoutMs,
      ...state,
    ],
    examples: [
      ['mediabatch destroy --sandbox song@spring --yes', 'the record of one song at the service'],
      ['mediabatch destroy --orphans', 'steps that are no longer in the manifest; asks first', 'not run'],
    ],
    run: async (terminal, file, addresses, options) =>
      (await import('../commands/leftovers.ts')).destroy(file, addresses, { options, terminal }),
  },
];

function asCommand(row: Decision): CommandRow {
  const steps: CommandRow['arguments'] = [
    ['[addresses...]', 'steps or tasks; * matches anything. FILE can be omitted'],
  ];
  const select: CommandOption = [
    '-s, --select <selection>',
    'by selection: tag:launch, state:changed',
    { takes: 'texts' },
  ];
  return {
    ...row,
    arguments: [manifestArgument, ...(row.arguments ?? steps)],
    options: [
      ...(row.arguments === undefined ? [select] : []),
      ...(row.options ?? []),
      ...state,
      ['--dry-run', 'show what would be decided, record nothing'],
      optionTable.json,
      optionTable.lockTimeoutMs,
    ],
    async run(terminal, file, ...given) {
      // Commander passes the arguments first, then options and command.
      const words: string[] = given.slice(0, -2).flatMap((word) => word ?? []);
      const { decideBy } = await import('../commands/decisions.ts');
      return decideBy(row.name, file, { words, options: given.at(-2), terminal });
    },
  };
}

function undoOption(about: string): CommandOption {
  return ['--undo', about, { conflicts: ['note', 'by', 'from'] }];
}
