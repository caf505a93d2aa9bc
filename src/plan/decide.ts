import { defined } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { countedPurchases } from '../lock/decisions.ts';
import type { Job, OpenSend, Output, Purchase, Refusal } from '../lock/record.ts';
import { isJob, isOpenSend } from '../lock/sends.ts';
import { type ChangeFacts, changeReason } from './compare/changes.ts';
import { decidedText } from './decisions/resolve-purchase.ts';
import { type Unfit, unfitText } from './outputs/expectation.ts';
import type { Reason } from './plan.generated.ts';
import { type Action, reasonOf, type SpendingAction } from './plan.ts';
import { isPost, sendsOf, targetOf } from './posts/post-record.ts';
import type { PriceOf } from './prices/prices.ts';
import { nextPurchase, retriesLeft } from './purchases/key.ts';
import { hasOpenSend, next, type RetryRefusal, type SendFacts } from './purchases/next.ts';
import { ownOpenSend } from './purchases/open-sends.ts';
import { wantedPath, withoutExtension } from './select/names.ts';
import type { Match } from './situation/find-purchases.ts';
import type { FileState, SeenFiles } from './situation/situation.ts';
import { isRedone } from './situation/verdicts.ts';

export interface DecisionFacts extends SendFacts, ChangeFacts {
  files: SeenFiles;
  unfit: ReadonlyMap<string, Unfit>;
  /** Addresses to buy again. */
  redo: ReadonlySet<string>;
  priceOf?: PriceOf;
  postedAs?(fingerprint: string): string | undefined;
}

export interface Decision {
  action: Exclude<Action, 'blocked' | 'orphan'>;
  reason: Reason;
  purchase?: { generation: number; repeat: number };
  /** Unresolved create request to settle before any purchase. If this is set, `purchase` is omitted. */
  asks?: OpenSend;
  changedSince?: true;
}

export function decide(match: Match, facts: DecisionFacts): Decision {
  const posted = decidePost(match, facts);
  if (posted !== undefined) return posted; // I24
  const { purchase, record, step } = match;
  const failed = purchase?.state === 'failed';
  const redo = isRedone(step, facts.redo);
  const act = next(ownOpenSend(match, facts) ?? purchase, {
    ...facts,
    redo,
    isOpen: purchase !== undefined && record !== undefined && hasOpenSend(record.purchases, purchase),
    retries: failed ? retriesLeft(match) : undefined,
    price: failed ? (facts.priceOf?.(step.kind, step.request).credits ?? null) : null,
  });
  switch (act.do) {
    case 'create':
      if (act.refused === undefined) return decideUnbought(match, facts);
      return buy(match, 'create', reasonOf('refused', refusedBefore(act.refused, match)));
    case 'ask':
      return { action: 'create', reason: reasonOf('answer-lost', act.reason), asks: act.send };
    case 'hold':
      return { action: 'unresolved', reason: reasonOf(act.isKeyKnown ? 'key-known' : 'answer-lost', act.reason) };
    case 'collect':
      return collect(match, act.job, redo);
    case 'save':
      return decideDone(match, act.job, facts);
    case 'again':
      return buyAgain(match, act.job, redo);
    case 'end':
      return { action: 'failed', reason: jobFailed(act.job, `${failedText(act.job)}; ${noRetryText(match, act.why)}`) };
    default:
      return act satisfies never;
  }
}

const upToDate = Object.freeze(reasonOf('up-to-date', 'up to date'));
const notBought = Object.freeze(reasonOf('not-bought', 'not bought yet'));
const notPosted = Object.freeze(reasonOf('not-bought', 'not posted yet'));

function decideUnbought(match: Match, facts: DecisionFacts): Decision {
  if (match.sharesJobOf !== undefined) {
    return {
      action: 'download',
      reason: reasonOf('shared', `same request as ${match.sharesJobOf}: both steps share one job`),
    };
  }
  const jobs = match.record === undefined ? [] : countedPurchases(match.record).filter(isJob);
  // The output file on the disk belongs to the newest finished job, even if a later redo failed.
  const bought = jobs.find(({ state }) => state === 'done') ?? jobs[0];
  if (bought === undefined) {
    const { part } = match.step;
    const isForgotten = match.record?.purchases.some((purchase) => purchase.jobId !== undefined) === true;
    if (isForgotten) return buy(match, 'create', reasonOf('forgotten', 'the purchase was forgotten'));
    const plain = isPost(match.step.kind) ? notPosted : notBought;
    if (part === undefined || part.index === 0) return buy(match, 'create', plain);
    const neededIf = { of: part.of, parts: part.index + 1 };
    const text = `${plain.text}; needed if ${neededIf.of} has ${neededIf.parts} or more parts`;
    return buy(match, 'create', { ...plain, text, neededIf });
  }
  return buy(match, 'redo', changeReason('changed', { bought, match }, { facts }));
}

