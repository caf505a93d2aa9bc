import { LiveRun } from '../../src/campaign/live-run.ts';
import { runPlan } from '../../src/campaign/run-locally.ts';
import type { RunEvent, RunFact, StepOutcome } from '../../src/contract/event.ts';
import type { PurchaseJournal } from '../../src/contract/ports.ts';
import { localOutputs } from '../../src/disk/outputs/outputs.ts';
import type { LocalGate } from '../../src/engine/create-gate.ts';
import type { LocalLedger } from '../../src/engine/local-ledger.ts';
import { buildGraph } from '../../src/graph/build.ts';
import { type Graph, outlineOf } from '../../src/graph/graph.ts';
import type { Origins } from '../../src/graph/trace/tracer.ts';
import type { Lock, Output } from '../../src/lock/record.ts';
import { parseManifest } from '../../src/manifest/parse.ts';
import { assemblePlan } from '../../src/plan/assemble.ts';
import { allowPosts } from '../../src/plan/consent.ts';
import type { Plan, StepOrder } from '../../src/plan/plan.ts';
import type { PriceHints } from '../../src/plan/prices/prices.ts';
import { type FileState, situate, withFiles } from '../../src/plan/situation/situation.ts';
import type { ResumedPlan } from '../../src/run/resume-plan.ts';
import type { StepEnd } from '../../src/run/step-end.ts';
import { MemoryLock, memoryBodies, memoryOutputs } from './memory-disk.ts';
import { ScriptedService } from './scripted-service.ts';
import { graphOfSteps } from './steps.ts';
import { StandstillError, VirtualClock } from './virtual-clock.ts';

/** A manifest as text, to a graph; a test that gets it wrong sees every diagnostic. */
export function graphOf(manifest: string, data: Record<string, string> = {}): Graph {
  const parsed = parseManifest({ file: 'campaign.yaml', text: manifest });
  const facts = { data: new Map(Object.entries(data).map(([path, text]) => [path, { text }])), vars: {} };
  const built = parsed.manifest === undefined ? undefined : buildGraph(parsed.manifest, facts);
  const diagnostics = [...parsed.diagnostics, ...(built?.diagnostics ?? [])];
  if (built?.graph === undefined) throw new Error(JSON.stringify(diagnostics, null, 2));
  return built.graph;
}

/** `count` images, `pic@p1` … – or another text for some of them. */
export function images(count: number, extra = ''): string {
  const rows = Array.from({ length: count }, (_, index) => `p${index + 1}`).join(', ');
  return `version: 1
name: test
${extra}
tasks:
  pic: { kind: image, foreach: [${rows}], with: { prompt: "a {{row}}" } }
`;
}

/** An upload, an image, two voiceovers, a film, its cuts, and posts for three cuts, although the film has only two. */
export function launch(): Graph {
  const url = (address: string, field = 'url') => ({ $ref: address, field });
  const file = { path: 'logo.png', sha256: 'ab'.repeat(32), bytes: 3 };
  const say = (number: number) => ({ text: `It costs ${number}`, voice_id: 'Aria' });
  return graphOfSteps([
    { address: 'logo', kind: 'upload', request: { file: 'logo.png' }, file },
    { address: 'hero', kind: 'image', request: { prompt: 'hero', referenceImages: [url('logo')] } },
    ...[1, 2].map((number) => ({ address: `say@${number}`, kind: 'voiceover', request: say(number) })),
    { address: 'film', kind: 'video', request: { prompt: 'film', image: url('hero') } },
    { address: 'cuts', kind: 'clipping', request: { videoUrl: url('film') } },
    ...[0, 1, 2].map((index) => ({
      address: `share@${index + 1}`,
      kind: 'post',
      request: { caption: `share ${index}`, media: [url('cuts', `clips.${index}.url`)] },
      part: { of: 'cuts', index },
    })),
  ]);
}

export interface RunOptions {
  selected?: string[];
  maxCredits?: number;
  /** Somebody can be asked when a price is known that nobody could estimate. */
  asksAgain?: true;
  /** What to expect of prices beside manifest and lock. */
  hints?: PriceHints;
  concurrency?: number;
  /** Creates on the wire at once. */
  creates?: number;
  /** `--wait-for-balance`. */
  creditWaitMs?: number;
  redo?: string[];
  onUnknown?: 'ask' | 'hold';
  onError?: 'wait' | 'continue' | 'finish';
  /** Whether somebody agreed to the posts of the plan. Default: yes. */
  publish?: boolean;
  /** Called with every event; may abort the run. */
  onEvent?(fact: RunFact, abort: () => void): void;
  /** People look at what arrives, and decide while the run goes on. Called when it has begun. */
  people?(live: LiveRun): Promise<void>;
  /** Leave the lines of the run as they are, as a killed process does. */
  unsettled?: boolean;
  /** What is left of a plan that others have begun, instead of a plan of its own. */
  resumed?: Pick<ResumedPlan, 'plan' | 'ends' | 'learned'>;
  /** Purchases under the campaign's name on this machine. */
  purchases?: PurchaseJournal;
  /** Reports the end of each order, instead of an event. */
  onEnd?(name: string, end: StepEnd, order: StepOrder): void;
}

export interface RunResult {
  /** As it was agreed to. */
  plan: Plan;
  /** With what was taken in. */
  carriedOut: Plan;
  events: RunFact[];
  outcomes: Record<string, StepOutcome>;
  ledger: LocalLedger;
  gate: LocalGate;
}

