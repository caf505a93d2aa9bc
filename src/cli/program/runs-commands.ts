import type { Command } from 'commander';
import type { ProgramContext } from './context.ts';
import { manifestArgument } from './name-manifest.ts';

/** Commands that tell what earlier runs did. */
export function addRunsCommands(program: Command, { terminal, exit }: ProgramContext): void {
  const runs = addHistoryOptions(
    program
      .command('runs')
      .addArgument(manifestArgument())
      .summary('list earlier runs, or show one (runs show <id>)')
      .description(
        'Lists earlier runs: when, how they ended, and what they were charged. The last 100 are kept, on this machine only.',
      ),
  ).action(async (file: string, options) =>
    exit(await (await import('../commands/runs.ts')).runs(file, { options, terminal })),
  );
  addHistoryOptions(
    runs
      .command('show')
      .addArgument(manifestArgument())
      .argument('<id>', 'of the run, as the list shows it; its last four characters will do')
      .summary('show what one run did')
      .description('Shows what one run did: its steps by task, what went wrong, what was noticed.'),
  ).action(async (file: string, id: string, _options, command: Command) =>
    // An option that the list has, too, is read by it.
    exit(
      await (await import('../commands/runs.ts')).showRun(file, id, { options: command.optsWithGlobals(), terminal }),
    ),
  );
}

function addHistoryOptions(command: Command): Command {
  return command
    .option('--sandbox', 'runs of the sandbox')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--json', 'one JSON document on stdout');
}
