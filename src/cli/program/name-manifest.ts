import type { Command } from 'commander';

export const defaultManifest = 'campaign.yaml';

export const manifestArgument = ['[file]', `the manifest (default: ${defaultManifest})`] as const;

function isAboutManifest(command: Command): boolean {
  const first = command.registeredArguments[0]?.name();
  return first === 'file' || first === 'files';
}

/**
 * Inserts `campaign.yaml` into a command line without FILE. If the number of words does not show whether FILE is
 * missing, checks whether the first word looks like a path.
 */
export function nameManifest(program: Command, argv: readonly string[]): readonly string[] {
  const found = findCommand(program, argv);
  if (found === undefined || !isAboutManifest(found.command)) return argv;
  const { command, at } = found;
  if (hasManifest(command, operandsOf(command, argv.slice(at)))) return argv;
  return [...argv.slice(0, at), defaultManifest, ...argv.slice(at)];
}

function hasManifest(command: Command, words: readonly string[]): boolean {
  const [first] = words;
  if (first === undefined) return false;
  const others = command.registeredArguments.slice(1);
  if (others.at(-1)?.variadic !== true && words.length > others.length) return true;
  // The text after `@` is a row key, which may look like a file name.
  return /^\.{0,2}\//.test(first) || (/\.(?:ya?ml|jsonl?)$/i.test(first) && !/^[\w-]+@/.test(first));
}

function findCommand(program: Command, argv: readonly string[]): { command: Command; at: number } | undefined {
  const named = ({ commands }: Command, at: number) => commands.find((one) => one.name() === argv[at]);
  let at = argv.findIndex((word) => !word.startsWith('-'));
  let command: Command | undefined;
  for (let next = named(program, at); next !== undefined; next = named(next, at)) {
    command = next;
    at += 1;
  }
  return command && { command, at };
}

function operandsOf(command: Command, words: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return [...found, ...words.slice(at + 1)];
    if (word === '-' || !word.startsWith('-')) found.push(word);
    else if (takesNext(command, word)) at += 1;
  }
  return found;
}

/** Returns true if the next word is the option's value: `--lock FILE` and `-ys SEL`, but not `--lock=FILE`. */
function takesNext({ options }: Command, word: string): boolean {
  if (word.startsWith('--')) return options.some(({ long, required }) => required && long === word);
  for (const [at, letter] of [...word.slice(1)].entries()) {
    const option = options.find(({ short }) => short === `-${letter}`);
    if (option === undefined) return false;
    if (option.required) return at === word.length - 2;
  }
  return false;
}
