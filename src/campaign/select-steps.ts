import { CampaignError } from '../contract/failure.ts';
import { taskOfAddress } from '../graph/address.ts';
import type { Graph, Step } from '../graph/graph.ts';
import { type Advice, call, way } from '../ground/advice.ts';
import { defined } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { type PriceOf, pricesFrom } from '../plan/prices/prices.ts';
import { findNamed, type Named, nearNames, readName } from '../plan/select/names.ts';
import {
  type Condition,
  findSteps,
  firstRows,
  matchSelection,
  parseSelection,
  type Selection,
  type SelectionFacts,
  vocabularyOf,
} from '../plan/select/select.ts';
import { type Situation, stateOfStep } from '../plan/situation/situation.ts';
import { type PlanningOptions, wrongOptions } from './option-table.ts';

type Choice = Pick<PlanningOptions, 'select' | 'exclude' | 'first'>;

interface Selector {
  all(option: string, texts: readonly string[]): Set<string>;
  chosen(options: Choice): Set<string> | undefined;
}

const howToWrite =
  'write hero, hero@A*, hero@lamp,9:16, +teaser (with the steps that it needs), hero+ (with the steps that need it), kind:video, tag:launch, +tag:launch, state:failed or cost:>50; white space means “or”, and a comma outside an address means “and”';

export function makeSelector(situation: Situation): Selector {
  const { written: graph, lock, byAddress } = situation;
  let prices: PriceOf | undefined;
  const facts: SelectionFacts = {
    graph,
    stateOf: (address: string) => stateOfStep(byAddress.get(address), situation),
    costOf: (address: string) => {
      const match = byAddress.get(address);
      prices ??= pricesFrom(lock, graph.prices);
      return match === undefined ? undefined : prices(match.step.kind, match.step.request).credits;
    },
    ownerOf: (address: string) => byAddress.get(address)?.sharesJobOf,
  };
  let vocabulary: ReturnType<typeof vocabularyOf> | undefined;
  const find = (option: string, text: string): Set<string> => {
    vocabulary ??= vocabularyOf(graph);
    const selection = parseSelection(text, vocabulary);
    if ('problem' in selection) {
      const where = `${option} ${JSON.stringify(text)}`;
      const message = `${where}: ${selection.problem}`;
      throw new CampaignError({ code: 'MB3000', message, hint: howToWrite, value: text });
    }
    const found = matchSelection(selection, facts);
    if (!(found instanceof Set))
      throw new CampaignError({ code: 'MB3000', message: `${option} ${text}: ${found.problem}`, value: text });
    const unknown = found.size === 0 ? undefined : unknownName(selection, graph);
    if (unknown !== undefined) {
      throw noStep(unknown, `${option} ${text}: there is no step ${unknown}`, hintFor(unknown, graph));
    }
    if (found.size === 0) throw noStep(text, `${option} ${text} matches no step`, whyNoMatch(selection, facts));
    return found;
  };
  const all = (option: string, texts: readonly string[]) => new Set(texts.flatMap((text) => [...find(option, text)]));
  return {
    all,
    chosen({ select, exclude, first }) {
      if (select === undefined && exclude === undefined) return first === undefined ? undefined : narrow(graph, first);
      const chosen =
        select === undefined ? new Set(graph.steps.map(({ address }) => address)) : all('--select', select);
      for (const address of all('--exclude', exclude ?? [])) chosen.delete(address);
      if (chosen.size === 0) throw noStep((exclude ?? []).join(' '), '--exclude removes every step');
      return first === undefined ? chosen : narrow(graph, first, chosen);
    },
  };
}

function narrow(graph: Graph, first: number, chosen?: ReadonlySet<string>): Set<string> {
  const kept = firstRows(graph, first, chosen);
  if (kept !== undefined) return kept;
  const message = '--first selects nothing: no task has several rows';
  throw noStep('--first', message, 'omit --first, or choose steps with --select');
}

function noStep(name: string, message: string, hint?: Advice): CampaignError {
  return new CampaignError({ code: 'MB3002', message, ...defined({ hint }), name });
}

/** Returns the first name that matches no step, so that a typo is an error even if other names match. */
function unknownName({ terms }: Selection, graph: Graph): string | undefined {
  for (const condition of terms.flat()) {
    if (condition.is !== 'name' || (!condition.literal && condition.text.includes('*'))) continue;
    if (findSteps(condition, graph).length === 0) return condition.text;
  }
  return undefined;
}

