import { refuseUncovered } from '../campaign/apply.ts';
import type { Yes } from '../campaign/approvals.ts';
import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { nameOfPerson } from '../campaign/person.ts';
import { planFromLock } from '../campaign/plan.ts';
import { systemClock } from '../contract/clock.ts';
import { CampaignError, failureOf } from '../contract/failure.ts';
import type { OthersAnswer, OthersDesk } from '../contract/review.ts';
import { digestOf } from '../disk/outputs/hash-file.ts';
import { call } from '../ground/advice.ts';
import { publishes } from '../plan/actions.ts';
import { type Agreement, agreementOf, namedBy } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import { withholdPosts } from '../plan/posts/post-consent.ts';
import { shareOf } from '../plan/prices/ceiling.ts';
import { isBought } from '../plan/prices/spend-consent.ts';
import { situate } from '../plan/situation/situation.ts';
import { planText } from '../report/plan/plan-text.ts';
import { makeStyle } from '../report/style.ts';
import { programIn } from './consent.ts';
import type { ApplyOptions } from './open.ts';
import { shownWidth, subjectOf } from './saved-plans.ts';
import type { Terminal } from './terminal.ts';

/** Others that a person had bought on the page: how the run that buys them is called, and what they said yes to. */
export interface AgreedOthers {
  /** Digest of what was shown. */
  digest: string;
  campaign: string;
  /** Name of the gate. */
  group: string;
  options: ApplyOptions;
  yes: Yes;
  /** Throws where a plan of the next run would buy anything else, or leave anything of it, or somebody has decided otherwise. */
  agreement: Agreement;
  verify(plan: Plan, written: Written): void;
}

/** The manifest, and what its lock says. */
type Written = Pick<ReturnType<LiveRun['state']>, 'graph' | 'lock'>;

interface DeskContext {
  campaign: OpenCampaign;
  options: ApplyOptions;
  terminal: Terminal;
  live: LiveRun;
}

type No = Extract<OthersAnswer, { is: 'no' }>;
type Offer = Extract<OthersAnswer, { is: 'offer' }>;

/**
 * Whether others may be bought on the page of this run: where a program may have started it, it would know the address, and could
 * press the button itself; and one document on stdout, or one file of events, tells of one run.
 */
export function mayBuyOthers(
  { json, events }: ApplyOptions,
  { interactive }: Terminal,
  env: NodeJS.ProcessEnv,
): boolean {
  return interactive && programIn(env) === undefined && json !== true && events === undefined;
}

/** Where a person has others bought at the gates of one run. It ends for that, and the next one buys them. */
export class RunOthersDesk implements OthersDesk {
  readonly #context: DeskContext;
  readonly #onAgreed: (others: AgreedOthers) => void;
  /** Groups that were priced here, by the digest of what was shown. */
  readonly #shown = new Map<string, string>();
  /** Digests that were agreed to in earlier runs of this page. */
  readonly #before: ReadonlySet<string>;
  #agreed: { digest: string; group: string } | undefined;

  constructor(
    context: DeskContext,
    { before, onAgreed }: { before: ReadonlySet<string>; onAgreed: (others: AgreedOthers) => void },
  ) {
    this.#context = context;
    this.#before = before;
    this.#onAgreed = onAgreed;
  }

