import type { StepOutcome } from '../contract/event.ts';
import { call } from '../plan/advice.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import { safeText } from '../report/safe-text.ts';
import type { Terminal } from './terminal.ts';

const shownGates = 10;

/**
 * Says which gates keep steps waiting, or are open at the end of a run that has done everything (`isDone`), and the ways on: to
 * decide, to go on with the page where one was served (`review`), or to buy other outputs. `outcomes`: of the run's steps.
 */
export function tellOpenGates(
  { gates = [], rows }: Plan,
  terminal: Terminal,
  {
    review = false,
    isDone,
    outcomes,
  }: { review?: boolean | undefined; isDone: boolean; outcomes: ReadonlyMap<string, StepOutcome> },
): void {
  const waiting = rows.filter(({ blockedBy }) => blockedBy === 'gate').length;
  const isIdle = waiting === 0;
  const open = gates.filter((gate) => isIdle || gate.waiting > 0);
  // A gate that waits for another one has nothing to look at yet, nor has one whose steps were not begun.
  const blocked = new Set(
    rows.flatMap(({ address, action }) => (action === 'blocked' || outcomes.get(address) === 'left' ? [address] : [])),
  );
  const ready = open.filter(({ members }) => members.some((address) => !blocked.has(address)));
  if (ready.length === 0 || (isIdle && !isDone)) return;
  const undecided = ready.find(({ state }) => state !== 'rejected');
  const example = undecided?.members.find((address) => !blocked.has(address));
  const given = ready.find(({ state }) => state === 'rejected') ?? undecided;
  const names = ready.slice(0, shownGates).map((gate) => `    ${safeText(describeGate(gate), 300)}`);
  const more = ready.length > names.length ? [`    … and ${countOf(ready.length - names.length, 'more gate')}`] : [];
  const then = isIdle ? '' : `, then: ${terminal.paste(call('apply'))}`;
  const what = ready.length === 1 ? 'gate is' : 'gates are';
  terminal.err(
    [
      isIdle
        ? `${terminal.style.yellow('gates')}    ${ready.length} ${what} open, and nothing waits for ${ready.length === 1 ? 'it' : 'them'}`
        : `${terminal.style.yellow('waiting')}  ${countOf(waiting, 'step')} until ${ready.length} ${what} decided`,
      ...names,
      ...more,
      ...(example === undefined || review
        ? []
        : [`    to look at them, and pick by keys: ${terminal.paste(call('review'))}`]),
      ...(example === undefined ? [] : [`    to decide, as in ${terminal.paste(call('pick', example))}${then}`]),
      ...(example === undefined || !review
        ? []
        : [`    to go on looking at them: ${terminal.paste(call('apply', '--review'))}`]),
      ...(given === undefined
        ? []
        : [
            `    to buy others instead: ${terminal.paste(call('apply', '--redo', given.is === 'canary' ? (given.members[0] ?? '') : given.name))}`,
          ]),
      '',
    ].join('\n'),
  );
}

function describeGate({ name, is, choose, members, state, picked, note }: NonNullable<Plan['gates']>[number]): string {
  const about = note === undefined ? '' : ` (${note})`;
  if (is === 'canary') return `${name}: ${members.join(', ')} ${state === 'rejected' ? 'rejected' : 'to be picked'}`;
  if (state === 'contested') return `${name}: ${picked.join(' and ')} are picked, and ${choose} is to be${about}`;
  if (state === 'rejected') return `${name}: rejected${about}`;
  return `${name}: ${is === 'approve' ? 'to be approved' : `${choose} of ${members.length} to be picked`}${about}`;
}
