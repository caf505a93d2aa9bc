import { kinds } from '../kinds/index.ts';
import { countedPurchases } from '../lock/decisions.ts';
import type { Job, OpenSend, Output, Purchase, Refusal } from '../lock/record.ts';
import { mayBeCharged } from '../lock/sends.ts';
import type { ChangeFacts } from './compare/changes.ts';
import { decidedText } from './decisions/resolve-purchase.ts';
import { type Unfit, unfitText } from './outputs/expectation.ts';
import type { Reason } from './plan.generated.ts';
import type { Action } from './plan.ts';
import { isPost } from './posts/post-record.ts';
import { decidePost } from './posts/posts.ts';
import { nextPurchase } from './purchases/key.ts';
import { ownOpenSend, type SendFacts, settlingOf } from './purchases/open-sends.ts';
import { findRetry } from './purchases/retry.ts';
import { jobFailed, reasonOf, tellChanges, upToDate } from './reason.ts';
import { wantedPath, withoutExtension } from './select/names.ts';
import type { Match } from './situation/find-purchases.ts';
import type { FileState, SeenFiles } from './situation/situation.ts';

export interface DecisionFacts extends SendFacts, ChangeFacts {
  files: SeenFiles;
  /** Steps with a file that does not fit `expect`. */
  unfit: ReadonlyMap<string, Unfit>;
  /** True when the user asked to buy this step again. */
  redo: boolean;
  /** Returns the address under which a request of this fingerprint was posted, if any. */
  postedAs?(fingerprint: string): string | undefined;
}

/** Action for one step, before money and other steps are considered. */
export interface Decision {
  action: Exclude<Action, 'blocked' | 'orphan'>;
  reason: Reason;
  /** For spending actions: the purchase to make. */
  purchase?: { generation: number; repeat: number };
  /** The open send to ask about first. `purchase` is then omitted. */
  asks?: OpenSend;
  /** For `keep`: the step was posted, and its input has changed since. */
  changedSince?: true;
}

export function decide(match: Match, facts: DecisionFacts): Decision {
  const posted = decidePost(match, facts);
  if (posted !== undefined) return posted; // I24
  const { purchase } = match;
  if (purchase === undefined) return decideUnbought(match, facts);
  // A paid job is collected before it is bought again, because the command may have been interrupted and repeated.
  if (facts.redo && !mayBeCharged(purchase) && purchase.state !== 'running') return buyAgain(match, purchase); // I1 (redo)
  switch (purchase.state) {
    case 'intent':
    case 'unresolved':
      return decideOpenSend(ownOpenSend(match, facts) ?? purchase, facts);
    case 'refused':
      return {
        action: 'create',
        reason: reasonOf('refused', refusedBefore(purchase, match)),
        purchase: next(match),
      };
    case 'running':
      return collect(match, purchase, facts.redo ? '; it is collected first, and a later --redo buys another' : ''); // I1
    case 'failed':
      return decideFailed(match, purchase);
    case 'lost':
      return {
        action: 'attach',
        reason: reasonOf(
          'job-lost',
          `the service no longer knew job ${purchase.jobId}; it is requested once more (--redo buys it again)`,
        ),
      };
    case 'done':
      return decideDone(match, purchase, facts);
    default:
      return purchase satisfies never;
  }
}

function decideUnbought(match: Match, facts: DecisionFacts): Decision {
  if (match.sharesJobOf !== undefined) {
    return { action: 'download', reason: reasonOf('shared', `same request as ${match.sharesJobOf}: one job, shared`) };
  }
  const counted = match.record === undefined ? [] : countedPurchases(match.record);
  const bought = counted.find((purchase) => purchase.jobId !== undefined);
  if (bought === undefined) {
    const { part } = match.step;
    const isForgotten = match.record?.purchases.some((purchase) => purchase.jobId !== undefined) === true;
    if (isForgotten)
      return {
        action: 'create',
        reason: reasonOf('forgotten', 'what was bought for it is forgotten'),
        purchase: next(match),
      };
    const neededIf = part === undefined || part.index === 0 ? undefined : { of: part.of, parts: part.index + 1 };
    const only = neededIf === undefined ? '' : `; needed if ${neededIf.of} gives ${neededIf.parts} or more`;
    const verb = isPost(match.step.kind) ? 'posted' : 'bought';
    const reason = reasonOf('not-bought', `not ${verb} yet${only}`);
    const purchase = next(match);
    return { action: 'create', reason: { ...reason, ...(neededIf !== undefined && { neededIf }) }, purchase };
  }
  const reason = tellChanges('changed', { bought, match }, { facts });
  return { action: 'redo', reason, purchase: next(match) };
}

function collect(match: Match, { jobId }: Job, then = ''): Decision {
  return { action: 'attach', reason: reasonOf('job-running', `job ${jobId} is running${movedFrom(match)}${then}`) };
}

function buyAgain(match: Match, purchase: Job | Refusal): Decision {
  const failed = purchase.state === 'failed' || purchase.state === 'lost';
  if (purchase.state === 'refused') {
    return {
      action: 'create',
      reason: reasonOf('refused', refusedBefore(purchase, match)),
      purchase: next(match),
    };
  }
  return {
    action: failed ? 'retry' : 'redo',
    reason: failed
      ? jobFailed(purchase, `job ${purchase.jobId} ${purchase.state}${because(purchase)}; --redo asks`)
      : reasonOf('redo-asked', '--redo asks for another'),
    purchase: next(match),
  };
}