function collect(match: Match, { jobId, state }: Job, redo: boolean): Decision {
  if (state === 'lost') {
    const text = `the service had no record of job ${jobId}; apply checks once more (--redo buys the step again)`;
    return { action: 'attach', reason: reasonOf('job-lost', text) };
  }
  const then = redo ? '; apply collects this job first, and a later --redo buys a new job' : '';
  return { action: 'attach', reason: reasonOf('job-running', `job ${jobId} is running${movedFrom(match)}${then}`) };
}

function buyAgain(match: Match, job: Job, redo: boolean): Decision {
  if (job.state === 'done') return buy(match, 'redo', reasonOf('redo-asked', '--redo requests a new output'));
  const { attempts = 1 } = match.step.rules?.retry ?? {};
  const made = attempts - (retriesLeft(match)?.left ?? 0);
  const how = redo ? '--redo retries it' : `attempt ${made + 1} of ${attempts}`;
  return buy(match, 'retry', jobFailed(job, `${failedText(job)}; ${how}`));
}

function jobFailed({ jobId }: Pick<Purchase, 'jobId'>, text: string): Reason {
  return { ...reasonOf('job-failed', text), ...defined({ job: jobId }) };
}

function failedText(job: Job): string {
  return `job ${job.jobId} ${job.state}${because(job)}`;
}

function noRetryText({ step }: Match, why: RetryRefusal): string {
  const { retry } = step.rules ?? {};
  const reasons: { [why in RetryRefusal]: string } = {
    'open-send':
      'another create request of this step is unresolved, so this step buys nothing until that create request is resolved',
    'not-asked': '--redo buys the step again',
    prompt:
      'the service refused the prompt, and `retry` does not send the same prompt again (--redo buys the step again)',
    attempts: `all ${retry?.attempts} attempts allowed by \`retry\` were used (--redo buys the step again)`,
    credits: `the ${retry?.credits} credits allowed by \`retry\` are not enough for another attempt (--redo buys the step again)`,
  };
  return reasons[why];
}

function decideDone(match: Match, purchase: Job, facts: DecisionFacts): Decision {
  if (kinds[match.step.kind]?.media === 'none') {
    if (match.movedFrom === undefined) return { action: 'keep', reason: upToDate };
    return { action: 'move', reason: renamed(match.movedFrom) };
  }
  const outputs = purchase.outputs ?? [];
  const [first] = outputs;
  const isEmpty = purchase.outputs !== undefined && kinds[match.step.kind]?.parts !== undefined;
  if (first === undefined && isEmpty) return { action: 'keep', reason: reasonOf('no-output', 'the job has no output') };
  if (first === undefined)
    return { action: 'download', reason: reasonOf('not-saved', `paid, and not saved yet${movedFrom(match)}`) };
  const output = outputs.find((one) => facts.files.fileState(one) !== 'intact') ?? first;
  const state = facts.files.fileState(output);
  if (state === 'missing' && match.step.unpicked === true) {
    return { action: 'keep', reason: reasonOf('unpicked', 'not picked; the file is not on this machine') };
  }
  if (state !== 'intact') return decideMissing(match, purchase, { facts, outputs, output, state });
  if (match.movedFrom !== undefined) return { action: 'move', reason: renamed(match.movedFrom) };
  const displaced = outputs.find(({ path }, index) => withoutExtension(path) !== wantedPath(match.step, index));
  if (displaced !== undefined)
    return { action: 'move', reason: reasonOf('saved-elsewhere', `saved under a new name; was ${displaced.path}`) };
  return decideSaved(facts.unfit.get(match.step.address));
}

