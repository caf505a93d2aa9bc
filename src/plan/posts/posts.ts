import type { Purchase } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import type { ChangeFacts } from '../compare/changes.ts';
import type { Reason } from '../plan.generated.ts';
import { nextPurchase } from '../purchases/key.ts';
import { jobFailed, reasonOf, tellChanges } from '../reason.ts';
import type { Match } from '../situation/find-purchases.ts';
import { targetOf } from './post-accounts.ts';
import { isPost, sendsOf } from './post-record.ts';

interface PostDecision {
  action: 'keep' | 'redo' | 'failed' | 'unresolved';
  reason: Reason;
  purchase?: { generation: number; repeat: number };
  /** The post was published and its input has changed since. What is online stays as it is. */
  changedSince?: true;
}

/**
 * Sends a post at most once, even if its input, name or record changes. Returns `undefined` when nothing was ever sent
 * from this step, or when the remaining work sends nothing. `redo`: a user named exactly this address.
 */
export function decidePost(
  match: Match,
  facts: ChangeFacts & { redo: boolean; postedAs?(fingerprint: string): string | undefined },
): PostDecision | undefined {
  const { step, purchase, record, sharesJobOf } = match;
  if (!isPost(step.kind)) return undefined;
  const sends = record === undefined ? [] : sendsOf(record);
  // I24
  if (sends.some(isOpenSend)) {
    return {
      action: 'unresolved',
      reason: reasonOf('answer-lost', 'the answer to its create was lost; only its accounts show whether it is out'),
    };
  }
  const [posted] = sends;
  const own = posted ?? purchase ?? sharesJobOf;
  const other = own === undefined ? facts.postedAs?.(step.fingerprint) : undefined;
  if (posted === undefined && other === undefined) return undefined;
  if (facts.redo) {
    return {
      action: 'redo',
      reason: reasonOf('redo-asked', '--redo asks for another; what is online stays'),
      purchase: nextPurchase(record?.purchases ?? [], step.fingerprint),
    };
  }
  if (posted === undefined) return { action: 'keep', reason: reasonOf('posted', `posted as ${other} before`) };
  if (purchase?.jobId !== undefined) return decideSame(match, purchase);
  return { action: 'keep', ...describeChange(match, posted, facts) };
}

function decideSame({ movedFrom }: Match, { state, jobId, error }: Purchase): PostDecision | undefined {
  if (state === 'failed') {
    const because = error === undefined ? '' : `: ${error.replace(/\.$/, '')}`;
    const text = `job ${jobId} failed${because}; only its accounts show whether it is out (--redo sends another)`;
    return { action: 'failed', reason: jobFailed({ jobId }, text) };
  }
  return state === 'done' && movedFrom === undefined
    ? { action: 'keep', reason: reasonOf('posted', 'posted') }
    : undefined;
}

function describeChange(
  match: Match,
  posted: Purchase,
  facts: ChangeFacts,
): Pick<PostDecision, 'reason' | 'changedSince'> {
  if (posted.fingerprint === match.step.fingerprint)
    return { reason: reasonOf('posted', 'posted, and forgotten since') };
  const { at } = targetOf(posted.request ?? {});
  const state = at === undefined ? 'posted' : `sent, for ${at}`;
  const tell = (change: string) => `${state}; changed since (${change})`;
  return { reason: tellChanges('posted-changed', { bought: posted, match }, { facts, tell }), changedSince: true };
}

/** Returns the state of a post that was sent under this address; `undefined` when its own purchase has the state. */
export function stateOfPost({ step, record, purchase }: Match): 'done' | 'changed' | 'unresolved' | undefined {
  if (record === undefined || !isPost(step.kind)) return undefined;
  const sends = sendsOf(record);
  if (sends.some(isOpenSend)) return 'unresolved';
  const [posted] = sends;
  if (posted === undefined || purchase?.jobId !== undefined) return undefined;
  return posted.fingerprint === step.fingerprint ? 'done' : 'changed';
}
