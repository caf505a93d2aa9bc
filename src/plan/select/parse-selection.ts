import { type StepState, stepStates } from '../situation/step-state.ts';
import { findAddress, type Name, readQuoted } from './names.ts';

/**
 * A selection of steps, for example `hero@A*,9:16  tag:launch,kind:video  +teaser`. It matches steps that match any of
 * its terms.
 *
 * Terms are separated by white space (“or”), and the conditions of a term by commas (“and”). Existing addresses take
 * precedence: the longest part of the text that is the address of a step means that step. Other addresses may contain
 * commas, too: they end at a comma after which another condition begins, that is `kind:`, `tag:`, `state:`, `cost:`,
 * `selector:`, a quote, or another name with an `@`.
 */
export interface Selection {
  terms: Term[];
}

export type Term = Condition[];

/** `needs` adds the steps that the matched steps need; `users` adds the steps that need them. */
export type Condition = Criterion & { needs: boolean; users: boolean };

type Criterion =
  | ({ is: 'name' | 'kind' | 'tag' } & Name)
  | { is: 'state'; state: StepState }
  /** `credits` is `null` for an unknown price. */
  | { is: 'cost'; operator: '>' | '>=' | '<' | '<=' | '='; credits: number | null }
  | { is: 'selector'; name: string };

interface SelectionProblem {
  problem: string;
  /** UTF-16 offset in the text. */
  at: number;
}

export interface Vocabulary {
  isAddress(text: string): boolean;
  isTag(text: string): boolean;
}

/** Parses a selection. A problem names the violated rule, and can be shown as it is. */
export function parseSelection(text: string, vocabulary: Vocabulary): Selection | SelectionProblem {
  const whole = findAddress(text.trim(), vocabulary.isAddress);
  if (whole !== undefined) return { terms: [[exactly(whole, { needs: false, users: false })]] };
  const terms: Term[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const term: Term = [];
    for (;;) {
      const read = readCondition(text, at, vocabulary);
      if ('problem' in read) return read;
      term.push(read.condition);
      at = read.end;
      if (text[at] !== ',') break;
      at += 1;
    }
    if (at < text.length && !isSpace(text[at])) return { problem: 'after a quote comes a comma or white space', at };
    terms.push(term);
  }
  return terms.length === 0 ? { problem: 'it is empty', at: 0 } : { terms };
}

type Read = { condition: Condition; end: number } | SelectionProblem;

function readCondition(text: string, at: number, vocabulary: Vocabulary): Read {
  const opening = /(\+?)(?:([a-z]+):)?(?=")/y;
  opening.lastIndex = at;
  const opened = opening.exec(text);
  if (opened !== null) return readQuotedCondition(text, at, opened);
  const word = /\S*/y;
  word.lastIndex = at;
  const rest = word.exec(text)?.[0] ?? '';
  const ends = endsIn(rest);
  for (const end of ends.toReversed()) {
    const exact = readExact(rest.slice(0, end), vocabulary);
    if (exact !== undefined) return { condition: exact, end: at + end };
  }
  const [end = rest.length] = ends;
  const parsed = parseCondition(rest.slice(0, end), vocabulary);
  return typeof parsed === 'string' ? { problem: parsed, at } : { condition: parsed, end: at + end };
}

/** Lists the offsets at which the first condition of a word may end, nearest first. */
function endsIn(word: string): number[] {
  const first = word.indexOf(',');
  if (first < 0) return [word.length];
  const head = word.slice(0, first);
  const isAddress = head.includes('@') && !/^\+?[a-z]+:/.test(head);
  const ends = isAddress ? [] : [first];
  for (const { index } of word.matchAll(conditionAfterComma)) if (!ends.includes(index)) ends.push(index);
  ends.push(word.length);
  return ends;
}

/** Relies on row keys and matrix values, which never contain `@`. */
const conditionAfterComma = /,(?=\+?(?:(?:kind|tag|state|cost|selector):|"|[^\s,@"]*@))/g;

function readExact(text: string, { isAddress }: Vocabulary): Condition | undefined {
  for (const [needs, users] of [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ] as const) {
    if ((needs && !text.startsWith('+')) || (users && !text.endsWith('+'))) continue;
    const address = findAddress(text.slice(needs ? 1 : 0, users ? -1 : undefined), isAddress);
    if (address !== undefined) return exactly(address, { needs, users });
  }
  return undefined;
}

function exactly(address: string, reach: { needs: boolean; users: boolean }): Condition {
  return { is: 'name', text: address, literal: true, ...reach };
}

function readQuotedCondition(text: string, at: number, [opening, plus, method]: RegExpExecArray): Read {
  const quoted = readQuoted(text, at + opening.length);
  if (quoted === undefined) return { problem: 'a quote is opened and not closed', at: at + opening.length };
  const users = text[quoted.end] === '+';
  const end = quoted.end + (users ? 1 : 0);
  const reach = { needs: plus === '+', users };
  const literal = { text: quoted.text, literal: true };
  if (quoted.text === '') return { problem: 'there is nothing in the quotes', at };
  switch (method) {
    case undefined:
      return { condition: { is: 'name', ...literal, ...reach }, end };
    case 'kind':
    case 'tag':
      return { condition: { is: method, ...literal, ...reach }, end };
    default: {
      const criterion = parseMethod(method, quoted.text);
      return typeof criterion === 'string'
        ? { problem: criterion, at }
        : { condition: { ...criterion, ...reach }, end };
    }
  }
}

function parseCondition(text: string, { isTag }: Vocabulary): Condition | string {
  if (text === '' || /^,|,,|,$/.test(text)) return 'there is nothing before or after a comma';
  const needs = text.startsWith('+');
  const own = needs ? text.slice(1) : text;
  const isWholeTag = own.startsWith('tag:') && isTag(own.slice('tag:'.length));
  const users = own.endsWith('+') && own.length > 1 && !isWholeTag;
  const value = users ? own.slice(0, -1) : own;
  if (value === '' || value === '+') return '`+` needs a name or a condition, as in +teaser or +tag:launch';
  const method = /^([a-z]+):(.*)$/s.exec(value);
  if (method === null) return { is: 'name', text: value, literal: false, needs, users };
  const criterion = parseMethod(method[1] ?? '', method[2] ?? '');
  return typeof criterion === 'string' ? criterion : { ...criterion, needs, users };
}

function parseMethod(name: string, value: string): Criterion | string {
  if (value === '') return `there is nothing after \`${name}:\``;
  switch (name) {
    case 'kind':
    case 'tag':
      return { is: name, text: value, literal: false };
    case 'selector':
      return { is: 'selector', name: value };
    case 'state': {
      const state = stepStates.find((known) => known === value);
      return state === undefined
        ? `\`${value}\` is not a state; states: ${stepStates.join(', ')}`
        : { is: 'state', state };
    }
    case 'cost':
      return parseCost(value);
    default:
      return `\`${name}:\` is not known; there are kind:, tag:, state:, cost: and selector:`;
  }
}

function parseCost(value: string): Criterion | string {
  if (value === '?') return { is: 'cost', operator: '=', credits: null };
  const match = /^(>=|<=|>|<|=)?(\d{1,9})$/.exec(value);
  if (match === null) return 'write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown one';
  const operator = (match[1] ?? '=') as '>' | '>=' | '<' | '<=' | '=';
  return { is: 'cost', operator, credits: Number(match[2]) };
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text[at])) at += 1;
  return at;
}
