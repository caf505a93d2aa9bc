/*
 * The application without a terminal: load, plan, approve, run, decide. `src/index.ts` exports it as the library.
 * Takes: the path of a manifest, options, and the values of environment variables.
 * Returns: plans, events and results of runs. Throws a `CampaignError` with the cause and a recovery step.
 * Independent of: command line, colours, exit codes, signals. No lower module combines disk, service and engine.
 */

import { systemClock } from '../contract/clock.ts';
import type { RunEvent } from '../contract/event.ts';
import { CampaignError, failureOf, orFailure } from '../contract/failure.ts';
import type { Notify } from '../contract/notice.ts';
import { outlineOf } from '../graph/graph.ts';
import { call, way } from '../ground/advice.ts';
import { Scope } from '../ground/scope.ts';
import { defined, messageOf } from '../ground/values.ts';
import { hasWork, publishes } from '../plan/actions.ts';
import { agreementOf } from '../plan/agreement.ts';
import { allowPosts, isBought, withholdPosts, withholdPurchases } from '../plan/consent.ts';
import type { Plan } from '../plan/plan.ts';
import { type CheckedGraph, renewFor } from './checked-graph.ts';
import { makePlan } from './make-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import {
  pickPlanningOptions,
  pickRunSettings,
  type RehearsalOptions,
  type RunSettings,
  wrongOptions,
} from './option-table.ts';
import { keepIndex } from './outputs-list.ts';
import { inspectOutputs } from './outputs-on-disk.ts';
import { checkedOf, type Planned } from './plan.ts';
import { agreeToMove, holdGuard } from './read-lock.ts';
import { refuseLostLock } from './restore-purchases.ts';
import type { ApplyTerms, Ending, Executor, LockedPlan, Observer, Running, RunResult } from './run.ts';
import { localExecutor } from './run-locally.ts';
import { recordRun } from './runs.ts';
import { chosenBy, limitToApproval, refuseStale, refuseUncovered } from './saved-plan.ts';
import { Session } from './session.ts';
import { noteUpToDate } from './up-to-date.ts';
import { verifyPosts } from './verify-posts.ts';

export interface ApplyOptions extends RunSettings, Pick<Ending, 'signal'> {
  on?: ((event: RunEvent) => void) | undefined;
  /** How long to wait, in ms, while another run has locked the campaign. Defaults to 0. */
  lockTimeoutMs?: number | undefined;
  /** Options of the embedded sandbox. Allowed only if the campaign was loaded with `sandbox: true`. */
  rehearsal?: RehearsalOptions | undefined;
}

/**
 * Runs a plan: creates its jobs, polls them, saves their files and updates the lock. Recovers jobs of an interrupted
 * run. If the plan is stale because other jobs are needed now, throws before anything is sent.
 */
export async function apply(planned: Planned, options: ApplyOptions = {}): Promise<RunResult> {
  const { campaign, redo, selected } = planned;
  if (options.rehearsal !== undefined && !campaign.sandbox) {
    const message = '`rehearsal` requires a campaign that was loaded with `sandbox`';
    throw wrongOptions(message, 'this campaign would spend real credits; nothing was sent', 'rehearsal');
  }
  const { lockTimeoutMs, rehearsal } = options;
  const agreement = agreementOf(planned.plan);
  const carryOut = async () => {
    const session = await ApplySession.open(campaign, checkedOf(campaign), {
      ...pickRunSettings(options),
      ...pickPlanningOptions(planned.options),
      ...{ lockTimeoutMs, rehearsal, agreement },
      chosen: { redo, ...defined({ selected }) },
    });
    try {
      const found = await session.plan();
      const running = 'watch' in found ? found : await session.start(agreeByCall(found.made, campaign, options));
      if ('result' in running) return running.result;
      return await session.watch(running, { on: listener(options.on, campaign.notify), signal: options.signal });
    } finally {
      await session.close();
    }
  };
  return orFailure(carryOut());
}

