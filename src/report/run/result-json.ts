import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import { answersOfExit, exitCodes } from '../../contract/exit.ts';
import type { NextStep } from '../../contract/failure.ts';
import type { Json } from '../../ground/json.ts';
import { defined } from '../../ground/values.ts';
import { stateLeft } from '../../plan/actions.ts';
import { type Plan, type PlanRow, rowId } from '../../plan/plan.ts';
import { isPost } from '../../plan/posts/post-record.ts';
import { jsonOf } from '../document.ts';
import { safeJson } from '../safe-text.ts';
import { hasEnded, type RunView } from './run-view.ts';

const longestError = 300;

interface EndedPlan {
  plan: Pick<Plan, 'campaign' | 'rows' | 'gates'>;
  outcomes: ReadonlyMap<string, StepOutcome>;
  view: RunView;
  end: Extract<RunEvent, { event: 'run-ended' }>;
  next: readonly NextStep[];
}

/**
 * Returns the document of `schemas/result.schema.json`. Each step and each gate takes one line, because automated
 * callers pay for the length of the text.
 */
export function resultText(ended: EndedPlan): string {
  const { plan, outcomes, view, end, next } = ended;
  const { campaign, rows, gates = [] } = plan;
  const answers = { ...answersOfExit(end.exit), ...(isSettledByApply(ended) && { person: false }) };
  const head = safeJson(
    jsonOf('result', { campaign, ...answers, end, ...defined({ stopped: view.stopped }), next }),
    2,
  );
  const lists = {
    gates: gates.map(({ name, is, state, choose, waiting }) => ({ name, is, state, choose, waiting })),
    rows: rows.filter(({ action }) => action !== 'orphan').map((row) => rowNow(row, { outcomes, view })),
  };
  const more = Object.entries(lists).map(([name, list]) => `  "${name}": ${linesOf(list)}`);
  return `${head.slice(0, -'\n}'.length)},\n${more.join(',\n')}\n}\n`;
}

function isSettledByApply({ plan, outcomes, view, end, next }: EndedPlan): boolean {
  if (end.exit !== exitCodes.needsDecision || next.some(({ needs }) => needs === 'person')) return false;
  const asked: readonly StepOutcome[] = ['unresolved', 'failed', 'refused'];
  const open = plan.rows.filter((row) => asked.includes(stateNow(row, outcomes.get(rowId(row)))));
  const isRecoverable = (row: PlanRow) => view.stepsByAddress.get(rowId(row))?.recoverable === true;
  return open.length > 0 && open.every(isRecoverable);
}

function linesOf(list: readonly unknown[]): string {
  if (list.length === 0) return '[]';
  return `[\n${list.map((item) => `    ${safeJson(item)}`).join(',\n')}\n  ]`;
}

function rowNow(row: PlanRow, { outcomes, view }: Pick<EndedPlan, 'outcomes' | 'view'>): Json {
  const { address, send, reason, post } = row;
  const seen = send === undefined ? view.stepsByAddress.get(address) : undefined;
  const ended = seen?.begunAt !== undefined && hasEnded(seen.stage) ? seen : undefined;
  const scheduledFor = send === undefined ? view.scheduledPosts.get(address) : undefined;
  const state = stateNow(row, outcomes.get(rowId(row)));
  const error = ended?.error ?? (state === 'failed' || state === 'unresolved' ? reason.text : undefined);
  const need = ended?.need ?? reason.need;
  const isOpen = isPost(row.kind) && post !== undefined && state !== 'done';
  return {
    address,
    ...defined({ send }),
    state,
    ...(state !== 'done' && ended !== undefined && ended.credits !== 0 && { credits: ended.credits }),
    ...(state === 'blocked' && ended === undefined && { because: reason.code }),
    ...(need !== undefined && { need: { ...need } }),
    ...(error !== undefined && { error: error.length > longestError ? `${error.slice(0, longestError)}…` : error }),
    ...defined({ scheduledFor }),
    ...(isOpen && { post: { accounts: post.accounts, ...defined({ at: post.at }) } }),
  };
}

function stateNow({ action, unneeded }: PlanRow, outcome: StepOutcome | undefined): StepOutcome {
  if (outcome !== undefined) return outcome;
  if (action === 'keep') return unneeded === true ? 'unneeded' : 'done';
  return stateLeft(action);
}
