import type { Graph, Step } from '../../graph/graph.ts';
import { groupBy } from '../../ground/values.ts';
import { untilStable } from '../rows/draft.ts';
import { type StepState, stepStates } from '../situation/situation.ts';
import { findAddress, findNamed, fits, type Name } from './names.ts';

/**
 * A selection of steps, for example `hero@A*,9:16  tag:launch,kind:video  +teaser`. Terms are separated by white space
 * (“or”), and the conditions of a term by commas (“and”).
 *
 * If several addresses match at one position, the longest address is selected. A pattern with `@` may contain commas:
 * it ends at a comma before `kind:`, `tag:`, `state:`, `cost:`, `selector:`, a quote, or another name with `@`.
 */
export interface Selection {
  terms: Term[];
}

type Term = Condition[];

export type Condition = Criterion & { needs: boolean; users: boolean };

type Criterion =
  | ({ is: 'name' | 'kind' | 'tag' } & Name)
  | { is: 'state'; state: StepState }
  | { is: 'cost'; operator: '>' | '>=' | '<' | '<=' | '='; credits: number | null }
  | { is: 'selector'; name: string };

interface SelectionProblem {
  problem: string;
  at: number;
}

type Vocabulary = (text: string) => boolean;

export function parseSelection(text: string, isAddress: Vocabulary): Selection | SelectionProblem {
  const whole = findAddress(text.trim(), isAddress);
  if (whole !== undefined) return { terms: [[{ is: 'name', text: whole, literal: true, needs: false, users: false }]] };
  const terms: Term[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const term: Term = [];
    for (;;) {
      const read = readQuotedCondition(text, at) ?? readCondition(text, at, isAddress);
      if (typeof read.condition === 'string') return { problem: read.condition, at: read.end };
      term.push(read.condition);
      at = read.end;
      if (text[at] !== ',') break;
      at += 1;
    }
    if (at < text.length && skipSpace(text, at) === at) {
      return { problem: 'a closing quote must be followed by a comma or white space', at };
    }
    terms.push(term);
  }
  return terms.length === 0 ? { problem: 'it is empty', at: 0 } : { terms };
}

type Read = { condition: Condition | string; end: number };

const quotedForm = /(\+?)(?:([a-z]+):)?"((?:\\.|[^"\\])*)("?)(\+?)/sy;

function readQuotedCondition(text: string, at: number): Read | undefined {
  quotedForm.lastIndex = at;
  const found = quotedForm.exec(text);
  if (found === null) return undefined;
  const [all, needs, method, quoted = '', end, users] = found;
  if (end === '') return { condition: 'a quote is not closed', end: at + all.indexOf('"') };
  if (quoted === '') return { condition: 'the quotes are empty', end: at };
  const name = { text: quoted.replaceAll(/\\(.)/gs, '$1'), literal: true };
  const condition = makeCondition(method, name, { needs: needs === '+', users: users === '+' });
  return { condition, end: typeof condition === 'string' ? at : at + all.length };
}

function readCondition(text: string, at: number, isAddress: Vocabulary): Read {
  const [rest = ''] = /^\S*/.exec(text.slice(at)) ?? [];
  const ends = endsIn(rest);
  for (const end of ends.toReversed()) {
    const exact = readExact(rest.slice(0, end), isAddress);
    if (exact !== undefined) return { condition: exact, end: at + end };
  }
  const [end = rest.length] = ends;
  const written = rest.slice(0, end);
  if (written === '' || /^,|,,|,$/.test(written)) {
    return { condition: 'a name is missing before or after a comma', end: at };
  }
  const [, needs, method, name = '', users] = /^(\+?)(?:([a-z]+):)?(.*?)(\+?)$/s.exec(written) ?? [];
  const reach = { needs: needs === '+', users: users === '+' };
  const condition = makeCondition(method, { text: name, literal: false }, reach);
  return { condition, end: typeof condition === 'string' ? at : at + end };
}

function endsIn(word: string): number[] {
  const first = word.indexOf(',');
  if (first < 0) return [word.length];
  const head = word.slice(0, first);
  const isAddress = head.includes('@') && !/^\+?[a-z]+:/.test(head);
  const others = [...word.matchAll(conditionAfterComma)].map(({ index }) => index);
  return [...new Set([...(isAddress ? [] : [first]), ...others, word.length])];
}

/** Row keys and matrix values never contain `@`, so a name with `@` after a comma begins another condition. */
const conditionAfterComma = /,(?=\+?(?:(?:kind|tag|state|cost|selector):|"|[^\s,@"]*@))/g;