/** Returns the plan that a library call may run. If only a user can approve purchases, it only collects paid jobs. */
function agreeByCall(plan: Plan, { environment, file, sandbox }: OpenCampaign, { publish }: ApplyOptions): Plan {
  const { consent } = environment;
  if (sandbox || consent === undefined) return publish === true ? allowPosts(plan) : withholdPosts(plan);
  const collected = withholdPosts(withholdPurchases(plan)); // I43 (library)
  if (hasWork(collected) || !(plan.rows.some(isBought) || plan.rows.some(publishes))) return collected;
  throw new CampaignError({
    code: 'MB3007',
    message: `apply() bought and published nothing: ${consent}, and a library call does not count as approval`,
    hint: [
      way('save the plan', { ...call('plan', '--out', 'campaign.plan.json'), file }),
      way('have a user approve the plan on an interactive terminal', {
        ...call('approve', 'campaign.plan.json'),
        bare: true,
      }),
      way('then apply the approved plan', { ...call('apply', 'campaign.plan.json'), bare: true }),
    ],
    next: [],
  });
}

function listener(on: (event: RunEvent) => void = () => {}, notify: Notify): (event: RunEvent) => void {
  let isBroken = false;
  return (event) => {
    if (isBroken) return;
    const breakOff = (error: unknown) => {
      if (isBroken) return;
      isBroken = true;
      notify({
        is: 'notice',
        text: `events are no longer reported, because the event listener threw: ${messageOf(error)}`,
      });
    };
    try {
      // An async listener returns a promise, although its type is void.
      Promise.resolve(on(event)).catch(breakOff);
    } catch (error) {
      breakOff(error);
    }
  };
}

interface Means {
  campaign: OpenCampaign;
  terms: ApplyTerms;
  carrier: Executor;
  scope: Scope;
}

/**
 * One call of `apply`. Call the methods in this order: `open`, `plan`, `start`, `watch`, `close`. Holds the campaign's
 * lock from `plan` to `close`. If `plan` returns a run that is already open, call `watch` without `start`.
 */
export class ApplySession {
  readonly #means: Means;
  /** Set to `undefined` when the run starts, because the graph may need as much memory as the rest of the run. */
  #checked: CheckedGraph | undefined;
  #locked: LockedPlan | undefined;

  constructor(checked: CheckedGraph, means: Means) {
    this.#checked = checked;
    this.#means = means;
  }

  static async open(campaign: OpenCampaign, checked: CheckedGraph, terms: ApplyTerms): Promise<ApplySession> {
    const scope = new Scope();
    try {
      const { engine } = terms;
      const open = engine && (await import('./on-engine/run-on-engine.ts')).engineExecutor;
      const carrier = open
        ? await open(campaign, checked.graph, { terms: { ...terms, engine }, scope })
        : localExecutor(campaign, terms, scope);
      return new ApplySession(checked, { campaign, terms, carrier, scope });
    } catch (error) {
      await scope.close();
      throw error;
    }
  }

