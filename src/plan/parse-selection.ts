import { type StepState, stepStates } from './step-state.ts';

/** `hero@A* , tag:launch   +teaser`: any of the terms, each of which may have several conditions. */
export interface Selection {
  /** White space between them: one of them is enough. */
  terms: Term[];
}

/** Conditions with commas between them: all of them must hold. */
export type Term = Condition[];

export type Condition =
  /** Steps by address or task, `*` for anything; `needs` and `users` take along what they need and what needs them. */
  | { is: 'name'; pattern: string; needs: boolean; users: boolean }
  | { is: 'kind'; pattern: string }
  | { is: 'tag'; pattern: string }
  | { is: 'state'; state: StepState }
  /** `credits` null: the price is unknown. */
  | { is: 'cost'; operator: '>' | '>=' | '<' | '<=' | '='; credits: number | null }
  /** A named selection of the manifest. */
  | { is: 'selector'; name: string };

export interface SelectionProblem {
  problem: string;
  /** Offset in the text. */
  at: number;
}

/** Reads a selection. The text says which rule it breaks, so that it can be shown as it stands. */
export function parseSelection(text: string): Selection | SelectionProblem {
  const terms: Term[] = [];
  for (const { 0: word, index: at } of text.matchAll(/\S+/g)) {
    const term: Term = [];
    let offset = at;
    for (const part of word.split(',')) {
      const condition = parseCondition(part);
      if (typeof condition === 'string') return { problem: condition, at: offset };
      term.push(condition);
      offset += part.length + 1;
    }
    terms.push(term);
  }
  return terms.length === 0 ? { problem: 'it is empty', at: 0 } : { terms };
}

/** A condition, or what is wrong with it. */
function parseCondition(text: string): Condition | string {
  if (text === '') return 'there is nothing before or after a comma';
  const method = /^([a-z]+):(.*)$/.exec(text);
  if (method === null) return parseName(text);
  const [, name = '', value = ''] = method;
  if (value === '') return `there is nothing after \`${name}:\``;
  switch (name) {
    case 'kind':
      return { is: 'kind', pattern: value };
    case 'tag':
      return { is: 'tag', pattern: value };
    case 'selector':
      return { is: 'selector', name: value };
    case 'state': {
      const state = stepStates.find((known) => known === value);
      return state === undefined
        ? `\`${value}\` is no state; states: ${stepStates.join(', ')}`
        : { is: 'state', state };
    }
    case 'cost':
      return parseCost(value);
    default:
      return `\`${name}:\` is not known; there are kind:, tag:, state:, cost: and selector:`;
  }
}

function parseName(text: string): Condition | string {
  const needs = text.startsWith('+');
  const users = text.endsWith('+') && text.length > 1;
  const pattern = text.slice(needs ? 1 : 0, users ? -1 : undefined);
  if (pattern === '' || pattern === '+') return '`+` needs the name of a task or a step';
  return { is: 'name', pattern, needs, users };
}

function parseCost(value: string): Condition | string {
  if (value === '?') return { is: 'cost', operator: '=', credits: null };
  const match = /^(>=|<=|>|<|=)?(\d{1,9})$/.exec(value);
  if (match === null) return 'write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown one';
  const operator = (match[1] ?? '=') as '>' | '>=' | '<' | '<=' | '=';
  return { is: 'cost', operator, credits: Number(match[2]) };
}
