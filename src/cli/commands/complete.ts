import type { Command, Option } from 'commander';
import { loadWithNames } from '../../campaign/load-manifest.ts';
import { type OpenCampaign, openCampaign } from '../../campaign/open-campaign.ts';
import { requireLock } from '../../campaign/read-lock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { titles } from '../../contract/failure.ts';
import { notifyReasons } from '../../contract/ports.ts';
import type { Graph } from '../../graph/graph.ts';
import { findJudgeable } from '../../plan/decisions/judge.ts';
import { costDimensions } from '../../plan/prices/tally-charges.ts';
import { situate } from '../../plan/situation/situation.ts';
import { stepStates } from '../../plan/situation/step-state.ts';
import { topics } from '../../report/manual/topics.ts';
import { safeText } from '../../report/safe-text.ts';
import { listExamples } from '../list-examples.ts';
import { shownCommands } from '../program/examples.ts';
import { defaultManifest, isAboutManifest, nameManifest, operandsOf, takesNext } from '../program/name-manifest.ts';
import type { Terminal } from '../terminal.ts';
import { collectVars } from '../vars.ts';
import { shells } from './completion.ts';

/** Limit of words that a shell is given: more than anybody reads. */
const mostWords = 500;
/** Options whose value is a selection. */
const selections: readonly string[] = ['select', 'exclude', 'redo'];
/** Commands that say something of outputs at gates. */
const verdicts: Readonly<Record<string, 'picked' | 'rejected' | 'undecided'>> = {
  pick: 'picked',
  reject: 'rejected',
  unpick: 'undecided',
};

/** The line as far as it was read, without the word that is being typed. */
interface Line {
  program: Command;
  command: Command;
  before: readonly string[];
  typed: string;
}

/**
 * Prints what may stand where a person presses TAB, one word a line: the last of `words`, as far as it is typed. Whatever is
 * wrong with the manifest is no matter here: then there is nothing to offer.
 */
export async function complete(words: readonly string[], program: Command, terminal: Terminal): Promise<number> {
  const last = words.at(-1) ?? '';
  const [, option] = /^(--[\w-]+)=/.exec(last) ?? [];
  const joined = option === undefined ? '' : `${option}=`;
  const typed = last.slice(joined.length);
  const before = [...words.slice(0, -1), ...(option === undefined ? [] : [option])];
  const command = program.commands.find((one) => one.name() === before[0]);
  const offered = command === undefined ? [] : await offer({ program, command, before, typed }).catch(() => []);
  const fitting = new Set(offered.filter((word) => word.startsWith(typed) && safeText(word, 1000) === word));
  for (const word of [...fitting].slice(0, mostWords)) terminal.out(`${joined}${word}\n`);
  return exitCodes.done;
}

async function offer(line: Line): Promise<string[]> {
  const { program, command, before } = line;
  const last = before.at(-1) ?? '';
  if (before.length > 1 && last.startsWith('-') && takesNext(command, last)) {
    const option = command.options.find(({ long, short }) => last === long || last === short);
    return option === undefined ? [] : offerValue(option, line);
  }
  switch (command.name()) {
    case 'help':
      return [...topics.keys(), ...shownCommands(program).map((one) => one.name()), ...Object.keys(titles)];
    case 'completion':
      return [...shells];
    default:
      return isAboutManifest(command) && command.registeredArguments.length > 1 ? offerSteps(line) : [];
  }
}

async function offerValue(option: Option, line: Line): Promise<string[]> {
  if (option.argChoices !== undefined) return [...option.argChoices];
  switch (option.attributeName()) {
    case 'example':
      return (await listExamples()).map(({ name }) => name);
    case 'by':
      return continued(costDimensions, line.typed);
    case 'notify':
      return continued(notifyReasons, line.typed);
    case 'var':
      return (await load(line))?.names.map((name) => `${name}=`) ?? [];
    default:
      return selections.includes(option.attributeName()) ? offerSelections(line) : [];
  }
}

/** Words that may follow the last comma of a word, with what stands before it; without a comma, the words alone. */
function continued(words: readonly string[], typed: string): string[] {
  const kept = typed.slice(0, typed.lastIndexOf(',') + 1);
  return words.map((word) => `${kept}${word}`);
}

/** Steps of the manifest that the line is about; where verdicts are given, those about which there is one to give. */
async function offerSteps(line: Line): Promise<string[]> {
  const { command, before } = line;
  // A word that stands for what is being typed.
  const loaded = await load({ ...line, before: [...before, 'x@'] });
  if (loaded === undefined) return [];
  const { campaign, graph } = loaded;
  const as = verdicts[command.name()];
  if (as !== undefined) {
    const { lock } = await requireLock(campaign, undefined);
    return findJudgeable(as, situate(graph, lock));
  }
  const addresses = graph.steps.map(({ address }) => address);
  const isMany = command.registeredArguments.some(({ variadic }) => variadic);
  return isMany ? [...graph.tasks.map(({ id }) => id), ...addresses] : addresses;
}

async function offerSelections(line: Line): Promise<string[]> {
  const { graph } = (await load(line)) ?? {};
  if (graph === undefined) return [];
  const { typed } = line;
  const conditions = [
    ...graph.tasks.map(({ id }) => id),
    ...graph.steps.map(({ address }) => address),
    ...graph.tasks.map(({ kind }) => `kind:${kind}`),
    ...graph.tasks.flatMap((task) => task.tags ?? []).map((tag) => `tag:${tag}`),
    ...stepStates.map((state) => `state:${state}`),
    ...Object.keys(graph.selectors).map((selector) => `selector:${selector}`),
  ];
  if (conditions.some((one) => one.startsWith(typed))) return conditions;
  const condition = /^(?:.*[,\s])?\+?/s.exec(typed)?.[0] ?? '';
  const plain = typed.startsWith('+') ? '+' : '';
  // A comma may belong to an address.
  return [plain, condition].flatMap((kept) => conditions.map((one) => `${kept}${one}`));
}

interface Loaded {
  campaign: OpenCampaign;
  graph: Graph;
  /** Variables that the manifest declares. */
  names: string[];
}

/** The campaign that a line is about, with the options of that line that say which. */
async function load({ program, command, before }: Line): Promise<Loaded | undefined> {
  const words = nameManifest(program, before).slice(1);
  const [file = defaultManifest] = operandsOf(command, words);
  const vars = valuesOf(command, words, '--var').flatMap((text) => {
    const at = text.indexOf('=');
    return at > 0 ? [[text.slice(0, at), text.slice(at + 1)] as const] : [];
  });
  const campaign = await openCampaign(file, {
    sandbox: words.includes('--sandbox'),
    lock: valuesOf(command, words, '--lock').at(-1),
    vars: collectVars(Object.fromEntries(vars)),
    varFiles: valuesOf(command, words, '--var-file'),
  });
  const { graph, manifest } = await loadWithNames(campaign);
  return graph && { campaign, graph, names: Object.keys(manifest?.vars ?? {}) };
}

/** Values of an option: `--lock FILE` and `--lock=FILE`. */
function valuesOf(command: Command, words: readonly string[], option: string): string[] {
  return words.flatMap((word, at) => {
    if (word.startsWith(`${option}=`)) return [word.slice(option.length + 1)];
    return word === option && takesNext(command, word) ? (words[at + 1] ?? []) : [];
  });
}