  get checked(): CheckedGraph {
    if (this.#checked === undefined) throw new Error('internal error: the run has started');
    return this.#checked;
  }

  async plan(): Promise<LockedPlan | Running> {
    const running = await this.#means.carrier.attach();
    if (running !== undefined) return running;
    try {
      this.#locked = await this.#lockAndPlan();
      return this.#locked;
    } catch (error) {
      // Existing outputs without a lock may belong to a run that another client started after the first `attach`.
      const begun = failureOf(error)?.code === 'MB3409' ? await this.#means.carrier.attach() : undefined;
      if (begun === undefined) throw error;
      return begun;
    }
  }

  async start(agreed: Plan): Promise<Running | { result: RunResult }> {
    const held = this.#locked;
    if (held === undefined) throw new Error('internal error: there is no plan');
    this.#checked = undefined;
    const running = await this.#means.carrier.start(agreed, held);
    if ('result' in running) await keepIndex(this.#means.campaign, held.index);
    return running;
  }

  async watch(running: Running, observer: Observer): Promise<RunResult> {
    const { campaign } = this.#means;
    const result = await (running.isWork ? recordRun(running, campaign, observer) : running.watch(observer));
    if (this.#locked !== undefined) {
      await campaign.seen.keep(this.#locked.finding);
      await keepIndex(campaign, this.#locked.index);
    }
    return result;
  }

  add(end: () => unknown): void {
    this.#means.scope.add(end);
  }

  async close(): Promise<void> {
    await this.#means.scope.close();
  }

  async #lockAndPlan(): Promise<LockedPlan> {
    const { campaign, terms, scope } = this.#means;
    const { lockTimeoutMs = 0, engine } = terms;
    const forEngine = engine !== undefined;
    const guard = await holdGuard(campaign.paths.lock, lockTimeoutMs, campaign.notify, { forEngine });
    try {
      const held = await this.#planLocked(guard);
      scope.add(() => guard.release());
      return held;
    } catch (error) {
      await guard.release();
      throw error;
    }
  }

  async #planLocked(guard: LockedPlan['guard']): Promise<LockedPlan> {
    const { campaign, terms, carrier } = this.#means;
    const { service, seen } = campaign;
    const { saved, askAboutMove, given, isAskedAgain, new: isNew } = terms;
    const agreement = isAskedAgain ? undefined : (terms.agreement ?? saved);
    const moved = { service, serviceMoved: askAboutMove !== undefined, new: isNew };
    const { loaded, lock } = await Session.open(campaign, { graph: this.checked.graph, ...moved });
    if (askAboutMove !== undefined) await agreeToMove(loaded, campaign, askAboutMove);
    const chosen = saved === undefined ? terms.chosen : chosenBy(saved, lock);
    const { limitThere } = carrier;
    const planOf = (checked: CheckedGraph, notifier: OpenCampaign) => {
      const session = new Session(notifier, checked.graph, loaded);
      return makePlan(session, checked, { ...terms, limitThere, chosen, isRun: true }); // I18
    };
    const first = this.checked;
    let planned = await planOf(first, campaign);
    const checked = (await renewFor(planned.plan, first, campaign)) ?? first;
    this.#checked = checked;
    // The notices of the first plan were already shown, so the second plan shows none.
    if (checked.graph !== first.graph) planned = await planOf(checked, { ...campaign, notify: () => {} });
    const { graph, facts, asked, byDocument, diagnostics } = checked;
    const { states, redo, selected, hints } = planned;
    const full = await verifyPosts(planned.plan, campaign, { checked, asks: true });
    await refuseLostLock(campaign, { loaded, graph, plan: full, isNew: isNew === true });
    if (saved !== undefined && !isAskedAgain) refuseStale(saved, { plan: full, graph, service });
    if (terms.agreement !== undefined) refuseUncovered(terms.agreement, full);
    const made = agreement === undefined ? full : limitToApproval(agreement, full, lock);
    // A service may ignore a misspelt request field and still charge, so the run reports the field.
    const misspelt = diagnostics.find(({ code, fix }) => code === 'MB1501' && fix !== undefined);
    // To detect that it has no work, a later run compares files and options, but not the OpenAPI document or warnings.
    // A run with an output list must write the list even if it has no other work.
    const isComparable = !byDocument && diagnostics.length === 0 && graph.index === undefined;
    const finding = isComparable ? noteUpToDate(made, { given, asked, loaded, states, seen }) : undefined;
    return {
      made,
      outline: outlineOf(graph),
      prices: graph.prices,
      ...{ loaded, facts, guard, finding },
      misspelt: campaign.sandbox ? undefined : misspelt?.message,
      ...defined({ index: graph.index }),
      ...(terms.review === true && {
        live: {
          ...{ agreement, graph, lock, redo, selected, hints, onUnknown: terms.onUnknown },
          means: {
            ...{ replays: campaign.replays, accountOf: campaign.accountOf, now: () => systemClock.now() },
            inspectOutputs: async (recorded) => (await inspectOutputs(recorded, campaign)).facts,
          },
        },
      }),
    };
  }
}
