import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../contract/clock.ts';
import type { PurchaseJournal } from '../../contract/ports.ts';
import { type SpendingLeft, type SpendingLimits, spans, tightestOf } from '../../contract/spending.ts';
import { isAnswered } from '../../disk/state/purchase-journal.ts';
import {
  type Finder,
  type HoldName,
  type SpendingHome,
  SpendingLedger,
  type SpendingLine,
  SpendingSums,
  type Verdict,
} from '../../disk/state/spending-ledger.ts';
import type { Json } from '../../ground/json.ts';
import type { Lock, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import type { Database, Sql } from '../database/database.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { held, RowWriter, readPages, type Term } from './rows.ts';

const insertLines = `${held},
  written AS (
    INSERT INTO mediabatch.spent (account, month, epoch, no, text)
    SELECT id, $3::text, epoch, $4::bigint, $5::text FROM held ON CONFLICT DO NOTHING) -- I49 (fenced)
  SELECT count(*) AS held FROM held`;

const gatherMs = 250;

/** Time after a worker's last heartbeat at which other workers delete its row. */
export const forgottenAfter = '1 hour';

/** Credits that an account spent and reserved in the day and month of `at`, by the server's clock. */
export interface SpentSums {
  at: string;
  day: number;
  month: number;
}

interface SpendingOptions extends Term {
  db: Database;
  clock: Clock;
  own: SpendingLimits | undefined;
  drives(run: string): boolean;
}

/**
 * Spending of an account. The leader of the account stores each reservation before the create request, so that the next
 * leader computes the same sums. Days and months follow the server's clock.
 */
export class AccountSpending implements SpendingHome {
  readonly named = 'worker --limit';
  readonly #options: SpendingOptions;
  readonly #serverAheadMs: number;
  #limits: SpendingLimits = {};
  #month: Month;
  #failure: { error: unknown } | undefined;

  private constructor(options: SpendingOptions, { aheadMs, month }: { aheadMs: number; month: string }) {
    this.#options = options;
    this.#serverAheadMs = aheadMs;
    this.#month = this.#openMonth(month);
  }

  static async open(options: SpendingOptions): Promise<AccountSpending> {
    const { db, account } = options;
    const [known] = await db.query<{ now: number; last: string | null }>(
      `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
         (SELECT max(month) FROM mediabatch.spent WHERE account = $1) AS last`,
      [account],
    );
    const now = known?.now ?? Date.now();
    const month = laterOf(monthOf(now), known?.last ?? '');
    const spending = new AccountSpending(options, { aheadMs: now - performance.now(), month });
    const { sums } = spending.#month;
    const pages = readPages(db, 'spent', { where: 'account = $1 AND month = $2', values: [account, month] });
    for await (const { lines } of pages) for (const line of lines) sums.add(JSON.parse(line) as Json);
    await spending.refresh();
    return spending;
  }

  get limits(): SpendingLimits {
    return this.#limits;
  }

  async refresh(): Promise<void> {
    const { db, account, own } = this.#options;
    this.#limits = lowestOf([own ?? {}, ...(await readEngineLimits(db, account))]);
  }

  spent(): SpentSums {
    const at = new Date(this.#now()).toISOString();
    return { at, ...this.#month.sums.spentAt(at) };
  }

  /**
   * Returns the purchase journal of a run. The journal reserves no keys, because no other open run of the account has
   * the same idempotency keys. `earlier`: records of earlier runs of the campaign.
   */
  of({ id, campaign }: RunRecord, earlier: Lock): PurchaseJournal {
    const { clock } = this.#options;
    const server = { now: () => this.#now(), sleep: clock.sleep.bind(clock) };
    const ledger = new SpendingLedger(this, { campaign, path: campaign, by: id, clock: server });
    const known = recordsByKey(earlier);
    return {
      async reserve(key, options) {
        const records = known.get(key) ?? [];
        return isAnswered(records, { ...options, isOurs: true }) ? { is: 'known', records } : { is: 'reserved' }; // I40 (engine)
      },
      hold: (purchase) => ledger.hold(purchase),
      release: (key) => ledger.release(key),
      add: async (line) => ledger.note(line),
    };
  }

  async add(line: SpendingLine): Promise<Verdict> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const month = this.#monthNow();
    const { verdict = { is: 'held' } } = month.sums.add(line as unknown as Json) ?? {};
    if (verdict.is !== 'held') return verdict;
    const written = month.lines.append(`${JSON.stringify(line)}\n`);
    if (this.#isLimited) {
      await written; // I49
      return verdict;
    }
    // Without a spending limit, the leader does not wait for the write, so a crash may lose part of the sums.
    written.catch((error: unknown) => {
      this.#failure ??= { error };
    });
    return verdict;
  }

  mustWait(hold: HoldName, probe: HoldName): boolean {
    return this.#monthNow().sums.mustWait(hold, probe);
  }

  async hasEnded(finder: Finder): Promise<boolean> {
    return typeof finder !== 'string' || !this.#options.drives(finder);
  }

  /**
   * Settles a crashed leader's reservations: counts those of jobs as spent, keeps those of lost creates, ends the rest.
   */
  addRun({ campaign }: RunRecord, lock: Lock): void {
    const open = this.#monthNow().sums.openOf(campaign);
    if (open.length === 0) return;
    const made = recordsByKey(lock);
    for (const { hold } of open) {
      const purchases = (made.get(hold) ?? []).flatMap((record) => record.purchases);
      const job = purchases.find(isJob);
      const settled =
        job !== undefined
          ? { credits: job.credits }
          : purchases.some(isOpenSend)
            ? undefined
            : { credits: 0, isUnsent: true as const };
      if (settled === undefined) continue;
      const at = new Date(this.#now()).toISOString();
      this.add({ at, charged: hold, campaign, ...settled }).catch(() => undefined);
    }
  }

  idle(): Promise<void> {
    return this.#month.lines.idle();
  }

  #now(): number {
    return this.#serverAheadMs + performance.now();
  }

  /** Returns the spending of the current month. Never returns to an earlier month, although the server's clock may. */
  #monthNow(): Month {
    const name = laterOf(monthOf(this.#now()), this.#month.name);
    if (name !== this.#month.name) this.#month = this.#openMonth(name);
    return this.#month;
  }

  get #isLimited(): boolean {
    const { day, month } = this.#limits;
    return (day ?? month) !== undefined;
  }

  #openMonth(name: string): Month {
    const { db, account, epoch } = this.#options;
    const gather = () => (this.#isLimited ? Promise.resolve() : wait(gatherMs));
    const lines = new RowWriter(db, { account, epoch, run: name }, { statement: insertLines, gather });
    return { name, sums: new SpendingSums(), lines };
  }
}

interface Month {
  name: string;
  sums: SpendingSums;
  lines: RowWriter;
}

export async function readLimit(sql: Sql, account: string): Promise<SpendingLeft | undefined> {
  return (await readSpendingLeft(sql, [account])).get(account);
}

export async function readSpendingLeft(sql: Sql, accounts: readonly string[]): Promise<Map<string, SpendingLeft>> {
  const rows = await sql.query<{ account: string; now: string; spent: SpentSums | null; limits: SpendingLimits[] }>(
    `SELECT worker.account, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS now, spent, jsonb_agg(doing->'limits') AS limits
     FROM mediabatch.worker LEFT JOIN mediabatch.account ON account.id = worker.account
     WHERE worker.account = ANY($1) AND ${hasLimits} GROUP BY worker.account, spent`,
    [accounts],
  );
  return new Map(
    rows.flatMap(({ account, now, spent, limits }) => {
      const isOf = (length: number) => spent !== null && spent.at.slice(0, length) >= now.slice(0, length);
      const day = isOf(10) ? (spent?.day ?? 0) : 0;
      const month = isOf(7) ? (spent?.month ?? 0) : 0;
      const tightest = tightestOf(lowestOf(limits), { day, month });
      return tightest === undefined ? [] : [[account, { ...tightest, of: 'engine' }]];
    }),
  );
}

const hasLimits = `doing ? 'limits' AND worker.beat > now() - interval '${forgottenAfter}'`;

async function readEngineLimits(sql: Sql, account: string): Promise<SpendingLimits[]> {
  const rows = await sql.query<{ limits: SpendingLimits }>(
    `SELECT doing->'limits' AS limits FROM mediabatch.worker
     WHERE account = $1 AND ${hasLimits}`,
    [account],
  );
  return rows.map(({ limits }) => limits);
}

function lowestOf(all: readonly SpendingLimits[]): SpendingLimits {
  const lowest: SpendingLimits = {};
  for (const per of spans) {
    const known = all.flatMap((limits) => limits[per] ?? []);
    if (known.length > 0) lowest[per] = Math.min(...known);
  }
  return lowest;
}

function recordsByKey({ steps }: Lock): Map<string, StepRecord[]> {
  const made = new Map<string, StepRecord[]>();
  for (const record of steps.values()) {
    for (const one of record.purchases)
      made.set(one.key, [...(made.get(one.key) ?? []), { ...record, purchases: [one] }]);
  }
  return made;
}

function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

function laterOf(one: string, other: string): string {
  return one > other ? one : other;
}