/** Decides about a create request that was sent before and has no answer. Spends at most once. */
function decideOpenSend(purchase: OpenSend, facts: DecisionFacts): Decision {
  const settling = settlingOf(purchase, facts);
  const isKnown = settling.by === 'person' && settling.isKeyKnown === true;
  const reason = reasonOf(isKnown ? 'key-known' : 'answer-lost', settling.reason);
  return settling.by === 'person' ? { action: 'unresolved', reason } : { action: 'create', reason, asks: purchase };
}

function decideFailed(match: Match, purchase: Job): Decision {
  const failed = `job ${purchase.jobId} failed${because(purchase)}`;
  const retry = findRetry(match);
  switch (retry.is) {
    case 'none':
      return { action: 'failed', reason: jobFailed(purchase, `${failed}; --redo buys it again`) };
    case 'used-up':
      return { action: 'failed', reason: jobFailed(purchase, `${failed}; ${retry.why} (--redo buys it again)`) };
    case 'again':
      return {
        action: 'retry',
        reason: jobFailed(purchase, `${failed}; attempt ${retry.made + 1} of ${retry.attempts}`),
        purchase: next(match),
      };
    default:
      return retry satisfies never;
  }
}

function decideDone(match: Match, purchase: Job, facts: DecisionFacts): Decision {
  if (kinds[match.step.kind]?.media === 'none') {
    if (match.movedFrom === undefined) return { action: 'keep', reason: upToDate };
    return { action: 'move', reason: renamed(match.movedFrom) };
  }
  const outputs = purchase.outputs ?? [];
  const [first] = outputs;
  const isEmpty = purchase.outputs !== undefined && kinds[match.step.kind]?.parts !== undefined;
  if (first === undefined && isEmpty) return { action: 'keep', reason: reasonOf('no-output', 'its job gave nothing') };
  if (first === undefined)
    return { action: 'download', reason: reasonOf('not-saved', `paid, and not saved yet${movedFrom(match)}`) };
  const output = outputs.find((one) => facts.files.fileState(one) !== 'intact') ?? first;
  const state = facts.files.fileState(output);
  if (state === 'missing' && match.step.unpicked === true) {
    return { action: 'keep', reason: reasonOf('unpicked', 'not picked; its file is not here') };
  }
  if (state !== 'intact') return decideGone(match, purchase, { facts, outputs, output, state });
  if (match.movedFrom !== undefined) return { action: 'move', reason: renamed(match.movedFrom) };
  const displaced = outputs.find(({ path }, index) => withoutExtension(path) !== wantedPath(match.step, index));
  if (displaced !== undefined)
    return { action: 'move', reason: reasonOf('saved-elsewhere', `saved under a new name; was ${displaced.path}`) };
  return decideSaved(facts.unfit.get(match.step.address));
}

/** Decides about a paid output that is missing at its path: it is restored from a stored copy, or downloaded again. */
function decideGone(
  { record, movedFrom: from }: Match,
  purchase: Job,
  lost: { facts: DecisionFacts; outputs: Output[]; output: Output; state: Exclude<FileState, 'intact'> },
): Decision {
  const { facts, outputs, output, state } = lost;
  const { files } = facts;
  const isHere = outputs.every((one) => files.fileState(one) === 'intact' || files.isKept?.(one) === true);
  const action = isHere ? 'move' : 'download';
  const newest = record?.purchases[0];
  if (newest !== undefined && newest !== purchase && from === undefined) {
    const how = isHere ? 'kept, and comes back' : 'fetched again';
    return { action, reason: reasonOf('bought-before', `this very request was bought before; its output is ${how}`) };
  }
  const seen = describeLoss(output, state);
  const back = isHere ? '; it comes back from what is kept' : state === 'changed' ? '; that one is fetched again' : '';
  const end = state === 'changed' ? `${back}, and yours renamed: \`accept\` takes yours instead` : back;
  const bought = from === undefined ? '' : ` (bought as ${from})`;
  const code = state === 'changed' ? 'edited' : 'missing';
  return { action, reason: reasonOf(code, `paid; ${output.path} ${seen}${bought}${end}`) };
}

function describeLoss({ edited }: Output, state: Exclude<FileState, 'intact'>): string {
  if (state === 'changed') return 'is not the file that was saved';
  return edited === true ? 'was edited by hand and is missing; the bought one is fetched' : 'is missing';
}

/**
 * Decides about a present output: it is kept, and never bought again automatically even if it does not fit `expect`.
 */
function decideSaved(unfit: Unfit | undefined): Decision {
  if (unfit === undefined) return { action: 'keep', reason: upToDate };
  const text = `${unfitText(unfit)}; change \`expect\`, take it as it is with \`accept\`, or buy it again with --redo`;
  return { action: 'failed', reason: { ...reasonOf('unfit', text), unmet: unfit.unmet } };
}

/** Returns the next purchase of this step's request. */
function next(match: Match): { generation: number; repeat: number } {
  return nextPurchase(match.record?.purchases ?? [], match.step.fingerprint);
}

/** Describes an earlier refusal by the service, or a user's decision that a create request had no effect. */
function refusedBefore(purchase: Refusal, { step }: Match): string {
  return purchase.decided ? decidedText(purchase.kind ?? step.kind) : `refused before${because(purchase)}`;
}

function because(purchase: Purchase): string {
  return purchase.error === undefined ? '' : `: ${purchase.error.replace(/\.$/, '')}`;
}

function renamed(from: string): Reason {
  return reasonOf('renamed', `was ${from}`);
}

function movedFrom(match: Match): string {
  return match.movedFrom === undefined ? '' : ` (bought as ${match.movedFrom})`;
}
