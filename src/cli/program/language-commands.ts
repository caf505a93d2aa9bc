import type { CommandRow } from './command-row.ts';
import { manifestsArgument } from './name-manifest.ts';
import { sandboxOption, strictOption, variables } from './options.ts';

export const languageCommands: readonly CommandRow[] = [
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
      ['--from-csv <file>', 'a campaign for the rows and columns of your own data file'],
      ['--agents', 'write AGENTS.md, too: what a coding agent may do here'],
      ['--list', 'show the examples'],
    ],
    examples: [
      ['mediabatch init spring', 'a small campaign, in a new folder'],
      ['mediabatch init grid --example product-grid', 'another one; --list shows all'],
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
      'Shows every error of a manifest, or “ok” with counts. Needs no network: requests without a built-in description are checked against the service’s document that `plan --refresh` stored, or with --sandbox against that of the sandbox.',
    arguments: [manifestsArgument],
    options: [
      ['--format <format>', 'output format; github annotates lines', { words: ['text', 'json', 'github'] }],
      ['--json', 'the same as --format json'],
      sandboxOption,
      strictOption,
      ...variables,
    ],
    examples: [
      ['mediabatch validate', 'campaign.yaml of this folder'],
      ['mediabatch validate --sandbox', 'also by the document of the embedded service'],
      ['mediabatch validate --var-file north.yaml', 'with the variables of a market'],
      ['mediabatch validate --format github', 'annotates lines in a pull request'],
    ],
    run: async (terminal, files, options) =>
      (await import('../commands/validate.ts')).validate(files, options, terminal),
  },
  {
    name: 'schema',
    summary: 'print a JSON Schema or the kinds',
    description:
      'Prints a published JSON Schema, or lists the `kinds` of a manifest with their fields. The package has the schema of that list: kinds.schema.json. Helpers of templates: `help templates`.',
    arguments: [
      [
        '[name]',
        'name of a schema (manifest, plan, lock, event, result, status, failure and others), or kinds',
        'manifest',
      ],
    ],
    options: [['--json', 'kinds as one JSON document']],
    examples: [
      ['mediabatch schema kinds', 'what can be made, with every field'],
      ['mediabatch schema > mediabatch.schema.json', 'for editors, as init writes it'],
    ],
    run: async (terminal, name, options) => (await import('../commands/schema.ts')).schema(name, options, terminal),
  },
];
