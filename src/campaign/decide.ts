import { systemClock } from '../contract/clock.ts';
import { LockChangedError } from '../contract/errors.ts';
import { CampaignError, orFailure } from '../contract/failure.ts';
import { openPurchases } from '../disk/state/purchase-journal.ts';
import { type Graph, outlineOf } from '../graph/graph.ts';
import { defined } from '../ground/values.ts';
import { isFreelyRepeated } from '../kinds/index.ts';
import { joinInto } from '../lock/join.ts';
import type { LockLine, StepRecord } from '../lock/record.ts';
import { writeLines } from '../lock/write.ts';
import type { Ruling } from '../plan/decisions/ruling.ts';
import { withoutMovedAway } from '../plan/rows/orphans.ts';
import { countOf } from '../report/numbers.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { shownPath } from './paths.ts';
import { type Answer, openLoadedLock } from './read-lock.ts';
import { findLoss, nameOfPurchases, refuseRestored } from './restore-purchases.ts';
import { type HoldTerms, Session } from './session.ts';

export interface DecideOptions extends Omit<HoldTerms, 'service'> {
  /** Asks the user before decisions are recorded: they are recorded only on `yes`. Defaults to `yes`. */
  confirm?: ((rulings: readonly Ruling[]) => Promise<Answer>) | undefined;
}

/** `journaled`: recorded only in the purchase journal, because the lock was lost: a new lock would be incomplete. */
export type Decided = { is: 'recorded' | 'journaled' | 'dry run'; rulings: Ruling[] } | { is: 'no' | 'interrupted' };

type Rule = (session: Session) => Promise<Ruling[]> | Ruling[];

/** Locks the campaign, calls `rule`, and records the decisions that `rule` returns. `service`: set if they add jobs. */
export function decide(
  campaign: OpenCampaign,
  options: DecideOptions & Pick<HoldTerms, 'service'>,
  rule: Rule,
): Promise<Decided> {
  const { dryRun, confirm } = options;
  const decided = Session.withLock(campaign, options, async (session): Promise<Decided> => {
    const rulings = await rule(session);
    const isRecorded = rulings.some(({ is }) => is === 'recorded');
    if (isRecorded && options.service === undefined) refuseRestored(campaign, session.loaded);
    if (!isRecorded) requireRulings(rulings);
    if (dryRun === true) return { is: 'dry run', rulings };
    if (!isRecorded) return { is: 'recorded', rulings };
    const agreed = await (confirm?.(rulings) ?? 'yes');
    if (agreed !== 'yes') return { is: agreed };
    return { is: await record(rulings, session, { adopts: options.service !== undefined }), rulings };
  });
  return orFailure(decided);
}

function requireRulings(rulings: readonly Ruling[]): void {
  const [first, ...others] = rulings.filter(({ is }) => is === 'refused');
  if (first?.is !== 'refused' || rulings.some(({ is }) => is === 'unchanged')) return;
  const more = others.length > 0 ? ` (and ${countOf(others.length, 'more step')})` : '';
  throw new CampaignError({
    code: 'MB3005',
    message: `${first.address} ${first.text}${more}`,
    hint: first.hint,
    addresses: [first, ...others].map(({ address }) => address),
  });
}

async function record(
  rulings: readonly Ruling[],
  session: Session,
  { adopts }: { adopts: boolean },
): Promise<'recorded' | 'journaled'> {
  const { campaign, graph, loaded } = session;
  const { lock } = loaded;
  const path = campaign.paths.lock;
  const records = rulings.flatMap((ruling) => (ruling.is === 'recorded' ? ruling.records : []));
  const loss = adopts ? await findLoss(campaign, { graph, loaded, isNew: false }, records) : undefined; // I40 (adopted)
  if (loss !== undefined && !campaign.sandbox) {
    if (!(await noteInJournal(campaign, graph, records))) throw withoutJournal(path, loss); // I40 (no journal)
    const text = `the purchases are recorded in the purchase journal of this machine, not in the lock: ${loss.message}`;
    campaign.notify({ is: 'notice', code: 'MB3409', text, hint: loss.hint });
    return 'journaled';
  }
  for (const one of records) joinInto(lock.steps, one);
  const file = await openLoadedLock(path, loaded);
  try {
    await file.replace(writeLines(withoutMovedAway(lock, outlineOf(graph))));
    await noteInJournal(campaign, graph, records);
    return 'recorded';
  } catch (error) {
    throw error instanceof LockChangedError ? changedMeanwhile(path) : error;
  } finally {
    await file.close();
  }
}

function withoutJournal(lock: string, { message, jobs, files }: NonNullable<Awaited<ReturnType<typeof findLoss>>>) {
  return new CampaignError({
    code: 'MB3409',
    message: `the jobs cannot be recorded: this machine has no writable purchase journal, and a new lock with only these jobs would look complete: ${message}`,
    hint: 'set XDG_STATE_HOME to a folder outside of any working tree, then run the command again',
    ...{ lock: shownPath(lock), jobs, files },
  });
}

async function noteInJournal(campaign: OpenCampaign, graph: Graph, records: readonly StepRecord[]): Promise<boolean> {
  const name = nameOfPurchases(campaign, graph.name);
  // A decision spends no credits. It ends the reservation of its create request in the user's spending ledger.
  const spending = { limits: {}, lock: campaign.paths.lock };
  const journal = name === undefined ? undefined : await openPurchases(name, { clock: systemClock, spending });
  if (journal === undefined) return false;
  try {
    for (const one of records) for (const line of purchaseLines(one)) await journal.add(line);
    return true;
  } finally {
    await journal.close();
  }
}

function* purchaseLines({ address, kind: own, purchases, decisions, closes }: StepRecord): Generator<LockLine> {
  const sends = decisions?.sends;
  for (const { kind = own, ...purchase } of purchases) {
    if (isFreelyRepeated(kind)) continue;
    const line: LockLine = { address, kind, ...purchase };
    yield { ...line, ...defined({ closes, decisions: sends && { sends } }) };
  }
}

export function changedMeanwhile(lock: string): CampaignError {
  return new CampaignError({
    code: 'MB3402',
    message: 'the lock was changed by another program at the same time, so nothing was recorded',
    hint: 'run the command again',
    lock,
  });
}
