import type { RunEvent, RunFact } from '../contract/event.ts';
import type { ReviewData, WantedVerdict } from '../contract/review.ts';
import type { LocalGate } from '../engine/create-gate.ts';
import { type Drive, reportSkipped } from '../engine/drive.ts';
import type { LocalLedger } from '../engine/local-ledger.ts';
import type { Graph } from '../graph/graph.ts';
import { Condition } from '../ground/condition.ts';
import { defined, messageOf } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import { type Agreement, agreementOf, covers, holdToCeilings } from '../plan/agreement.ts';
import { assemblePlan, type OutputToCheck, outputsToCheck } from '../plan/assemble.ts';
import type { Ruling } from '../plan/decisions/ruling.ts';
import { type Added, findAdded, findDropped, waitingRows, withAdded } from '../plan/gates/add-to-run.ts';
import { type Plan, type PlanRow, rowId, type StepOrder } from '../plan/plan.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import { type Situation, situate, withFiles } from '../plan/situation/situation.ts';
import { gatesToDecide } from '../plan/situation/verdicts.ts';
import { countOf } from '../report/numbers.ts';
import { createRunView, foldEvent } from '../report/run/run-view.ts';
import { progressText } from '../report/run/run-words.ts';
import { ruleOn } from './decisions/judge.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { OutputFacts } from './outputs-on-disk.ts';

type RunState = NonNullable<ReviewData['run']>['is'];

export interface LiveRunOptions {
  agreed: Plan;
  agreement?: Agreement | undefined;
  graph: Graph;
  lock: Lock;
  redo: ReadonlySet<string>;
  selected?: ReadonlySet<string> | undefined;
  hints: PriceHints;
  onUnknown?: 'ask' | 'hold' | undefined;
  means: Pick<OpenCampaign, 'replays' | 'accountOf'> & {
    now(): number;
    inspectOutputs(recorded: readonly OutputToCheck[]): Promise<OutputFacts>;
  };
}

interface Execution {
  ledger: Pick<LocalLedger, 'lock' | 'decide'>;
  gate: Pick<LocalGate, 'stopped' | 'stop'>;
  driven: Drive;
  signal: AbortSignal;
  emit(fact: RunFact): void;
}

/**
 * A run with open gates. Records review decisions, and creates the planned steps behind a gate once the gate is
 * decided. Waits for decisions when no other step can run.
 */
export class LiveRun {
  readonly #options: LiveRunOptions;
  readonly #agreements: readonly Agreement[];
  readonly #agreed: ReadonlyMap<string, PlanRow>;
  readonly #added = new Map<string, PlanRow>();
  readonly #dropped = new Set<string>();
  readonly #listeners = new Set<() => void>();
  readonly #reported = new Set<string>();
  readonly #view = createRunView();
  #execution: Execution | undefined;
  #is: RunState = 'running';
  #gates = 0;
  #now: { plan: Plan; situation: Situation } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #carriedOut: Plan | undefined;
  #isReplanQueued = false;
  #isStopRequested = false;
  #hasOutdated = false;
  #failure: { error: unknown } | undefined;
  readonly #changes = new Condition();

  constructor(options: LiveRunOptions) {
    this.#options = options;
    this.#agreements = [agreementOf(options.agreed), options.agreement ?? []].flat();
    this.#agreed = new Map(options.agreed.rows.map((row) => [rowId(row), row]));
  }

