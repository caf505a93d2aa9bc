import type { Gate, Graph } from '../../graph/graph.ts';
import { defined } from '../../ground/values.ts';
import { isSpending } from '../actions.ts';
import { type BlockedRow, type Plan, type PlanRow, reasonOf } from '../plan.ts';
import { ceilingOf } from '../prices/prices.ts';
import { blocked, type Draft, dependentRows, untilStable } from '../rows/draft.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { describeWait, gatesByMember } from './gates.ts';

/** Blocks the purchases behind undecided gates. The run still settles earlier create requests. */
export function blockAtGates(draft: Draft, { graph: { gates }, matches }: Pick<Situation, 'graph' | 'matches'>): void {
  if (gates.length === 0) return;
  const byName = new Map(gates.map((gate) => [gate.name, gate]));
  const waits = new Map(matches.flatMap(({ step }) => (step.waits === undefined ? [] : [[step.address, step.waits]])));
  if (waits.size === 0) return;
  const mayWait = dependentRows(draft.all, matches).filter(
    ({ order, unneeded }) => order?.send === undefined && unneeded !== true,
  );
  const stopped = new Set<string>();
  const unselected = new Set<string>();
  untilStable(stopped, () => {
    for (const row of mayWait) {
      if (stopped.has(row.address)) continue;
      const [name, ...others] = waits.get(row.address) ?? [];
      const gate = name === undefined ? undefined : byName.get(name);
      const need = gate === undefined ? row.order?.needs.find((address) => stopped.has(address)) : undefined;
      if (gate === undefined && need === undefined) continue;
      if (gate?.state.is === 'open' && isOutOfSight(gate, draft, unselected)) {
        const text = `waits for a pick of ${gate.name}, whose steps are neither done nor selected`;
        draft.block(row, 'selection', reasonOf('not-selected', text));
        unselected.add(row.address);
      } else if (gate?.state.is === 'rejected' && gate.is !== 'canary') {
        draft.block(row, 'step', reasonOf('rejected', describeWait(gate)));
      } else {
        const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
        const text = gate === undefined ? `needs ${need}, which waits for a pick` : `${describeWait(gate)}${more}`;
        draft.put(heldBack(row, text)); // I27
      }
      stopped.add(row.address);
    }
  });
}

function isOutOfSight({ members }: Gate, draft: Draft, unselected: ReadonlySet<string>): boolean {
  return members.every((address) => {
    const row = draft.at(address);
    if (unselected.has(address)) return true;
    return row !== undefined && isSpending(row.action) && row.order?.send === undefined && !draft.isInRun(address);
  });
}

function heldBack(row: PlanRow, text: string): BlockedRow {
  const { order, action, mayRetry, price: shown, post } = row;
  const held = blocked(row, 'gate', reasonOf('gate', text));
  // The blocked row still contains `post`, so that reviewers see which post will use the picked output.
  if (post !== undefined) held.post = post;
  if (order === undefined || !isSpending(action)) return held;
  const { generation, retries, price } = order;
  return {
    ...held,
    wouldCost: ceilingOf(price) ?? null,
    ...defined({ price: shown }),
    later: { generation, ...defined({ retries: retries?.left }) },
    ...defined({ wouldRetry: mayRetry }),
  };
}

export function openGates(
  draft: Draft,
  rows: readonly PlanRow[],
  { graph: { gates }, matches, byAddress: steps, verdicts }: Situation,
): Plan['gates'] {
  if (gates.length === 0) return undefined;
  const before = gatesBefore(draft, matches);
  const counts = new Map<string, number>();
  for (const { address } of rows) {
    for (const name of before.get(address) ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const inPlan = new Set(rows.map(({ address }) => address));
  const found = gates.flatMap(({ state, note, ...gate }) => {
    const { name, task, is, choose, members } = gate;
    // The plan lists a canary gate only while rows wait for it.
    const isAbout = is !== 'canary' && members.some((address) => inPlan.has(address));
    const isBefore = members.every((address) => steps.get(address)?.step.rejected !== undefined);
    if (state.is === 'decided' || !(counts.has(name) || isAbout) || isBefore) return [];
    const words = state.is === 'rejected' ? wordsOfRejection(gate, { steps, verdicts }) : note;
    return [
      {
        ...{ name, task, is, choose, members: [...members], state: state.is, picked: [...state.picked] },
        ...defined({ note: words }),
        waiting: counts.get(name) ?? 0,
      },
    ];
  });
  return found.length === 0 ? undefined : (found as Plan['gates']);
}

function gatesBefore(draft: Draft, matches: readonly Match[]): ReadonlyMap<string, ReadonlySet<string>> {
  const before = new Map<string, ReadonlySet<string>>();
  // Steps are in order of dependency.
  for (const { step } of matches) {
    const { address, needs, waits } = step;
    if (draft.at(address)?.blockedBy !== 'gate') continue;
    before.set(address, new Set(waits ?? needs.flatMap((need) => [...(before.get(need) ?? [])])));
  }
  return before;
}

function wordsOfRejection(
  { members }: Gate,
  { steps, verdicts }: { steps: Situation['byAddress']; verdicts: Situation['verdicts'] },
): string | undefined {
  const said = members.flatMap((address) => {
    const match = steps.get(address);
    const { reason, note } = (match && verdicts.on(match)) ?? {};
    return [reason, note].flatMap((word) => word || []);
  });
  return said.length === 0 ? undefined : [...new Set(said)].join('; ');
}

export function findBehind(
  { steps, gates = [], canaries = [] }: Pick<Graph, 'steps' | 'gates' | 'canaries'>,
  open: readonly Pick<Gate, 'name' | 'members'>[],
): Set<string> {
  const asked = new Set(open.flatMap(({ name, members }) => [name, ...members]));
  const led = canaries.filter(({ name, asks }) => asks && asked.has(name));
  const others = new Set(led.flatMap(({ members }) => members.filter((address) => !asked.has(address))));
  const behind = new Set<string>();
  const gateOf = gatesByMember(gates);
  // In the plan, the steps of a gate come before the steps that depend on the gate.
  for (const { address, needs } of steps) {
    if (!others.has(address) && !needs.some((need) => asked.has(need) || behind.has(need))) continue;
    behind.add(address);
    behind.add(gateOf.get(address)?.name ?? address);
  }
  return behind;
}