function decideMissing(
  match: Match,
  purchase: Job,
  lost: { facts: DecisionFacts; outputs: Output[]; output: Output; state: Exclude<FileState, 'intact'> },
): Decision {
  const { record, movedFrom: from } = match;
  const { facts, outputs, output, state } = lost;
  const { files } = facts;
  const isHere = outputs.every((one) => files.fileState(one) === 'intact' || files.isKept?.(one) === true);
  const action = isHere ? 'move' : 'download';
  const newest = record?.purchases[0];
  const isBack = newest !== undefined && (newest !== purchase || files.isReplaced?.(output) === true);
  if (isBack && from === undefined) {
    const how = isHere ? 'restored from the retained file' : 'downloaded again';
    return { action, reason: reasonOf('bought-before', `the same request was bought before; its output is ${how}`) };
  }
  const seen = describeLoss(output, state);
  const back = isHere
    ? '; the retained file is restored'
    : state === 'changed'
      ? '; the original is downloaded again'
      : '';
  const end = state === 'changed' ? `${back}, and your file is renamed (\`accept\` keeps your file instead)` : back;
  const code = state === 'changed' ? 'edited' : 'missing';
  return { action, reason: reasonOf(code, `paid; ${output.path} ${seen}${movedFrom(match)}${end}`) };
}

function describeLoss({ edited }: Output, state: Exclude<FileState, 'intact'>): string {
  if (state === 'changed') return 'differs from the file that was saved';
  return edited === true ? 'was edited by hand and is missing; the original is downloaded' : 'is missing';
}

function decideSaved(unfit: Unfit | undefined): Decision {
  if (unfit === undefined) return { action: 'keep', reason: upToDate };
  const text = `${unfitText(unfit)}; change \`expect\`, keep the file with \`accept\`, or buy the step again with --redo`;
  return { action: 'failed', reason: { ...reasonOf('unfit', text), unmet: unfit.unmet } };
}

function buy({ step, record }: Match, action: SpendingAction, reason: Reason): Decision {
  return { action, reason, purchase: nextPurchase(record?.purchases ?? [], step.fingerprint) };
}

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

/**
 * Decides about a post that was already sent. A change of its input, name or record never repeats the post. Returns
 * `undefined` if nothing was sent for this step.
 */
function decidePost(match: Match, facts: DecisionFacts): Decision | undefined {
  const { step, purchase, record, sharesJobOf } = match;
  if (!isPost(step.kind)) return undefined;
  const sends = record === undefined ? [] : sendsOf(record);
  // I24 (open)
  if (sends.some(isOpenSend)) {
    return {
      action: 'unresolved',
      reason: reasonOf(
        'answer-lost',
        'the answer to the create request was lost; only the social accounts show whether the post is published',
      ),
    };
  }
  const [posted] = sends;
  const own = posted ?? purchase ?? sharesJobOf;
  const other = own === undefined ? facts.postedAs?.(step.fingerprint) : undefined;
  if (posted === undefined && other === undefined) return undefined;
  if (isRedone(step, facts.redo)) {
    return buy(match, 'redo', reasonOf('redo-asked', '--redo requests a new post; the existing post stays online'));
  }
  if (posted === undefined) return { action: 'keep', reason: reasonOf('posted', `already posted as ${other}`) };
  if (purchase?.jobId !== undefined) return decideSame(match, purchase);
  return { action: 'keep', ...describePostChange(match, posted, facts) };
}

function decideSame({ movedFrom }: Match, purchase: Purchase): Decision | undefined {
  const { state, jobId } = purchase;
  if (state === 'failed') {
    const text = `job ${jobId} failed${because(purchase)}; only the social accounts show whether the post is published (--redo sends a new post)`;
    return { action: 'failed', reason: jobFailed({ jobId }, text) };
  }
  return state === 'done' && movedFrom === undefined
    ? { action: 'keep', reason: reasonOf('posted', 'posted') }
    : undefined;
}

function describePostChange(
  match: Match,
  posted: Purchase,
  facts: ChangeFacts,
): Pick<Decision, 'reason' | 'changedSince'> {
  if (posted.fingerprint === match.step.fingerprint) return { reason: reasonOf('posted', 'posted, then forgotten') };
  const { at } = targetOf(posted.request ?? {});
  const state = at === undefined ? 'posted' : `sent, for ${at}`;
  const notify = (change: string) => `${state}; changed since (${change})`;
  return { reason: changeReason('posted-changed', { bought: posted, match }, { facts, notify }), changedSince: true };
}
