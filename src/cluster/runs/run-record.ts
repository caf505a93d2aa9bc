import { hash } from 'node:crypto';
import type { RunEvent, StepOutcome } from '../../contract/event.ts';
import type { ExitCode } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { GraphOutline } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { canonicalJson, type Json } from '../../ground/json.ts';
import { isSpending } from '../../plan/actions.ts';
import type { Plan, PlanTotals, StepOrder } from '../../plan/plan.ts';
import type { WrittenPrices } from '../../plan/prices/prices.ts';
import type { Sql } from '../database/database.ts';
import type { Seal } from '../seal.ts';

interface ClusterSettings {
  concurrency: number;
  onError: 'wait' | 'continue' | 'finish';
  onUnknown: 'ask' | 'hold';
  creditWaitMs: number;
  createTimeoutMs: number;
  requestTimeoutMs: number;
  patienceMs?: number;
  pollIntervalMs?: number;
}

/** A submitted plan without its orders, which are stored separately. */
export interface RunHeader {
  plan: Plan;
  orders: number;
  outline: Omit<GraphOutline, 'addresses'> & { addresses: readonly string[] };
  createRoutes: Json;
  prices: WrittenPrices;
}

interface RunOrigin {
  host: string;
  user: string;
  manifest: string;
  version: string;
  cancelledBy?: string;
  pausedBy?: string;
}

interface RunResultRecord {
  exit: ExitCode;
  outcomes: { readonly [step: string]: StepOutcome };
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

export interface RunRecord {
  id: string;
  account: string;
  protocol: number;
  campaign: string;
  state: 'open' | 'ended';
  settings: ClusterSettings;
  totals: PlanTotals;
  origin: RunOrigin;
  store: string | null;
  /** Identity of the database that last contained all lock lines of the run. `null` if unknown. */
  server: string | null;
  cancelled: Date | null;
  paused: Date | null;
  submitted: Date;
  ended: Date | null;
  result: RunResultRecord | null;
  /** Why the leader deferred the run, or who ended it with `unlock --force`. */
  error: string | null;
}

export interface Submission {
  /** Chosen by the client, so that a repeated submission does not create a second run. */
  id: string;
  account: string;
  campaign: string;
  settings: ClusterSettings;
  totals: PlanTotals;
  header: RunHeader;
  seal: Seal;
  origin: RunOrigin;
  store: string | null;
  orders: Iterable<StepOrder>;
  lines: Iterable<string>;
}

type BoundFacts = Pick<RunRecord, 'id' | 'campaign' | 'store' | 'settings' | 'totals'>;

export function sealHeader(seal: Seal, header: RunHeader, facts: BoundFacts): Buffer {
  return seal.seal(JSON.stringify(header), contextOf(facts));
}

/** Throws MB3704 if somebody changed the run's header or an unencrypted column after the submission. */
export async function readHeader(sql: Sql, seal: Seal, run: BoundFacts): Promise<RunHeader> {
  const [row] = await sql.query<{ header: Buffer }>('SELECT header FROM mediabatch.run WHERE id = $1', [run.id]);
  if (row === undefined) throw new Error(`internal error: no run ${run.id}`);
  const opened = seal.open(row.header, contextOf(run));
  if (opened === undefined) throw changedPlan(run); // I50
  return JSON.parse(opened) as RunHeader;
}

export function changedPlan({ id, campaign }: Pick<RunRecord, 'id' | 'campaign'>): CampaignError {
  return new CampaignError({
    code: 'MB3704',
    message: 'the plan of this run was changed in the database after it was submitted, so this run buys nothing',
    hint: way(
      'to end the run, and continue on this machine with its recorded purchases',
      call('unlock', '--id', id, '--force'),
    ),
    lock: campaign,
  });
}

function contextOf({ id, campaign, store, settings, totals }: BoundFacts): string {
  // Converts the facts to JSON and back, to remove undefined properties as the database does.
  const facts = JSON.parse(JSON.stringify({ id, campaign, store, settings, totals })) as Json;
  return `header ${canonicalJson(facts)}`;
}

const ordersPerPart = 200;

interface Run {
  id: string;
  campaign: string;
  seal: Seal;
}

export async function insertOrders(sql: Sql, { id, seal }: Run, orders: readonly StepOrder[]): Promise<void> {
  for (let no = 0; no * ordersPerPart < orders.length; no += 1) {
    const part = orders.slice(no * ordersPerPart, (no + 1) * ordersPerPart);
    const sealed = seal.seal(JSON.stringify(part), `orders ${id} ${no}`);
    await sql.query('INSERT INTO mediabatch.part (run, no, orders, count, purchases) VALUES ($1, $2, $3, $4, $5)', [
      ...[id, no, sealed, part.length],
      part.flatMap(purchaseOf),
    ]);
  }
}

export async function* readOrders(sql: Sql, { id, campaign, seal }: Run): AsyncGenerator<StepOrder> {
  for (let no = 0; ; no += 1) {
    const text = 'SELECT orders FROM mediabatch.part WHERE run = $1 AND no = $2';
    const [part] = await sql.query<{ orders: Buffer }>(text, [id, no]);
    if (part === undefined) return;
    const opened = seal.open(part.orders, `orders ${id} ${no}`);
    if (opened === undefined) throw changedPlan({ id, campaign }); // I50 (orders)
    yield* JSON.parse(opened) as StepOrder[];
  }
}

/** Returns a digest of the order's create request. The digest is the same for each API key. Empty for other orders. */
export function purchaseOf({ action, address, fingerprint }: StepOrder): string[] {
  return isSpending(action) ? [hash('sha256', `${address}\n${fingerprint}`)] : [];
}
