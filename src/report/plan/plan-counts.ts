import { countSteps, hasWork, isHeldBack } from '../../plan/actions.ts';
import type { Action, Plan } from '../../plan/plan.ts';
import { countOf, creditsText } from '../numbers.ts';
import { limitCodes } from './footer-facts.ts';

/** Order of actions in a plan: those that need the most attention first. */
export const actionOrder: readonly Action[] = [
  'create',
  'redo',
  'retry',
  'attach',
  'download',
  'move',
  'unresolved',
  'failed',
  'blocked',
  'orphan',
  'keep',
];

/** Summary of a plan in one line, like `5 to create, 1 to download, 8 up to date`, or that there is nothing to do. */
export function planHeadline(plan: Plan): string {
  const counts = new Map<Action, number>();
  const waiting = plan.rows.filter(({ blockedBy }) => blockedBy === 'consent').length;
  for (const { action } of plan.rows) counts.set(action, (counts.get(action) ?? 0) + 1);
  const atGates = plan.rows.filter(({ blockedBy }) => blockedBy === 'gate').length;
  counts.set('blocked', (counts.get('blocked') ?? 0) - waiting - atGates);
  const steps = countSteps(plan);
  const held = plan.rows.filter(isHeldBack).length;
  const kept = (counts.get('keep') ?? 0) - held;
  if (!hasWork(plan)) {
    const upToDate =
      kept === steps
        ? keptAll(steps)
        : `${creditsText(kept)} of ${countOf(steps, 'step')} ${kept === 1 ? 'is' : 'are'} up to date`;
    const others = countWords(counts, ['unresolved', 'failed', 'blocked']);
    const isStuck = plan.rows.some(({ blockedBy, reason }) => blockedBy === 'selection' || limitCodes.has(reason.code));
    const rest = [...heldWords(plan), ...waitingWords(waiting, atGates)];
    if ((counts.get('failed') ?? 0) > 0) return [...others, upToDate, ...rest].join(', ');
    const start = isStuck ? 'Nothing can be done' : 'Nothing to do';
    return `${start}: ${[upToDate, ...heldWords(plan), ...others, ...waitingWords(waiting, atGates)].join(', ')}`;
  }
  counts.set('keep', kept);
  return [...countWords(counts, actionOrder), ...heldWords(plan), ...waitingWords(waiting, atGates)].join(', ');
}

function waitingWords(waiting: number, atGates: number): string[] {
  return [
    ...(waiting === 0 ? [] : [`${creditsText(waiting)} waiting for consent`]),
    ...(atGates === 0 ? [] : [`${creditsText(atGates)} waiting for a pick`]),
  ];
}

function heldWords({ rows }: Plan): string[] {
  const posted = rows.filter(({ changedSince }) => changedSince === true).length;
  const held = rows.filter(isHeldBack).length - posted;
  return [
    ...(held === 0 ? [] : [`${held} unchanged because of ${held === 1 ? 'a pin' : 'pins'}`]),
    ...(posted === 0 ? [] : [`${posted} posted and changed since`]),
  ];
}

export function allUpToDate(steps: number): string {
  return `Nothing to do: ${keptAll(steps)}`;
}

function keptAll(steps: number): string {
  if (steps === 0) return 'there are no steps';
  return steps === 1 ? 'the only step is up to date' : `all ${creditsText(steps)} steps are up to date`;
}

const actionWords: Readonly<Record<Action, string>> = {
  create: 'to create',
  redo: 'to redo',
  retry: 'to retry',
  attach: 'to collect',
  download: 'to download',
  move: 'to move',
  unresolved: 'unresolved',
  failed: 'failed',
  blocked: 'blocked',
  orphan: 'no longer in the manifest',
  keep: 'up to date',
};

function countWords(counts: ReadonlyMap<Action, number>, actions: readonly Action[]): string[] {
  return actions.flatMap((action) => {
    const count = counts.get(action) ?? 0;
    return count === 0 ? [] : [`${creditsText(count)} ${actionWords[action]}`];
  });
}
