import { type Command, Option } from 'commander';
import { applyOptions, planOptions, portRange } from '../../campaign/option-table.ts';
import { usualValidMs } from '../../contract/approval.ts';
import { manifestArgument } from './name-manifest.ts';
import type { ProgramContext } from './options.ts';
import {
  addPlanOptions,
  addRows,
  addSelectOptions,
  addStateOptions,
  age,
  numberIn,
  parseSize,
  typedOptions,
  underHeadings,
} from './options.ts';

/** Commands that plan, run and look at a campaign. Each loads what it needs only when it runs. */
export function addRunCommands(program: Command, { terminal, exit }: ProgramContext): void {
  program.commandsGroup('Run a campaign:');

  underHeadings(
    addPlanOptions(
      addRows(
        program
          .command('plan')
          .addArgument(manifestArgument())
          .summary('show what a run would do, and what it costs')
          .description(
            'Shows what a run would do with each step, why, and the cost. Needs no network. Writes only the file of --out.',
          ),
        planOptions,
      ),
    ),
  ).action(async (file: string, _options, command: Command) =>
    exit(await (await import('../commands/plan.ts')).plan(file, typedOptions(command), terminal)),
  );

  underHeadings(
    addPlanOptions(
      addRows(
        program
          .command('apply')
          .addArgument(manifestArgument('the manifest, or a plan that was saved with plan --out'))
          .summary('plan, ask, run, download, and write the lock')
          .description(
            'Plans, asks for approval, runs, and writes the lock. Run it again to resume. Paid jobs are never paid again, and published posts are never posted again.',
          ),
        applyOptions,
      ),
    ),
  ).action(async (file: string, _options, command: Command) =>
    exit(await (await import('../commands/apply.ts')).apply(file, typedOptions(command), terminal)),
  );

  program
    .command('approve')
    .argument('[plan]', 'a plan that was saved with plan --out')
    .summary('approve a saved plan, so that apply runs it without a prompt')
    .description(
      'Shows a saved plan and asks for approval. `apply` then runs that exact plan once without prompting. The approval is signed and stored in your user state directory.',
    )
    .addOption(
      new Option('--valid <age>', 'how long the approval is valid: 12h, 30d')
        .argParser(age)
        .default(usualValidMs, '7d'),
    )
    .option('--by <name>', 'name of the approver (default: git user.name, else the user name)')
    .addOption(
      new Option('--rows', 'print the request of every step, and ask nothing').conflicts([
        'valid',
        'by',
        'list',
        'revoke',
      ]),
    )
    .addOption(new Option('--list', 'show what was approved here').conflicts(['valid', 'by', 'revoke']))
    .addOption(new Option('--revoke', 'take the yes to this plan back').conflicts(['valid', 'by']))
    .addOption(new Option('--json', 'with --list: one JSON document on stdout').conflicts(['valid', 'by', 'revoke']))
    .action(async (file: string | undefined, options) =>
      exit(await (await import('../commands/approve.ts')).approve(file, options, terminal)),
    );

  addSelectOptions(
    addStateOptions(
      program
        .command('status')
        .addArgument(manifestArgument())
        .summary('show what is done, running, failed and missing')
        .description(
          'Shows what is done, running, failed and missing, and the credits. Needs no network and writes nothing.',
        )
        .option('--list', 'one line for each step, with its job, credits, file and error')
        .option('--json', 'one JSON document on stdout')
        .addOption(
          new Option('--graph', 'dependencies and states as a Mermaid graph; with --list: of each step').conflicts([
            'json',
            'follow',
          ]),
        )
        .option('--engine <address>', 'with what the run of this campaign on an engine has recorded by now')
        .addOption(
          new Option('--follow', 'show the run that is under way in another terminal, until it ends').conflicts([
            'list',
            'json',
            'select',
            'exclude',
          ]),
        ),
    ),
  ).action(async (file: string, options) => {
    if (options.follow === true)
      return exit(await (await import('../commands/follow.ts')).follow(file, options, terminal));
    return exit(await (await import('../commands/status.ts')).status(file, options, terminal));
  });

  addSelectOptions(
    addStateOptions(
      program
        .command('review')
        .addArgument(manifestArgument())
        .summary('review outputs in the browser, pick or reject them by keyboard')
        .description(
          'Serves a local page to view, compare, pick and reject outputs. Decisions are written to the lock. Ends with Ctrl-C; the exit code is 0 even if gates are still open. Costs nothing.',
        )
        .addOption(
          new Option('--port <n>', 'listen on this port of 127.0.0.1')
            .argParser(numberIn(portRange))
            .default(0, 'any that is free'),
        )
        .option('--no-open', 'only print the address')
        .addHelpText(
          'after',
          '\nFrom another machine: ssh -L 4020:127.0.0.1:4020 HOST, there mediabatch review --port 4020 --no-open,\nand here the address that it prints. Nothing else than 127.0.0.1 is ever listened on.',
        ),
    ),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/review.ts')).review(file, options, terminal)),
  );

  addReportCommand(program, { terminal, exit });

  addStateOptions(
    program
      .command('explain')
      .addArgument(manifestArgument())
      .argument('[address]', 'the step, as the plan shows it; omitted with --origins: every step')
      .summary('explain what a run would do with a step, and why')
      .description(
        'Explains what a run would do with a step, field by field. It can also print the step’s request (`render ADDRESS`) or its resolved values and their origins (`expand`). Needs no network and writes nothing.',
      )
      .option('--json', 'one JSON document on stdout')
      .option('--request', 'the request as it is sent')
      .addOption(new Option('--origins', 'all values, resolved, and where each comes from').conflicts('request')),
  ).action(async (file: string, address: string | undefined, options) =>
    exit(await (await import('../commands/explain.ts')).explain(file, address, { options, terminal })),
  );
}

function addReportCommand(program: Command, { terminal, exit }: ProgramContext): void {
  addSelectOptions(
    addStateOptions(
      program
        .command('report')
        .addArgument(manifestArgument())
        .summary('write a gallery: a folder that any browser opens offline')
        .description(
          'Writes a gallery of outputs and requests: a folder or a single file to open from disk. Viewers can pick in it and send picks.json back. Needs no network and costs nothing.',
        )
        .option('--out <dir>', 'the folder (default: beside the manifest, CAMPAIGN.report)')
        .option('--copy', 'put the media into the folder, so that it can be sent')
        .option('--max-size <size>', 'with --copy: smaller pictures where it takes more, as in 20MB', parseSize)
        .option('--single-file <file>', 'one HTML file with small pictures only, 20 MB at most')
        .addOption(
          new Option('--for <reader>', 'for a client: a copy without prices, prompts, ids, paths and commands').choices(
            ['client'],
          ),
        )
        .option('--note <text>', 'with --for: a line above the pictures, such as who sends it, and until when')
        .option('--json', 'one JSON document on stdout')
        .option('--compare <ref>', 'a commit: show each output beside what it was there'),
    ),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/report.ts')).report(file, options, terminal)),
  );
}
