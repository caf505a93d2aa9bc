import type { DiagramCredits, DiagramEdge, DiagramNode, GateNode, WorkNode } from '../../plan/diagram.ts';
import type { Link } from '../../plan/diagram-links.ts';
import { type StepState, stepStates } from '../../plan/step-state.ts';
import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** What a node says, line by line; every line is safe, and may be empty. */
export interface NodeWords {
  name: string;
  kind: string;
  states: string;
  credits: string;
}

/** Limit of names and descriptions, in characters: no tool shows more of them. */
const longest = 300;

const wordOf: { [state in StepState]: string } = {
  done: 'done',
  running: 'running',
  failed: 'failed',
  lost: 'lost',
  unresolved: 'unresolved',
  changed: 'changed',
  'not-bought': 'not bought',
};

export function nodeWords(node: DiagramNode): NodeWords {
  return node.is === 'gate' ? gateWords(node) : workWords(node);
}

export function stateWord(state: StepState): string {
  return wordOf[state];
}

function workWords({ is, id, kind, steps, states, credits, fanOut }: WorkNode): NodeWords {
  const count = `${fanOut === 'open' ? 'up to ' : ''}${countOf(steps, 'step')}`;
  const own = stepStates.filter((state) => states[state] > 0);
  const counted = own.map((state) => `${creditsText(states[state])} ${wordOf[state]}`).join(' · ');
  return {
    name: safeText(id, longest),
    kind: is === 'step' ? safeText(kind, 40) : `${safeText(kind, 40)} · ${count}`,
    states: is === 'step' ? own.map((state) => wordOf[state]).join('') : counted,
    credits: creditsWords(credits),
  };
}

function gateWords({ id, asks, choose, states }: GateNode): NodeWords {
  const parts = (['decided', 'open', 'contested', 'rejected'] as const).filter((state) => states[state] > 0);
  return {
    name: safeText(id.slice(id.indexOf(':') + 1), longest),
    kind: asksWords(asks, choose),
    states: parts.map((state) => `${creditsText(states[state])} ${state}`).join(' · '),
    credits: '',
  };
}

function asksWords(asks: GateNode['asks'], choose: number): string {
  switch (asks) {
    case 'approve':
      return 'gate: approve';
    case 'choose':
      return `gate: pick ${choose}`;
    case 'canary':
      return `canary: pick ${choose}`;
    default:
      return asks satisfies never;
  }
}

/** `84 spent · ≈ 236 to spend · 12 waiting`; what nobody knows the price of is told, never counted as 0. */
export function creditsWords({ spent, held, toSpend, expected, waiting, unpriced }: DiagramCredits): string {
  const more = toSpend + expected;
  const parts = [
    ...(spent > 0 ? [`${creditsText(spent)} spent`] : []),
    ...(held > 0 ? [`${creditsText(held)} held`] : []),
    ...(more > 0 ? [`${expected > 0 ? '≈ ' : ''}${creditsText(more)} to spend`] : []),
    ...(waiting > 0 ? [`${creditsText(waiting)} waiting`] : []),
    ...(unpriced > 0 ? [`${creditsText(unpriced)} of unknown price`] : []),
  ];
  return parts.join(' · ');
}

/** How an edge joins; empty where it goes without saying. */
export function edgeWords({ links }: DiagramEdge, [from, to]: readonly [DiagramNode, DiagramNode]): string {
  return links
    .map((link) => linkWords(link, [from, to]))
    .filter((words) => words !== '')
    .join(' + ');
}

function linkWords(link: Link, [from, to]: readonly [DiagramNode, DiagramNode]): string {
  const isStep = from.is === 'step' || to.is === 'step';
  const by = (names: readonly string[]) =>
    names.length === 0 || isStep ? '' : ` by ${safeText(names.join(', '), 60)}`;
  switch (link.is) {
    case 'one': {
      if (isStep) return '';
      const count = countIn(from);
      const isOnly = count === 1 && countIn(to) === 1;
      return link.by.length > 0 ? by(link.by).trim() : isOnly ? '' : count === 1 ? 'the same' : `one of ${count}`;
    }
    case 'several':
      return isStep ? '' : `several${by(link.by)}`;
    case 'all':
      return isStep ? '' : `all ${creditsText(countIn(from))}`;
    case 'part':
      return 'part of';
    case 'needs':
      return `after${by(link.by)}`;
    case 'gate':
      return '';
    default:
      return link satisfies never;
  }
}

function countIn(node: DiagramNode): number {
  return node.is === 'gate' ? Object.values(node.states).reduce((sum, count) => sum + count, 0) : node.steps;
}

/** The diagram in one sentence: `aurora-launch: 7 tasks, 512 steps · 84 spent · 236 to spend`. */
export function diagramWords(campaign: string, nodes: readonly DiagramNode[]): { name: string; sums: string } {
  const work = nodes.filter((node) => node.is !== 'gate');
  const tasks = new Set(work.map(({ task }) => task)).size;
  const total: DiagramCredits = { spent: 0, held: 0, toSpend: 0, expected: 0, waiting: 0, unpriced: 0 };
  for (const { credits } of work) {
    for (const name of Object.keys(total) as (keyof DiagramCredits)[]) total[name] += credits[name];
  }
  const steps = work.reduce((sum, node) => sum + node.steps, 0);
  const money = creditsWords(total);
  const counts = `${countOf(tasks, 'task')}, ${countOf(steps, 'step')}`;
  return { name: safeText(campaign, longest), sums: money === '' ? counts : `${counts} · ${money}` };
}
