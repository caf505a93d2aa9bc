import { defined } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Purchase } from '../../lock/record.ts';
import { isOpenSend, spentCredits } from '../../lock/sends.ts';
import { unfitText } from '../../plan/outputs/expectation.ts';
import type { PostTarget } from '../../plan/plan.ts';
import { isPost, laterPost, targetOf } from '../../plan/posts/post-record.ts';
import { heldWhereUnpriced, type PriceHints, pricesFrom } from '../../plan/prices/prices.ts';
import { settlingOf } from '../../plan/purchases/next.ts';
import { findOrphans } from '../../plan/rows/orphans.ts';
import type { DecidedGate, Match } from '../../plan/situation/find-purchases.ts';
import { type Situation, type StepState, stateOfStep } from '../../plan/situation/situation.ts';
import type { VerdictContent, Verdicts } from '../../plan/situation/verdicts.ts';
import { heldCredits } from '../../plan/sum-up.ts';

interface PurchaseStatus {
  jobId?: string;
  credits?: number;
  file?: string;
  /** Paths of all output files of the step. Omitted if the step has only one file. */
  files?: string[];
  fileState?: FileState;
  /** Set if a run saw the job finish, but did not save its files. */
  unsaved?: true;
  error?: string;
  /**
   * Error code of the service (`moderated`), or a code of mediabatch: `http-402`, `refused`, `failed`, `lost`,
   * `no-answer`, `unfit`.
   */
  code?: string;
}

export interface StepStatus extends PurchaseStatus {
  address: string;
  task: string;
  kind: string;
  key?: string;
  matrix?: { readonly [axis: string]: string };
  take?: number;
  state: StepState;
  verdict?: VerdictContent;
  /** Set if the next `apply` recovers the lost answer of the create request. */
  recoverable?: true;
  post?: PostTarget;
  scheduledFor?: string;
}

export interface TaskStatus {
  id: string;
  kind: string;
  steps: number;
  states: { [state in StepState]: number };
  /** Number of running steps whose job has finished and whose files are not saved. */
  unsaved: number;
  /** Number of missing or changed files of done steps. A step without any saved file counts once. */
  filesMissing: number;
}

export interface StatusView {
  campaign: string;
  from: 'manifest';
  steps: number;
  tasks: TaskStatus[];
  rows: StepStatus[];
  /** Run that holds the lock. Omitted if this machine cannot detect the run. */
  run?: RunStatus | undefined;
  credits: {
    spent: number;
    /** Sum of the known prices of create requests with unknown charge. */
    held: number;
    /** Number of create requests with unknown charge and unknown price. */
    heldUnknown: number;
    budget?: number;
    left?: number;
  };
  /** Sorted addresses of steps that are in the lock and not in the manifest. */
  orphans: string[];
  pinned: string[];
  accepted: string[];
  /** Undecided gates that have outputs to review. Omitted without such gates. */
  gates?: GateStatus[];
}

export interface GateStatus {
  name: string;
  state: 'open' | 'contested' | 'rejected';
  choose: number;
  toSee: string[];
  picked: string[];
  note?: string;
}

interface RunStatus {
  pid: number;
  host: string;
  since: string;
}

/** States of output files by path. A path without a state counts as missing. */
export type PresentFiles = ReadonlyMap<string, FileState>;

type FileState = 'intact' | 'missing' | 'changed';

interface StatusFacts {
  situation: Situation;
  present: PresentFiles;
  /** Addresses of the steps to report. The credits are always those of the whole campaign. */
  selected?: ReadonlySet<string>;
  /** Prefix that makes output paths relative to the working folder: empty, or such as `campaign.sandbox/`. */
  folder?: string;
  run?: RunStatus | undefined;
  hints?: PriceHints;
  /** Current time in ms since 1970. If omitted, every scheduled post counts as published. */
  now?: number;
  finishedJobs?: Pick<ReadonlySet<string>, 'has'>;
}

export function makeStatus(facts: StatusFacts): StatusView {
  const { situation } = facts;
  const { graph, lock, matches, verdicts } = situation;
  const tasks = new Map(graph.tasks.map(({ id, kind }) => [id, emptyTask(id, kind)]));
  const isMeant = ({ step }: Match) => facts.selected?.has(step.address) ?? true;
  const meant = matches.filter(isMeant);
  const rows: StepStatus[] = [];
  for (const match of meant) {
    const { task, kind, unpicked } = match.step;
    const row = statusOf(match, facts);
    const counted = { state: row.state, purchase: match.purchase, mayLack: unpicked === true };
    const counts = tasks.get(task) ?? emptyTask(task, kind);
    tasks.set(task, counts);
    countStep(counts, counted, facts);
    rows.push(unpicked === true ? withoutMissing(row) : row);
  }
  const { credits: held, unknownPrices: heldUnknown } = heldCredits(lock, pricesFrom(lock, graph.prices, facts.hints));
  const guessed = heldUnknown === 0 ? 0 : heldUnknown * heldWhereUnpriced(lock, graph.prices, facts.hints);
  const spent = spentCredits(lock);
  const { budget } = graph;
  const gates = findOpenGates(graph.gates, meant, verdicts);
  return {
    campaign: graph.name,
    from: 'manifest',
    steps: meant.length,
    tasks: [...tasks.values()].filter(({ steps }) => steps > 0 || facts.selected === undefined),
    rows,
    run: facts.run,
    credits: {
      spent,
      held,
      heldUnknown,
      ...(budget !== undefined && { budget, left: Math.max(0, budget - spent - held - guessed) }),
    },
    orphans: facts.selected === undefined ? findOrphans(situation) : [],
    pinned: meant.flatMap(({ step }) => (step.decided?.pinned === undefined ? [] : [step.address])),
    accepted: meant.flatMap(({ step }) => (step.decided?.accepted === undefined ? [] : [step.address])),
    ...(gates.length > 0 && { gates }),
  };
}

