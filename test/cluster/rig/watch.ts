import pg from 'pg';
import { readLock } from '../../../src/lock/read.ts';
import { type Lock, lockVersion } from '../../../src/lock/record.ts';
import { isOpenSend } from '../../../src/lock/sends.ts';
import type { Judge } from './judge.ts';
import { priceOf } from './judge.ts';

const everyMs = 50;

/** What the service calls a step of these tests: each asks for its own address, in words. */
export function subjectOfStep({ address, kind }: { address: string; kind: string }): string {
  return `${kind} ${address.replace('@', ' ')}`;
}

/** What must hold at every moment, looked at every 50 ms: in the books of the service, and in the lines of the engine. */
export class Watch {
  looks = 0;
  /** The fold of all lines when they were last read. */
  lock = foldLines([]);
  readonly #wrong: string[] = [];
  readonly #judge: Judge;
  readonly #url: string;
  readonly #budget: number;
  #rows = 0;
  #client: pg.Client | undefined;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(of: { judge: Judge; url: string; budget: number }) {
    this.#judge = of.judge;
    this.#url = of.url;
    this.#budget = of.budget;
    this.#done = this.#look();
  }

  /** Everything that was wrong at any moment; empty is good. */
  async end(): Promise<string[]> {
    this.#isOver = true;
    await this.#done;
    await this.#client?.end().catch(() => undefined);
    return [...new Set([...this.#wrong, ...this.#judge.wrong, ...this.#judge.violations])];
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const startedAt = Date.now();
      // Whatever is charged from here on may still be on its way in the lines, and must not be counted twice.
      const paid = new Set(this.#judge.ledger.map(({ subject }) => subject));
      const spent = this.#judge.spent;
      if (await this.#readLines()) this.#compare(paid, spent);
      this.looks += 1;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, everyMs - (Date.now() - startedAt))));
    }
  }

  /** False while the server is away, or has no such table yet. */
  async #readLines(): Promise<boolean> {
    try {
      this.#client ??= await this.#connect();
      const { rows: counted } = await this.#client.query<{ rows: number }>(
        'SELECT count(*)::int AS rows FROM mediabatch.line',
      );
      const rows = counted[0]?.rows ?? 0;
      if (rows === this.#rows) return true;
      const { rows: lines } = await this.#client.query<{ text: string }>(
        'SELECT text FROM mediabatch.line ORDER BY seq',
      );
      this.lock = foldLines(lines.map(({ text }) => text));
      this.#rows = rows;
      return true;
    } catch {
      const client = this.#client;
      this.#client = undefined;
      await client?.end().catch(() => undefined);
      return false;
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url, connectionTimeoutMillis: 500, query_timeout: 2000 });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** What was charged, and what may still be charged for creates that are on their way. */
  #compare(paid: ReadonlySet<string>, spent: number): void {
    const open = [...this.lock.steps.values()].filter(
      (step) => step.purchases.some(isOpenSend) && !paid.has(subjectOfStep(step)),
    );
    const held = open.reduce((sum, { kind }) => sum + priceOf(kind), 0);
    if (spent + held > this.#budget) {
      this.#wrong.push(`${spent} spent and ${held} on the way of a budget of ${this.#budget}`);
    }
  }
}

function foldLines(texts: readonly string[]): Lock {
  const text = [`{"mediabatch":"lock","version":${lockVersion}}`, ...texts, ''].join('\n');
  return readLock('lines of the engine', Buffer.from(text.replaceAll(/\n+/g, '\n'))).lock;
}