/** A whole campaign in memory: run it, break it, run it again. */
export class TestCampaign {
  readonly clock: VirtualClock;
  readonly service: ScriptedService;
  readonly file = new MemoryLock();
  readonly outputs = memoryOutputs();
  readonly bodies = memoryBodies();
  graph: Graph;
  /** Tells what in the manifest made inputs differ; absent where nobody asks. */
  trace?: Origins['trace'] | undefined;
  /** Whose credential is at hand. */
  account = 'one';

  /** `of`: another clone of the same campaign, with no lock yet, at the same service and time. */
  constructor(manifest: string | Graph, data: Record<string, string> = {}, of?: TestCampaign) {
    this.clock = of?.clock ?? new VirtualClock();
    this.service = of?.service ?? new ScriptedService(this.clock);
    this.graph = typeof manifest === 'string' ? graphOf(manifest, data) : manifest;
  }

  clone(): TestCampaign {
    return new TestCampaign(this.graph, {}, this);
  }

  plan(options: RunOptions = {}): Plan {
    const situation = situate(this.graph, this.file.read(), {
      redo: new Set(options.redo ?? []),
      ...(options.selected !== undefined && { selected: new Set(options.selected) }),
    });
    return assemblePlan({
      situation: withFiles(situation, this.#files()),
      ...this.#facts(),
      now: this.clock.now(),
      causeOf: this.trace,
      concurrency: options.concurrency ?? 4,
      ...(options.onUnknown !== undefined && { onUnknown: options.onUnknown }),
      ...(options.maxCredits !== undefined && { maxCredits: options.maxCredits }),
      ...(options.hints !== undefined && { hints: options.hints }),
    });
  }

  /** Runs until the machine dies. */
  async runAndDie(dieAt: { line: number; written: boolean }, options: RunOptions = {}): Promise<'died' | 'ended'> {
    this.file.dieAt = { ...dieAt, line: this.file.lines + dieAt.line };
    this.service.dead = () => this.file.dead;
    try {
      await this.run({ ...options, unsettled: true });
      return 'ended';
    } catch (error) {
      if (!(error instanceof StandstillError)) throw error;
      return 'died';
    } finally {
      this.file.dieAt = undefined;
      this.file.dead = false;
      this.service.dead = () => false;
    }
  }

  async run(options: RunOptions = {}): Promise<RunResult> {
    const { resumed, onEnd } = options;
    const planned = resumed?.plan ?? this.plan(options);
    const plan = options.publish === false ? planned : allowPosts(planned);
    if (options.asksAgain) plan.totals = { ...plan.totals, asksAgain: true };
    const controller = new AbortController();
    const events: RunFact[] = [];
    const on = ({ at: _, ...fact }: RunEvent) => {
      // They are of every run, and tests are about what happens in between.
      if (fact.event === 'run-started' || fact.event === 'run-ended') return;
      events.push(fact);
      options.onEvent?.(fact, () => controller.abort());
    };
    const { clock, service, outputs, bodies } = this;
    const { onError = 'continue', onUnknown, creditWaitMs, creates, unsettled } = options;
    const lock = this.file.read();
    const file = unsettled ? this.file.unsettled() : this.file;
    const live = options.people && this.#live(plan, lock, options);
    const ports = {
      ...{ lock, file, bodies, service, clock },
      ...(creates !== undefined && { creates }),
      ...(options.purchases && { purchases: options.purchases }),
      outputs: localOutputs(service, outputs),
      accountOf: (send: string) => `${send}-${this.account}`,
      isAlone: async () => true,
      times: { graceMs: 60_000, gapMs: 10_000, fenceMs: 30_000 },
    };
    const { carried, result } = runPlan(plan, ports, {
      ...{ onError, onUnknown, creditWaitMs, live, on },
      resumed: { ...resumed, onEnd },
      outline: outlineOf(this.graph),
      loaded: { needsRewrite: true },
      signal: controller.signal,
    });
    const decided = live && options.people?.(live);
    await clock.run(Promise.all([result, decided]));
    const outcomes = Object.fromEntries([...(await carried.driven.ends)].map(([id, { outcome }]) => [id, outcome]));
    const { ledger, gate } = carried;
    return { plan, carriedOut: live?.carriedOut ?? plan, events, outcomes, ledger, gate };
  }

  #live(agreed: Plan, lock: Lock, { redo = [], selected, onUnknown, hints = {} }: RunOptions): LiveRun {
    const { graph } = this;
    const look = async () => ({ ...this.#files(), isKept: () => false, isReplaced: () => false });
    return new LiveRun({
      ...{ agreed, graph, lock, redo: new Set(redo), hints, onUnknown },
      ...(selected !== undefined && { selected: new Set(selected) }),
      means: { ...this.#facts(), now: () => this.clock.now(), inspectOutputs: look },
    });
  }

  #files() {
    return {
      fileState: ({ path, sha256 }: Output): FileState => {
        const found = this.outputs.files.get(path);
        return found === undefined ? 'missing' : found === sha256 ? 'intact' : 'changed';
      },
      mediaFacts: () => this.outputs.facts.current,
    };
  }

  #facts() {
    return {
      replays: this.service.canReplay ? ('yes' as const) : ('no' as const),
      accountOf: (send: string) => `${send}-${this.account}`,
    };
  }
}

/** Address to action, for comparing whole plans at a glance. */
export function actionsOf(plan: Plan): Record<string, string> {
  return Object.fromEntries(plan.rows.map(({ address, action }) => [address, action]));
}