function readExact(text: string, isAddress: Vocabulary): Condition | undefined {
  for (const needs of [false, true]) {
    for (const users of [false, true]) {
      if ((needs && !text.startsWith('+')) || (users && !text.endsWith('+'))) continue;
      const address = findAddress(text.slice(needs ? 1 : 0, users ? -1 : undefined), isAddress);
      if (address !== undefined) return { is: 'name', text: address, literal: true, needs, users };
    }
  }
  return undefined;
}

function makeCondition(
  method: string | undefined,
  name: Name,
  reach: { needs: boolean; users: boolean },
): Condition | string {
  const { text } = name;
  if (text === '') {
    if (method !== undefined) return `\`${method}:\` needs a value`;
    return '`+` needs a name or a condition, as in +teaser or +tag:launch';
  }
  switch (method) {
    case undefined:
      return { is: 'name', ...name, ...reach };
    case 'kind':
    case 'tag':
      return { is: method, ...name, ...reach };
    case 'selector':
      return { is: 'selector', name: text, ...reach };
    case 'state': {
      const state = stepStates.find((known) => known === text);
      if (state === undefined) return `\`${text}\` is not a state; states: ${stepStates.join(', ')}`;
      return { is: 'state', state, ...reach };
    }
    case 'cost': {
      if (text === '?') return { is: 'cost', operator: '=', credits: null, ...reach };
      const match = /^(>=|<=|>|<|=)?(\d{1,9})$/.exec(text);
      if (match === null) return 'write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown cost';
      const operator = (match[1] ?? '=') as '>' | '>=' | '<' | '<=' | '=';
      return { is: 'cost', operator, credits: Number(match[2]), ...reach };
    }
    default:
      return `\`${method}:\` is unknown; write kind:, tag:, state:, cost: or selector:`;
  }
}

function skipSpace(text: string, from: number): number {
  const next = text.slice(from).search(/\S/);
  return next < 0 ? text.length : from + next;
}

export interface SelectionFacts {
  graph: Graph;
  stateOf(address: string): StepState;
  costOf(address: string): number | null | undefined;
  ownerOf?(address: string): string | undefined;
}

export function vocabularyOf({ steps }: Graph): Vocabulary {
  const addresses = new Set(steps.map(({ address }) => address));
  return (text) => addresses.has(text);
}

/** Returns the addresses that a name matches. If no step matches, returns the steps of the gate with this name. */
export function findSteps(name: Name, { steps, gates = [] }: Graph): readonly string[] {
  const named = findNamed(name, steps).map(({ address }) => address);
  return named.length > 0 ? named : (gates.find((gate) => gate.name === name.text)?.members ?? []);
}

type Found = Set<string> | { problem: string };

/** Results by selector name. `undefined` while the selector is being evaluated. */
type Selectors = Map<string, Found | undefined>;

export function matchSelection(selection: Selection, facts: SelectionFacts, selectors: Selectors = new Map()): Found {
  const chosen = new Set<string>();
  for (const term of selection.terms) {
    let common: Set<string> | undefined;
    for (const condition of term) {
      const found = findWithReach(condition, facts, selectors);
      if (!(found instanceof Set)) return found;
      common = common === undefined ? found : new Set([...common].filter((address) => found.has(address)));
    }
    for (const address of common ?? []) chosen.add(address);
  }
  return chosen;
}

function findWithReach(condition: Condition, facts: SelectionFacts, selectors: Selectors): Found {
  const found = findThemselves(condition, facts, selectors);
  if (!(found instanceof Set) || !(condition.needs || condition.users)) return found;
  const stepsOf = needFinder(facts.graph.gates);
  const steps = facts.graph.steps.map(({ address, needs }) => {
    const owner = facts.ownerOf?.(address);
    return { address, needs: [...needs.flatMap(stepsOf), ...(owner === undefined ? [] : [owner])] };
  });
  const needed = new Set(found);
  untilStable(needed, () => {
    if (!condition.needs) return;
    for (const { address, needs } of steps.toReversed()) {
      if (needed.has(address)) for (const need of needs) needed.add(need);
    }
  });
  const using = new Set(found);
  untilStable(using, () => {
    if (!condition.users) return;
    for (const { address, needs } of steps) if (needs.some((need) => using.has(need))) using.add(address);
  });
  return new Set([...needed, ...using]);
}

