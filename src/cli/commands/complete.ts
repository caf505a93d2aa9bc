import type { Command, Option } from 'commander';
import { loadManifest } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import { titles } from '../../contract/failure.ts';
import { stepStates } from '../../plan/step-state.ts';
import { safeText } from '../../report/safe-text.ts';
import { listExamples } from '../list-examples.ts';
import { shownCommands } from '../program/examples.ts';
import { defaultManifest, isAboutManifest, nameManifest, operandsOf, takesNext } from '../program/name-manifest.ts';
import type { Terminal } from '../terminal.ts';
import { shells } from './completion.ts';

/** Limit of words that a shell is given: more than anybody reads. */
const mostWords = 500;
/** Options whose value is a selection. */
const selections: readonly string[] = ['select', 'exclude', 'redo'];

/**
 * Prints what may stand where a person presses TAB, one word a line: the last of `words`, as far as it is typed. Whatever is
 * wrong with the manifest is no matter here: then there is nothing to offer.
 */
export async function complete(words: readonly string[], program: Command, terminal: Terminal): Promise<number> {
  const typed = words.at(-1) ?? '';
  const offered = await offer(words.slice(0, -1), program).catch(() => []);
  const fitting = offered.filter((word) => word.startsWith(typed) && safeText(word, 1000) === word);
  for (const word of fitting.slice(0, mostWords)) terminal.out(`${word}\n`);
  return exitCodes.done;
}

async function offer(before: readonly string[], program: Command): Promise<string[]> {
  const [name, ...rest] = before;
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) return [];
  const last = rest.at(-1) ?? '';
  if (last.startsWith('-') && takesNext(command, last)) {
    const option = command.options.find(({ long, short }) => last === long || last === short);
    return option === undefined ? [] : offerValue(option, before, program);
  }
  switch (name) {
    case 'help':
      return [...shownCommands(program).map((one) => one.name()), ...Object.keys(titles)];
    case 'completion':
      return [...shells];
    default:
      return isAboutManifest(command) && command.registeredArguments.length > 1 ? offerSteps(before, program) : [];
  }
}

async function offerValue(option: Option, before: readonly string[], program: Command): Promise<string[]> {
  if (option.argChoices !== undefined) return [...option.argChoices];
  if (option.attributeName() === 'example') return (await listExamples()).map(({ name }) => name);
  return selections.includes(option.attributeName()) ? offerSteps(before, program, { isSelection: true }) : [];
}

/** Addresses of the manifest that the line is about, and with `isSelection` what else selects steps. */
async function offerSteps(
  before: readonly string[],
  program: Command,
  { isSelection = false }: { isSelection?: boolean } = {},
): Promise<string[]> {
  // A word that stands for what is being typed.
  const [name = '', file = defaultManifest] = wordsOf(
    nameManifest(program, isSelection ? before : [...before, 'x@']),
    program,
  );
  if (name === '') return [];
  const { graph } = await loadManifest(file);
  if (graph === undefined) return [];
  const addresses = graph.steps.map(({ address }) => address);
  if (!isSelection) return addresses;
  const kinds = [...new Set(graph.tasks.map(({ kind }) => `kind:${kind}`))];
  const tags = [...new Set(graph.tasks.flatMap((task) => task.tags ?? []).map((tag) => `tag:${tag}`))];
  return [
    ...new Set(graph.tasks.map(({ id }) => id)),
    ...addresses,
    ...kinds,
    ...tags,
    ...stepStates.map((state) => `state:${state}`),
    ...Object.keys(graph.selectors).map((selector) => `selector:${selector}`),
  ];
}

/** The command, and the words that are neither options nor their values. */
function wordsOf([name = '', ...rest]: readonly string[], program: Command): string[] {
  const command = program.commands.find((one) => one.name() === name);
  return command === undefined ? [] : [name, ...operandsOf(command, rest)];
}
