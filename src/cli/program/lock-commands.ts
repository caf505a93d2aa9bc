import type { Command } from 'commander';
import type { ProgramContext } from './context.ts';
import { addDecisionCommands } from './decision-commands.ts';
import { manifestArgument } from './name-manifest.ts';
import { addStateOptions, lockTimeoutOption, wholeNumber } from './options.ts';

/** Commands by which a person settles what the lock cannot know. */
export function addLockCommands(program: Command, context: ProgramContext): void {
  const { terminal, exit } = context;
  program.commandsGroup('Decide and tidy up:');
  addDecisionCommands(program, context);

  addStateOptions(
    program
      .command('resolve')
      .addArgument(manifestArgument())
      .argument('<address>', 'the step, as the plan shows it')
      .summary('decide about a create whose answer was lost')
      .description('Records what a person has found out about a create whose answer was lost. Spends nothing itself.')
      .option('--job <id>', 'it was charged, and this is its job')
      .option('--credits <n>', 'with --job: what it was charged', wholeNumber)
      .option('--not-spent', 'it was not charged')
      .option('--spend-again', 'buy it, whatever happened before')
      .option('--send <id>', 'the create that is meant, where an address has several that are open')
      .addOption(lockTimeoutOption()),
  ).action(async (file: string, address: string, options) =>
    exit(await (await import('../commands/resolve.ts')).resolve(file, address, { options, terminal })),
  );

  program
    .command('unlock')
    .addArgument(manifestArgument())
    .requiredOption('--id <id>', 'the id of the run, as the refusal showed it')
    .summary('end the claim of a run on another machine')
    .description('Ends the claim of a run that is gone on another machine.')
    .option('--sandbox', 'the lock of the sandbox runs')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--force', 'of a run on an engine: although the engine is there, and has the run open')
    .action(async (file: string, options) =>
      exit(await (await import('../commands/unlock.ts')).unlock(file, options, terminal)),
    );
}