function whyNoMatch({ terms }: Selection, facts: SelectionFacts): string {
  const isEmpty = (condition: Condition) => {
    const found = matchSelection({ terms: [[condition]] }, facts);
    return found instanceof Set && found.size === 0;
  };
  const condition = terms.flat().find(isEmpty);
  const { tasks, steps } = facts.graph;
  switch (condition?.is) {
    case undefined:
      return 'each condition matches some steps, but no step matches all conditions; white space means “or”';
    case 'name':
      return hintFor(condition.text, facts.graph);
    case 'kind':
      return `kinds: ${[...new Set(tasks.map(({ kind }) => kind))].join(', ')}`;
    case 'tag': {
      const tags = new Set(steps.flatMap((step) => step.tags));
      // Without quotes, a final + would select dependent steps.
      const names = [...tags].map((tag) => (tag.endsWith('+') ? `"${tag}"` : tag));
      return names.length === 0 ? 'no task has tags' : `tags: ${names.slice(0, 12).join(', ')}`;
    }
    case 'state':
      return `no step has the state ${condition.state} now`;
    default:
      return 'no step matches the condition now';
  }
}

function hintFor(name: string, { steps, tasks }: Graph): string {
  const near = nearNames(name, steps);
  const isCell = steps.some(({ address }) => address.startsWith(`${name},`));
  if (isCell) return `all cells: ${name},*; single cells: ${near.join(', ')}`;
  const ids = tasks.map(({ id }) => id);
  return near.length > 0 ? `similar: ${near.join(', ')}` : `tasks: ${ids.slice(0, 12).join(', ')}`;
}

/**
 * Returns the selected addresses. `names`: addresses or tasks, with or without `*`. `orphans`: selectable addresses
 * that are only in the lock.
 */
export function chooseSteps(
  names: readonly string[],
  select: readonly string[] | undefined,
  situation: Situation,
  orphans: readonly string[] = [],
): string[] {
  if (names.length === 0 && select === undefined) {
    const hint = 'for example hero@lamp, hero, "hero@*" or -s tag:launch; nothing was recorded';
    throw wrongOptions('no steps are selected: name addresses, or use -s', hint, '--select');
  }
  const { written: graph, lock } = situation;
  const known: Named[] = [...graph.steps, ...orphans.map(onlyInLock)];
  const chosen = new Set(select === undefined ? [] : makeSelector(situation).all('--select', select));
  for (const name of names) {
    const found = findByName(name, known).map(({ address }) => address);
    const meant = found.length > 0 ? found : findSteps({ text: name, literal: true }, graph);
    if (meant.length === 0 && lock.steps.has(name)) {
      const hint = 'a decision needs a step of the manifest; `move` gives a recorded step a new address';
      throw noStep(name, `${name} is in the lock, but no longer in the manifest`, hint);
    }
    if (meant.length === 0) throw noStep(name, `there is no step ${name}`, suggestNames(name, known));
    for (const address of meant) chosen.add(address);
  }
  return known.map(({ address }) => address).filter((address) => chosen.has(address));
}

export function chooseRecorded(
  names: readonly string[],
  { graph, lock, orphans }: { graph: Graph; lock: Lock; orphans: readonly string[] | undefined },
): Set<string> {
  if (names.length === 0 && orphans === undefined) {
    const message = 'no steps are selected: name addresses, or use --orphans for steps that the manifest no longer has';
    throw wrongOptions(message, way('nothing was removed; to see the orphans', call('status')), '--orphans');
  }
  const known = [...lock.steps.keys()].map(onlyInLock);
  const chosen = new Set(orphans);
  for (const name of names) {
    const found = findByName(name, known);
    if (found.length === 0 && findByName(name, graph.steps).length > 0) {
      throw noStep(name, `nothing was ever bought for ${name}`, 'there is nothing to remove');
    }
    if (found.length === 0) throw noStep(name, `the lock has no step ${name}`, suggestNames(name, known));
    for (const { address } of found) chosen.add(address);
  }
  return chosen;
}

function findByName(name: string, known: readonly Named[]): Named[] {
  const addresses = new Set(known.map(({ address }) => address));
  return findNamed(
    readName(name, (text) => addresses.has(text)),
    known,
  );
}

function onlyInLock(address: string): Named {
  return { address, task: taskOfAddress(address) };
}

export function requireStep<Any extends Step>(name: string, graph: { steps: readonly Any[] }): Any {
  const addresses = new Set(graph.steps.map(({ address }) => address));
  const { text } = readName(name, (one) => addresses.has(one));
  const step = graph.steps.find(({ address }) => address === text);
  if (step !== undefined) return step;
  const ofTask = graph.steps.filter(({ task }) => task === name);
  if (ofTask.length > 0) {
    const some = ofTask.slice(0, 5).map((one) => one.address);
    throw noStep(name, `${name} is a task with ${ofTask.length} steps`, `name one step: ${some.join(', ')}`);
  }
  throw noStep(name, `the manifest has no step ${name}`, suggestNames(name, graph.steps));
}

export function suggestNames(name: string, known: readonly Named[]): Advice {
  const near = nearNames(name, known);
  return near.length > 0 ? `similar: ${near.join(', ')}` : way('to see every address', call('plan', '--all'));
}
