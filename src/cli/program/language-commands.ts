import { type Command, Option } from 'commander';
import type { ProgramContext } from './context.ts';
import { varOption } from './options.ts';

/** Commands around the text of a manifest. Each loads what it needs only when it runs. */
export function addLanguageCommands(program: Command, { terminal, exit }: ProgramContext): void {
  program.commandsGroup('Write a campaign:');

  program
    .command('init')
    .argument('[dir]', 'folder to write into', '.')
    .summary('write a campaign to start from')
    .description('Writes a campaign to start from, with .gitattributes, .gitignore and .env.example.')
    .action(async (dir: string) => exit(await (await import('../commands/init.ts')).init(dir, terminal)));

  program
    .command('validate')
    .argument('<files...>', 'manifests')
    .summary('show every mistake of a manifest at once')
    .description('Shows every mistake of a manifest, or “ok” with counts. Needs no network.')
    .addOption(
      new Option('--format <format>', 'how to print it; github annotates lines').choices(['text', 'json', 'github']),
    )
    .option('--json', 'the same as --format json')
    .addOption(varOption())
    .action(async (files: string[], options) =>
      exit(await (await import('../commands/validate.ts')).validate(files, options, terminal)),
    );
}
