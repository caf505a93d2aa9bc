import type { Graph, Step } from '../../../src/graph/graph.ts';
import type { Decisions, Job, Lock, OpenSend, Output, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { assemblePlan } from '../../../src/plan/assemble.ts';
import type { Limits } from '../../../src/plan/gates/canaries.ts';
import type { Plan, PlanRow, PlanTotals } from '../../../src/plan/plan.ts';
import type { Match } from '../../../src/plan/situation/find-purchases.ts';
import { type SeenFiles, situate, withFiles } from '../../../src/plan/situation/situation.ts';
import { type AnyFacts, sendBy } from '../../rig/facts-of-purchase.ts';
import type { WrittenStep } from '../../rig/steps.ts';

export const now = Date.parse('2030-01-02T00:00:00.000Z');

type Written = Partial<WrittenStep>;

/** An instrumental: 4 credits, as the service documents it. */
export function song(address: string, { request, ...more }: Written = {}): WrittenStep {
  return { address, kind: 'music', request: { model: 'song-7.5', prompt: address, ...request }, ...more };
}

/** Nobody documents what an image costs. */
export function picture(address: string, { request, ...more }: Written = {}): WrittenStep {
  return { address, kind: 'image', request: { prompt: address, ...request }, ...more };
}

/** A list of files, as many as its job gives. */
export function clips(address: string, more: Written = {}): WrittenStep {
  return { address, kind: 'clipping', request: { videoUrl: `https://a.example/${address}.mp4` }, ...more };
}

export const urlOf = (address: string) => ({ $ref: address, field: 'url' });

export function stepOf<Any extends Step>(graph: { steps: readonly Any[] }, address: string): Any {
  const step = graph.steps.find((one) => one.address === address);
  if (step === undefined) throw new Error(`no step ${address}`);
  return step;
}

export function output(path: string, more: Partial<Output> = {}): Output {
  return { path, sha256: `sha of ${path}`, bytes: 7, type: 'audio/mpeg', ...more };
}

/** A purchase without a job: an open send unless it says otherwise. */
export function create(step: Step, more?: Partial<OpenSend>): OpenSend;
export function create(step: Step, more: AnyFacts): Purchase;
export function create(step: Step, more: AnyFacts = {}): Purchase {
  const { fingerprint, paidRequest: request } = step;
  const { generation = 1, attempt = 1, state = 'intent' } = more;
  return {
    fingerprint,
    generation,
    attempt,
    state,
    key: `key of ${step.address} ${generation}.${attempt}`,
    ...sendBy(state, sendIn(step, more)),
    request,
    ...more,
  } as Purchase;
}

/** The id of the send that `create` makes. */
export function sendIn(step: Step, { generation = 1, attempt = 1 }: AnyFacts = {}): string {
  return `send of ${step.address} ${generation}.${attempt}`;
}

/** A purchase with a job: it runs unless it says otherwise. */
export function job(step: Step, more: Partial<Job> = {}): Job {
  const { generation = 1 } = more;
  const facts: AnyFacts = { state: 'running', jobId: `${step.address}-${generation}`, credits: 4, ...more };
  return create(step, facts) as Job;
}

export function saved(step: Step, more: Partial<Job> = {}): Job {
  return job(step, { state: 'done', outputs: [output(`${step.save}.mp3`)], ...more });
}

/** The same request, as it was before the manifest changed. */
export function earlier(step: Step, request: Step['request'] = { ...step.request, prompt: 'before' }): Step {
  return { ...step, fingerprint: `1:before ${JSON.stringify(request)}`, request, paidRequest: request };
}

/** Newest purchases first, as in every lock. */
export function lockOf(records: Record<string, Purchase[]>, more: Partial<StepRecord> = {}): Lock {
  const steps = Object.entries(records).map(([address, purchases]): [string, StepRecord] => [
    address,
    { address, kind: 'music', purchases, ...more },
  ]);
  return { version: 2, steps: new Map(steps) };
}

export function deciding(lock: Lock, address: string, decisions: Decisions): Lock {
  const record = lock.steps.get(address);
  if (record === undefined) throw new Error(`nothing on record for ${address}`);
  return { ...lock, steps: new Map([...lock.steps, [address, { ...record, decisions }]]) };
}

/** What stands there up to a generation is forgotten. */
export function forgetting(lock: Lock, address: string, generation = Number.POSITIVE_INFINITY): Lock {
  const record = lock.steps.get(address);
  if (record === undefined) throw new Error(`nothing on record for ${address}`);
  const purchases = record.purchases.map((one) => (one.generation <= generation ? forgotten(one) : one));
  return { ...lock, steps: new Map([...lock.steps, [address, { ...record, purchases }]]) };
}

export function forgotten<Any extends Purchase>(purchase: Any): Any {
  return { ...purchase, forgotten: true };
}

/** What a plan is made from, beside graph and lock. */
type PlanFacts = Parameters<typeof assemblePlan>[0];
export type GivenFacts = Partial<PlanFacts & Limits & SeenFiles>;

/** A plan in which every file is there, unless the facts say otherwise. */
export function planOf(graph: Graph, lock: Lock, facts: GivenFacts = {}): Plan {
  return assemblePlan({
    situation: withFiles(situate(graph, lock, facts), { fileState: () => 'intact', ...facts }),
    replays: 'yes',
    now,
    concurrency: 4,
    ...facts,
  });
}

/** With the sentence of its reason instead of the reason. */
export type Told<Reasoned extends { reason: { text: string } }> = Omit<Reasoned, 'reason'> & { reason: string };

export function told<Reasoned extends { reason: { text: string } }>(from: Reasoned): Told<Reasoned> {
  return { ...from, reason: from.reason.text };
}

export function rowOf({ rows }: Plan, address: string): Told<PlanRow> {
  const row = rows.find((one) => one.address === address);
  if (row === undefined) throw new Error(`no row ${address}`);
  return told(row);
}

/** What a person reads of a row. Prices have tests of their own. */
export function withoutOrder({
  order: _order,
  price: _price,
  ...row
}: Told<PlanRow>): Omit<Told<PlanRow>, 'order' | 'price'> {
  return row;
}

/** Totals but for what is expected of prices. */
export function withoutEstimate({ estimate: _estimate, ...totals }: PlanTotals): Omit<PlanTotals, 'estimate'> {
  return totals;
}

export function matchOf(graph: Graph, lock: Lock, address: string): Match {
  const match = situate(graph, lock).byAddress.get(address);
  if (match === undefined) throw new Error(`no step ${address}`);
  return match;
}