  begin(works: Execution): void {
    this.#execution = works;
    works.signal.addEventListener('abort', () => this.#changes.notify(), { once: true });
  }

  state() {
    const { graph, lock, selected, agreed } = this.#options;
    const { rows } = this.#now?.plan ?? agreed;
    return {
      ...{ graph, rows, selected, is: this.#is, gates: this.#gates },
      lock: this.#execution?.ledger.lock ?? lock,
      progress: progressText(this.#view, { isOver: this.#is === 'ended' }),
      spent: this.#view.money.spentNow,
    };
  }

  note(event: RunEvent): void {
    foldEvent(this.#view, event);
    this.#notifyListeners();
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Writes review decisions to disk, in order. `over`: the run had already ended, so nothing was recorded. */
  judge(verdicts: readonly WantedVerdict[]): Promise<Ruling[] | 'over'> {
    return this.#queue(async () => {
      if (this.#execution === undefined || this.#is === 'ended') return 'over';
      const { ledger, emit } = this.#execution;
      // The decision is made on a copy of the lock, because it must not take effect before it is on disk.
      const lock = { ...ledger.lock, steps: new Map(ledger.lock.steps) };
      const rulings = ruleOn(verdicts, situate(this.#options.graph, lock));
      await ledger.decide(rulings.flatMap((ruling) => (ruling.is === 'recorded' ? ruling.records : [])));
      for (const [index, { is }] of rulings.entries()) {
        const verdict = verdicts[index];
        if (is !== 'recorded' || verdict === undefined) continue;
        emit({ event: 'output-judged', address: verdict.address, is: verdict.is, jobId: verdict.job });
      }
      this.#scheduleReplan();
      return rulings;
    });
  }

  /** Resolves with `true` when steps can run, or with `false` when no open gate is left or the run must stop. */
  async waitForWork(): Promise<boolean> {
    this.#scheduleReplan();
    for (;;) {
      await this.#queueDrained();
      if (this.#failure !== undefined) throw this.#failure.error;
      const { driven, gate, signal, emit } = this.#requireExecution();
      if (driven.underWay > 0) {
        this.#setState('running', 0);
        return true;
      }
      const now = this.#now;
      const isOver = this.#isStopRequested || signal.aborted || gate.stopped !== undefined || now === undefined;
      const gates = isOver ? [] : gatesToDecide(now.plan, now.situation);
      if (gates.length === 0) {
        this.#setState('ended', this.#isStopRequested ? this.#gates : 0);
        return false;
      }
      const isNews = gates.length !== this.#gates;
      this.#setState('waiting', gates.length);
      if (isNews) emit({ event: 'picks-awaited', gates: gates.length, steps: now ? waitingRows(now.plan).size : 0 });
      await this.#changes.changed();
    }
  }

  stopWaiting(): boolean {
    // If the last decision released steps, the run does not wait: the steps are already running.
    if (this.#is !== 'waiting' || this.#isStopRequested || this.#requireExecution().driven.underWay > 0) return false;
    this.#isStopRequested = true;
    this.#changes.notify();
    return true;
  }

  get needsPeople(): boolean {
    return (this.#isStopRequested && this.#gates > 0) || this.#hasOutdated;
  }

  async close(): Promise<void> {
    await this.#queueDrained();
    this.#setState('ended', this.#gates);
  }

  get latest(): Pick<Plan, 'rows' | 'concurrency' | 'gates'> {
    const { agreed } = this.#options;
    const rows = [...agreed.rows.filter(({ address }) => !this.#dropped.has(address)), ...this.#added.values()];
    return { ...agreed, ...this.#now?.plan, concurrency: agreed.concurrency, rows };
  }

  get carriedOut(): Plan | undefined {
    return this.#carriedOut;
  }

  async end(): Promise<Plan> {
    await this.close();
    const { agreed } = this.#options;
    const { driven, emit } = this.#requireExecution();
    const now = await this.#plan();
    this.#now = now;
    const took = new Map([...this.#added].filter(([address]) => driven.endOf(address) !== undefined));
    const found = this.#find(now.plan);
    this.#hasOutdated = found.outdated.length > 0;
    const unwanted = this.#findUnwanted(now.plan);
    const plan = withAdded(agreed, now.plan, { found, took, unwanted });
    this.#carriedOut = plan;
    this.#reportDropped(unwanted);
    for (const row of plan.rows) {
      const id = rowId(row);
      const waited = this.#agreed.get(id)?.blockedBy === 'gate' && row.blockedBy !== 'gate';
      if (!unwanted.has(id) && (!waited || took.has(id))) continue;
      reportSkipped(row, { emit });
    }
    return plan;
  }

  #requireExecution(): Execution {
    if (this.#execution === undefined) throw new Error('internal error: the run has not begun');
    return this.#execution;
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined).then(() => this.#changes.notify());
    return done;
  }

  async #queueDrained(): Promise<void> {
    let last: unknown;
    while (last !== this.#last) {
      last = this.#last;
      await last;
    }
  }

  #scheduleReplan(): void {
    if (this.#isReplanQueued) return;
    this.#isReplanQueued = true;
    const looked = this.#queue(async () => {
      this.#isReplanQueued = false;
      await this.#replan();
    });
    looked.catch((error: unknown) => {
      this.#failure ??= { error };
      this.#execution?.gate.stop('error', messageOf(error));
    });
  }

  /** Plans again with the lock of the run. Ignores the manifest's budget: the run enforces the approved limit. */
  async #plan(): Promise<{ plan: Plan; situation: Situation }> {
    const { means, graph, agreed, agreement, selected, hints, onUnknown } = this.#options;
    const { lock } = this.#requireExecution().ledger;
    const redo = this.#redo();
    const waiting = waitingRows(agreed);
    const orders = agreed.rows.flatMap(({ address, order }) => (order ? [address] : []));
    const underWay = new Set([...orders, ...this.#added.keys()]);
    const look = () => situate({ ...graph, budget: undefined }, lock, { redo, selected, underWay });
    const first = look();
    // Checks the output files of canaries: a canary that meets `expect` releases the steps that wait for it.
    const goFirst = new Set((graph.canaries ?? []).flatMap(({ members }) => members));
    const matters = ({ step }: Match) => waiting.has(step.address) || goFirst.has(step.address);
    const recorded = outputsToCheck(first.matches.filter(matters));
    const facts = await means.inspectOutputs(recorded);
    // The run may have changed the lock while the output files were read.
    const situation = recorded.length === 0 ? first : look();
    const looked = new Set(recorded.map(({ output }) => output.path));
    const plan = assemblePlan({
      situation: withFiles(situation, {
        ...facts,
        fileState: (output) => (looked.has(output.path) ? facts.fileState(output) : 'intact'),
      }),
      hints,
      replays: means.replays,
      accountOf: means.accountOf,
      now: means.now(),
      concurrency: agreed.concurrency,
      ...defined({ onUnknown }),
    });
    return { plan: agreement === undefined ? plan : holdToCeilings(agreement, plan), situation };
  }

  async #replan(): Promise<void> {
    const { driven, signal, gate } = this.#requireExecution();
    if (this.#is === 'ended' || signal.aborted || gate.stopped !== undefined) return;
    const now = await this.#plan();
    this.#now = now;
    // After a stop, no create request is sent, but decisions are still recorded.
    if (this.#isStopRequested) return;
    const found = this.#find(now.plan);
    for (const address of this.#added.keys()) if (driven.begun(address) === undefined) this.#added.delete(address);
    for (const row of found.rows) this.#added.set(row.address, row);
    const unwanted = this.#findUnwanted(now.plan);
    for (const address of unwanted) this.#dropped.add(address);
    driven.mergeOrders(
      [...this.#ordersToRestore(unwanted), ...found.rows.flatMap(({ order }) => order ?? [])],
      unwanted,
    );
    this.#reportSkipped(found);
    this.#notifyListeners();
  }

  #findUnwanted(now: Plan): Set<string> {
    const { driven } = this.#requireExecution();
    const isOver = (address: string) => driven.begun(address) !== undefined || driven.endOf(address) !== undefined;
    return findDropped(this.#options.agreed, now, isOver);
  }

  #ordersToRestore(unwanted: ReadonlySet<string>): StepOrder[] {
    const again = this.#options.agreed.rows.filter(
      ({ address }) => this.#dropped.has(address) && !unwanted.has(address),
    );
    return again.flatMap(({ order }) => order ?? []);
  }

  #find(now: Plan): Added {
    const { driven } = this.#requireExecution();
    return findAdded(this.#options.agreed, now, {
      covers: (row) => this.#agreements.every((one) => covers(one, row)),
      begun: (address) => driven.begun(address),
      makes: ({ address, fingerprint }) => {
        const own = driven.begun(address) ?? this.#agreed.get(address)?.order;
        const outcome = driven.endOf(address)?.outcome ?? 'done';
        return own?.fingerprint === fingerprint && (outcome === 'done' || outcome === 'unneeded');
      },
    });
  }

  #redo(): ReadonlySet<string> {
    const { redo } = this.#options;
    const isRedone = (address: string) => this.#execution?.driven.endOf(address)?.outcome === 'done';
    return redo.size === 0 ? redo : new Set([...redo].filter((address) => !isRedone(address)));
  }

  #reportSkipped({ outdated, left }: Added): void {
    for (const { address, credits } of outdated) {
      const price = credits === null ? '' : ` for ${countOf(credits, 'credit')}`;
      this.#notice(
        address,
        `its input is no longer picked; the current output stays, and the next run creates this step again${price}`,
      );
    }
    for (const { address, blockedBy, reason } of left) {
      if (blockedBy === 'budget') this.#notice(address, `is skipped in this run: ${reason.text}`);
    }
  }

  #reportDropped(unwanted: ReadonlySet<string>): void {
    const [first, ...others] = unwanted;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` (and ${countOf(others.length, 'more step')})`;
    this.#notice(first, `is skipped${more}: its input is no longer picked; run plan to see what changes`);
  }

  #notice(address: string, message: string): void {
    const text = `${address} ${message}`;
    if (this.#reported.has(text)) return;
    this.#reported.add(text);
    this.#execution?.emit({ event: 'noticed', address, message });
  }

  #setState(is: RunState, gates: number): void {
    const isNews = this.#is !== is || this.#gates !== gates;
    this.#is = is;
    this.#gates = gates;
    if (isNews) this.#notifyListeners();
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}