  async price(group: string): Promise<OthersAnswer | { is: 'agreed'; text: string }> {
    if (this.#agreed?.group === group) return agreedTo(group);
    const priced = await priceOthers(group, this.#context);
    if (priced.is === 'no') return priced;
    this.#shown.set(priced.offer.digest, group);
    return priced.offer;
  }

  async agree(digest: string): Promise<{ is: 'agreed' | 'no'; text: string }> {
    const group = this.#shown.get(digest);
    if (group === undefined) {
      const isTaken = this.#before.has(digest);
      return refused(isTaken ? 'the yes to this was taken before' : 'this was not shown by the run that is here now');
    }
    const by = await nameOfPerson(this.#context.campaign.paths.folder);
    const now = await priceOthers(group, this.#context);
    // Said twice, or somebody else was quicker.
    if (this.#agreed?.digest === digest) return agreedTo(group);
    if (this.#agreed !== undefined) return refused(`others of ${this.#agreed.group} are bought first; ask again then`);
    if (now.is === 'no') return refused(now.text);
    const { offer, redo, options, agreement } = now;
    // A verdict may have come in while it was priced.
    const { graph, lock } = this.#context.live.state();
    const why = whyOtherwise(group, redo, { graph, lock });
    if (offer.digest !== digest || why !== undefined) return refused('it is not what was shown any more; look again');
    if (!this.#context.live.stopWaiting()) return refused(busy);
    this.#agreed = { digest, group };
    const yes = { by, at: new Date(systemClock.now()).toISOString(), what: `${offer.what}, for others of ${group}` };
    const verify: AgreedOthers['verify'] = (plan, written) => {
      refuseUncovered(agreement, plan);
      const text = whyOtherwise(group, redo, written) ?? whyNot(plan, new Set(redo));
      if (text !== undefined) throw staleOthers(text);
    };
    this.#onAgreed({ digest, campaign: graph.name, group, options, agreement, yes, verify });
    return agreedTo(group);
  }
}

function agreedTo(group: string): { is: 'agreed'; text: string } {
  return { is: 'agreed', text: `others of ${group} are bought now` };
}

function staleOthers(text: string): CampaignError {
  const hint = 'look again; nothing more was spent';
  return new CampaignError({ code: 'MB3102', message: `the plan is stale: ${text}`, hint });
}

function refused(why: string): { is: 'no'; text: string } {
  return { is: 'no', text: `nothing more was bought: ${why}` };
}

const busy = 'jobs of this run are still under way; ask again when it waits at its gates';

/** Steps that others are bought for: those that people rejected. Undefined: the group has something left to pick. */
function rejectedOf(group: string, { graph, lock }: Written): string[] | undefined {
  const { graph: decided, byAddress, verdicts } = situate(graph, lock);
  const gate = decided.gates.find(({ name }) => name === group);
  if (gate?.state.is !== 'rejected') return undefined;
  if (gate.is === 'canary') return gate.members.slice(0, 1);
  // What is picked, or was not looked at, is paid, too.
  return gate.members.filter((address) => {
    const match = byAddress.get(address);
    return match !== undefined && verdicts.seen(match) === 'rejected';
  });
}

/** Says what people have decided otherwise since a yes to others for these steps. Undefined: nothing. */
function whyOtherwise(group: string, redo: readonly string[], written: Written): string | undefined {
  const now = rejectedOf(group, written);
  if (now === undefined) return `${group} has something left to pick`;
  const isSame = now.length === redo.length && now.every((address, index) => address === redo[index]);
  return isSame ? undefined : `of ${group} others are rejected by now`;
}

/** The plan for other takes, by the current state, that a yes would agree to; or the reason why the page cannot offer it. */
async function priceOthers(
  group: string,
  context: DeskContext,
): Promise<{ is: 'priced'; offer: Offer; redo: readonly string[]; options: ApplyOptions; agreement: Agreement } | No> {
  const { campaign, live } = context;
  const no = (text: string): No => ({ is: 'no', text, command: redoing(group, context) });
  const { is, graph, lock, spent } = live.state();
  if (is === 'ended') return no('the run has ended');
  if (is !== 'waiting') return no(busy);
  const redo = rejectedOf(group, { graph, lock });
  if (redo === undefined) return no(`${group} has something left to pick`);
  const options = optionsOf(context.options, { redo, spent });
  const quiet = { ...campaign, tell: () => undefined };
  const made = await planFromLock(quiet, lock, options).catch((error: unknown) => {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return failure.message;
  });
  if (typeof made === 'string') return no(made);
  const plan = options.publish === true ? made : withholdPosts(made);
  const why = whyNot(plan, new Set(redo));
  if (why !== undefined) return no(why);
  const now = systemClock.now();
  const what = subjectOf(plan, now) ?? '';
  const shown = { style: makeStyle(false), width: shownWidth, all: options.all === true };
  const text = planText(plan, { ...shown, isRehearsal: campaign.sandbox, now });
  return {
    is: 'priced',
    offer: { is: 'offer', digest: digestOfPlan(plan, what), text, what },
    redo,
    options,
    agreement: agreementOf(made),
  };
}

/** The options of the run that follows. What one run was capped at holds for both together, and a lock is new only once. */
function optionsOf(options: ApplyOptions, { redo, spent }: { redo: string[]; spent: number }): ApplyOptions {
  const { new: _new, maxCredits, ...others } = options;
  return { ...others, redo, ...(maxCredits !== undefined && { maxCredits: Math.max(0, maxCredits - spent) }) };
}

/** Says why not all of what was rejected would be bought anew at a price that is known. Undefined: it would. */
function whyNot({ rows }: Plan, redo: ReadonlySet<string>): string | undefined {
  const own = rows.filter(({ address }) => redo.has(address));
  const left = own.find((row) => !isBought(row) || publishes(row));
  if (left !== undefined) return `${left.address}: ${left.reason.text}`;
  if (own.length < redo.size) return 'the manifest has other steps by now';
  const unpriced = rows.find((row) => isBought(row) && shareOf(row.price ?? { credits: row.credits }) === undefined);
  return unpriced && `nobody knows what ${unpriced.address} costs before it is bought`;
}

/** Digest of everything that a yes agrees to: the purchases, their prices, and what may follow. */
function digestOfPlan(plan: Plan, what: string): string {
  const { toSpend, ceiling = toSpend } = plan.totals;
  const prices = plan.rows.map(({ address, action, credits, wouldCost, price }) => [
    ...[address, action, credits, wouldCost ?? null],
    ...[price?.likely ?? null, price?.high ?? null],
  ]);
  return digestOf(Buffer.from(JSON.stringify([namedBy(plan), ceiling, what, prices]))).sha256;
}

function redoing(group: string, { terminal, live }: DeskContext): string {
  const { graph, lock } = live.state();
  const gate = situate(graph, lock).graph.gates.find(({ name }) => name === group);
  // As words of `--redo` the name of such a gate, `canary of hero`, would be all of `hero`.
  const named = gate?.is === 'canary' ? (gate.members[0] ?? group) : group;
  return terminal.paste(call('apply', '--redo', named));
}