function statusOf(match: Match, facts: StatusFacts): StepStatus {
  const { situation, now = Number.POSITIVE_INFINITY } = facts;
  const { step, purchase, record } = match;
  const { address, task, kind, key, matrix, take } = step;
  const state = stateOfStep(match, situation);
  const unfit = situation.unfit?.get(address);
  // The scheduled time at the service may differ from the time in the manifest.
  const sent = state === 'changed' ? record?.purchases.findLast((one) => one.state === 'done') : purchase;
  const isSent = state === 'done' || (state === 'changed' && sent !== undefined);
  return {
    ...{ address, task, kind },
    ...defined({ key, matrix: Object.keys(matrix).length > 0 ? matrix : undefined, take }),
    state,
    ...defined({ verdict: situation.verdicts.on(match) }),
    ...(purchase !== undefined && describePurchase(purchase, facts)),
    ...(state === 'unresolved' && isRecoverable(match, now) && { recoverable: true as const }),
    ...(unfit !== undefined && { error: unfitText(unfit), code: 'unfit' }),
    ...(isPost(kind) && state === 'not-bought' && { post: targetOf(step.request) }),
    ...(isSent && laterPost(kind, sent?.request ?? step.request, now)),
  };
}

function isRecoverable({ step, purchase }: Match, now: number): boolean {
  if (isPost(step.kind) || purchase === undefined || !isOpenSend(purchase)) return false;
  return settlingOf(purchase, { now, replays: 'unknown' }).by !== 'person';
}

function findOpenGates(gates: readonly DecidedGate[], meant: readonly Match[], verdicts: Verdicts): GateStatus[] {
  const done = new Map(
    meant.filter(({ purchase }) => purchase?.state === 'done').map((one) => [one.step.address, one]),
  );
  return gates.flatMap(({ name, choose, members, state, note }): GateStatus[] => {
    const there = members.flatMap((address) => done.get(address) ?? []);
    if (state.is === 'decided' || there.length === 0) return [];
    const toSee = there.filter((match) => verdicts.on(match)?.is !== 'rejected').map(({ step }) => step.address);
    return [{ name, state: state.is, choose, toSee, picked: [...state.picked], ...defined({ note }) }];
  });
}

/** Removes missing files of steps that were not picked, because users may delete these files. */
function withoutMissing(status: StepStatus): StepStatus {
  const { file: _file, files: _files, fileState, ...row } = status;
  return fileState === 'missing' ? row : status;
}

function emptyTask(id: string, kind: string): TaskStatus {
  const states = { done: 0, running: 0, failed: 0, lost: 0, unresolved: 0, changed: 0, 'not-bought': 0, unneeded: 0 };
  return { id, kind, steps: 0, states, unsaved: 0, filesMissing: 0 };
}

function countStep(
  task: TaskStatus,
  { state, purchase, mayLack = false }: { state: StepState; purchase: Purchase | undefined; mayLack?: boolean },
  { present, finishedJobs }: StatusFacts,
): void {
  task.steps += 1;
  task.states[state] += 1;
  if (state === 'running' && finishedJobs?.has(purchase?.jobId ?? '') === true) task.unsaved += 1;
  if (state !== 'done' || kinds[task.kind]?.media === 'none') return;
  const outputs = purchase?.outputs ?? [];
  const missing = outputs.filter(({ path }) => {
    const is = present.get(path) ?? 'missing';
    return is === 'changed' || (is === 'missing' && !mayLack);
  }).length;
  task.filesMissing += outputs.length === 0 ? 1 : missing;
}

function describePurchase(
  { state, jobId, credits, error, outputs }: Purchase,
  facts: Pick<StatusFacts, 'present' | 'folder' | 'finishedJobs'>,
): PurchaseStatus {
  const paths = (outputs ?? []).map(({ path }) => `${facts.folder ?? ''}${path}`);
  const [file] = paths;
  const worst = outputs?.find(({ path }) => facts.present.get(path) !== 'intact') ?? outputs?.[0];
  const code = codeOf(state, error);
  const isUnsaved = state === 'running' && jobId !== undefined && facts.finishedJobs?.has(jobId) === true;
  return {
    ...defined({ jobId, credits, file }),
    ...(paths.length > 1 && { files: paths }),
    ...(worst !== undefined && { fileState: facts.present.get(worst.path) ?? 'missing' }),
    ...(isUnsaved && { unsaved: true as const }),
    ...defined({ error, code }),
  };
}

function codeOf(state: Purchase['state'], error = ''): string | undefined {
  switch (state) {
    case 'done':
    case 'running':
      return undefined;
    case 'intent':
    case 'unresolved':
      return 'no-answer';
    case 'refused':
    case 'failed':
    case 'lost': {
      const own = /\[([^\s\]]{1,60})\]$/.exec(error)?.[1];
      const status = /^HTTP (\d{3})\b/.exec(error)?.[1];
      return own ?? (status === undefined ? state : `http-${status}`);
    }
    default:
      return state satisfies never;
  }
}
