import { type Command, Option } from 'commander';
import { manifestsArgument } from './name-manifest.ts';
import type { ProgramContext } from './options.ts';
import { addVarOptions, sandboxOption, strictOption } from './options.ts';

/** Commands around the text of a manifest. Each loads what it needs only when it runs. */
export function addLanguageCommands(program: Command, { terminal, exit }: ProgramContext): void {
  program.commandsGroup('Write a campaign:');

  program
    .command('init')
    .argument('[dir]', 'folder to write into', '.')
    .summary('write a campaign to start from')
    .description(
      'Writes a campaign to start from, with .gitattributes, .gitignore and .env.example. Existing files stay as they are.',
    )
    .option('--example <name>', 'another one than the default; --list shows them')
    .option('--from-csv <file>', 'a campaign for the rows and columns of your own data file')
    .option('--agents', 'write AGENTS.md, too: what a coding agent may do here')
    .option('--list', 'show the examples')
    .action(async (dir: string, options) =>
      exit(await (await import('../commands/init.ts')).init(dir, options, terminal)),
    );

  addVarOptions(
    program
      .command('validate')
      .addArgument(manifestsArgument())
      .summary('check a manifest and show every error at once')
      .description(
        'Shows every error of a manifest, or “ok” with counts. Needs no network: requests without a built-in description are checked against the service’s document that `plan --refresh` stored, or with --sandbox against that of the sandbox.',
      )
      .addOption(
        new Option('--format <format>', 'how to print it; github annotates lines').choices(['text', 'json', 'github']),
      )
      .option('--json', 'the same as --format json')
      .addOption(sandboxOption())
      .addOption(strictOption()),
  ).action(async (files: string[], options) =>
    exit(await (await import('../commands/validate.ts')).validate(files, options, terminal)),
  );

  program
    .command('schema')
    .argument(
      '[name]',
      'that of a document (manifest, plan, lock, event, result, status, failure and others), or helpers or kinds',
      'manifest',
    )
    .summary('print a JSON Schema, the helpers or the kinds')
    .description(
      'Prints a published JSON Schema, or lists what a manifest may use: `helpers` (templates) and `kinds` (with their fields). The package has the schemas of these two lists: helpers.schema.json and kinds.schema.json.',
    )
    .option('--json', 'helpers and kinds as one JSON document')
    .action(async (name: string, options) =>
      exit(await (await import('../commands/schema.ts')).schema(name, options, terminal)),
    );
}
