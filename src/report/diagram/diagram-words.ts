import { type StepState, stepStates } from '../../plan/situation/step-state.ts';
import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { CanaryMark, DiagramCredits, DiagramEdge, DiagramNode, GateNode, WorkNode } from './diagram.ts';
import { gateId, type Link } from './diagram-links.ts';

/** Text of a node, line by line; every line is safe, and may be empty. */
export interface NodeWords {
  name: string;
  kind: string;
  canary: string;
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
  unneeded: 'not needed',
};

export function nodeWords(node: DiagramNode): NodeWords {
  return node.is === 'gate' ? gateWords(node) : workWords(node);
}

export function stateWord(state: StepState): string {
  return wordOf[state];
}

function workWords({ is, id, kind, steps, states, credits, fanOut, canary }: WorkNode): NodeWords {
  const count = `${fanOut === 'open' ? 'up to ' : ''}${countOf(steps, 'step')}`;
  const own = stepStates.filter((state) => states[state] > 0);
  const counted = own.map((state) => `${creditsText(states[state])} ${wordOf[state]}`).join(' · ');
  return {
    name: safeText(id, longest),
    kind: is === 'step' ? safeText(kind, 40) : `${safeText(kind, 40)} · ${count}`,
    canary: canary === undefined ? '' : canaryWords(canary, is),
    states: is === 'step' ? own.map((state) => wordOf[state]).join('') : counted,
    credits: creditsWords(credits),
  };
}

function gateWords({ id, task, asks, choose, states }: GateNode): NodeWords {
  const isOne = id !== gateId(task);
  const parts = (['decided', 'open', 'contested', 'rejected'] as const).filter((state) => states[state] > 0);
  return {
    name: safeText(id.slice(id.indexOf(':') + 1), longest),
    kind: asksWords(asks, choose),
    canary: '',
    states: isOne ? parts.join('') : parts.map((state) => `${creditsText(states[state])} ${state}`).join(' · '),
    credits: '',
  };
}

function canaryWords({ rule, state }: CanaryMark, is: WorkNode['is']): string {
  if (is === 'step') return rule === 'ask' ? 'canary: to be picked first' : 'canary: goes first';
  if (state === 'proven') return 'canary: proven';
  return rule === 'ask' ? 'canary: the rest waits for a pick' : 'canary: the rest follows it';
}

function asksWords(asks: GateNode['asks'], choose: number): string {
  switch (asks) {
    case 'approve':
      return 'gate: approve';
    case 'choose':
      return `gate: pick ${choose}`;
    default:
      return asks satisfies never;
  }
}

/** `84 cr spent · ≈ 236 cr to spend · 12 cr waiting`; what nobody knows the price of is told, never counted as 0. */
function creditsWords({ spent, held, toSpend, expected, waiting, unpriced }: DiagramCredits): string {
  const more = toSpend + expected;
  const parts = [
    ...(spent > 0 ? [`${creditsText(spent)} cr spent`] : []),
    ...(held > 0 ? [`${creditsText(held)} cr reserved`] : []),
    ...(more > 0 ? [`${expected > 0 ? '≈ ' : ''}${creditsText(more)} cr to spend`] : []),
    ...(waiting > 0 ? [`${creditsText(waiting)} cr waiting`] : []),
    ...(unpriced > 0 ? [`${creditsText(unpriced)} unpriced`] : []),
  ];
  return parts.join(' · ');
}

/** How an edge joins; empty where it goes without saying, as between two steps. */
export function edgeWords({ links }: DiagramEdge, [from, to]: readonly [DiagramNode, DiagramNode]): string {
  if (from.is === 'step' || to.is === 'step') return '';
  return links
    .map((link) => linkWords(link, [from, to]))
    .filter((words) => words !== '')
    .join(' + ');
}

function linkWords(link: Link, [from, to]: readonly [DiagramNode, DiagramNode]): string {
  const by = (names: readonly string[]) => (names.length === 0 ? '' : ` by ${safeText(names.join(', '), 60)}`);
  switch (link.is) {
    case 'one': {
      const count = countIn(from);
      if (link.by.length > 0) return by(link.by).trim();
      if (count > 1) return `one of ${creditsText(count)}`;
      return countIn(to) > 1 ? 'the same' : '';
    }
    case 'several':
      return `several${by(link.by)}`;
    case 'all':
      return `all ${creditsText(countIn(from))}`;
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

/** The diagram in one sentence: `aurora-launch: 7 tasks, 512 steps · 84 cr spent · 236 cr to spend`. */
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
