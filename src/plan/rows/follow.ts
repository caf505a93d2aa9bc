import { isSpending } from '../actions.ts';
import { describeChanges } from '../compare/changes.ts';
import { type PlanRow, reasonOf } from '../plan.ts';
import { isPost } from '../posts/post-record.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Draft } from './draft.ts';

export function describeFollowing(draft: Draft): void {
  const rows = draft.all;
  const following = rows.filter(({ reason }) => reason.code === 'changed' && reason.follows !== undefined);
  if (following.length === 0) return;
  const byAddress = new Map(rows.map((row) => [row.address, row]));
  for (const row of following) {
    const text = describeChanges(row.reason.changes ?? [], (address) => describeFollowed(address, byAddress));
    draft.put({ ...row, reason: { ...row.reason, text } });
  }
}

/** If `--redo` regenerates a step, names the dependent steps that are not regenerated in its reason. */
export function describeReplaced(draft: Draft, { matches }: { matches: readonly Match[] }): void {
  const redone = draft.inRun.filter(({ action, reason }) => action === 'redo' && reason.code === 'redo-asked');
  if (redone.length === 0) return;
  const users = new Map<string, string[]>(redone.map(({ address }) => [address, []]));
  for (const { step } of matches) {
    const row = draft.at(step.address);
    const used = row?.action === 'keep' ? step.needs.filter((address) => users.has(address)) : [];
    for (const address of used) users.get(address)?.push(step.address);
    const [first] = used;
    if (row === undefined || first === undefined || !isPost(step.kind)) continue;
    const reason = {
      ...reasonOf('posted-changed', `already sent, with the earlier output of ${first}`),
      follows: used,
    };
    draft.put({ ...row, changedSince: true, reason });
  }
  for (const row of redone) {
    const [first, ...others] = users.get(row.address) ?? [];
    if (first === undefined) continue;
    const names = others.length === 0 ? `${first} keeps` : `${first} and ${others.length} more keep`;
    draft.put({ ...row, reason: { ...row.reason, text: `${row.reason.text}; ${names} the earlier output` } });
  }
}

/** Finds the step whose change caused a redo. `follows` contains only earlier steps, so the recursion ends. */
export function findRoot(address: string, rows: ReadonlyMap<string, PlanRow>): PlanRow | undefined {
  const row = rows.get(address);
  const isOwn = row?.reason.changes?.some(({ cause }) => cause?.is !== 'step') === true;
  const [followed] = isOwn ? [] : (row?.reason.follows ?? []);
  return (followed === undefined ? undefined : findRoot(followed, rows)) ?? row;
}

export function describeFollowed(address: string, rows: ReadonlyMap<string, PlanRow>, { many = false } = {}): string {
  const root = findRoot(address, rows);
  if (root === undefined) return '';
  const back = many ? root.task : root.address;
  const start = root.address === address ? '' : `, made from ${back}`;
  return `${start}, ${describeRoot(root)}`;
}

function describeRoot({ action, reason }: PlanRow): string {
  const fields = [...new Set((reason.changes ?? []).map(({ field }) => field.split('.')[0] ?? field))];
  if (reason.code === 'changed' && fields.length > 0) return `whose ${fields.join(' and ')} changed`;
  if (reason.code === 'redo-asked') return 'which is bought again';
  if (action === 'blocked') return 'which will be redone';
  return isSpending(action) ? 'which is redone' : 'which was redone since';
}
