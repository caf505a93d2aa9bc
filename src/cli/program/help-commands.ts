import type { Command } from 'commander';
import type { ProgramContext } from './context.ts';

/** Help about commands and codes, and completion for shells. */
export function addHelpCommands(program: Command, { terminal, exit }: ProgramContext): void {
  program.commandsGroup('Help:').helpCommand(false);

  program
    .command('help')
    .argument('[topic]', 'a topic of the manual, a command, or a code such as MB1203')
    .summary('read the manual: a topic, a command, a code')
    .description('Shows a page of the manual, the options of a command, or what a code means and how to do it right.')
    .option('--html <dir>', 'write the whole manual as pages into a folder')
    .action(async (topic: string | undefined, { html }: { html?: string }) =>
      exit(await (await import('../commands/help.ts')).help(topic, { html }, program, terminal)),
    );

  program
    .command('complete', { hidden: true })
    .argument('<words...>', 'after --: the words of a line after mediabatch; the last one may be empty')
    .description('Prints what may stand where the last word is. For the scripts of `completion`.')
    .action(async (words: string[]) =>
      exit(await (await import('../commands/complete.ts')).complete(words, program, terminal)),
    );

  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .summary('print a completion script for a shell')
    .description('Prints a script that completes commands and options: eval "$(mediabatch completion bash)"')
    .action(async (shell: string) =>
      exit((await import('../commands/completion.ts')).completion(shell, program, terminal)),
    );
}