function findThemselves(condition: Condition, facts: SelectionFacts, selectors: Selectors): Found {
  const { graph, stateOf, costOf } = facts;
  const where = (holds: (step: Step) => boolean) => new Set(graph.steps.filter(holds).map(({ address }) => address));
  switch (condition.is) {
    case 'name':
      return new Set(findSteps(condition, graph));
    case 'kind':
      return where(({ kind }) => fits(kind, condition));
    case 'tag':
      return where(({ tags }) => tags.some((tag) => fits(tag, condition)));
    case 'state':
      return where(({ address }) => stateOf(address) === condition.state);
    case 'cost':
      return where(({ address }) => compareCost(costOf(address) ?? null, condition));
    case 'selector':
      return findBySelector(condition.name, facts, selectors);
    default:
      return condition satisfies never;
  }
}

function findBySelector(name: string, facts: SelectionFacts, selectors: Selectors): Found {
  const known = selectors.get(name);
  if (known !== undefined) return known;
  const { graph } = facts;
  const text = Object.hasOwn(graph.selectors, name) ? graph.selectors[name] : undefined;
  if (text === undefined) {
    const names = Object.keys(graph.selectors);
    const list = names.length === 0 ? 'the manifest has no `selectors`' : `known selectors: ${names.join(', ')}`;
    return { problem: `there is no selector \`${name}\`; ${list}` };
  }
  if (selectors.has(name)) {
    const trail = [...selectors].flatMap(([other, found]) => (found === undefined ? [other] : []));
    return { problem: `selectors use each other in a circle: ${[...trail, name].join(' → ')}` };
  }
  selectors.set(name, undefined);
  const parsed = parseSelection(text, vocabularyOf(graph));
  if ('problem' in parsed) return { problem: `in the selector \`${name}\`: ${parsed.problem}` };
  const found = matchSelection(parsed, facts, selectors);
  selectors.set(name, found);
  return found;
}

function compareCost(cost: number | null, { operator, credits }: Extract<Condition, { is: 'cost' }>): boolean {
  if (cost === null || credits === null) return cost === credits;
  return (
    (operator.includes('=') && cost === credits) ||
    (operator[0] === '>' && cost > credits) ||
    (operator[0] === '<' && cost < credits)
  );
}

/**
 * Selects the first `count` rows of each task with several rows, the steps that these rows need, and single steps whose
 * dependencies are all selected. `chosen`: selectable steps. Returns `undefined` if no task has several rows.
 */
export function firstRows(
  { steps, gates }: Pick<Graph, 'steps' | 'gates'>,
  count: number,
  chosen?: ReadonlySet<string>,
): Set<string> | undefined {
  const known = chosen === undefined ? steps : steps.filter(({ address }) => chosen.has(address));
  const kept = new Set<string>();
  const single: Step[] = [];
  for (const ofTask of groupBy(known, ({ task }) => task).values()) {
    const rows = [...groupBy(ofTask, rowOf).values()];
    if (rows.length === 1) single.push(...ofTask);
    else for (const { address } of rows.slice(0, count).flat()) kept.add(address);
  }
  if (kept.size === 0) return undefined;
  const stepsOf = needFinder(gates);
  // Steps are in order of dependency, so one pass in each direction is enough.
  for (const { address, needs } of known.toReversed()) {
    if (kept.has(address)) for (const one of needs.flatMap(stepsOf)) kept.add(one);
  }
  for (const { address, needs } of single) {
    if (needs.flatMap(stepsOf).every((one) => kept.has(one))) kept.add(address);
  }
  return new Set(known.filter(({ address }) => kept.has(address)).map(({ address }) => address));
}

function needFinder(gates: Graph['gates']): (need: string) => readonly string[] {
  const members = new Map(gates?.map((gate) => [gate.name, gate.members]));
  return (need) => members.get(need) ?? [need];
}

function rowOf({ key, matrix }: Step): string {
  return key ?? JSON.stringify(matrix);
}
