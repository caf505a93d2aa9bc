import type pg from 'pg';
import { Condition } from '../../ground/condition.ts';

type Listener = (payload: string | undefined) => void;

interface ListeningOptions {
  open(): Promise<pg.Client>;
  pause(tries: number): Promise<void>;
  quote(channel: string): string;
  signal: AbortSignal;
}

/** LISTEN for all channels of a process on one connection. Ignores errors, because each listener also polls. */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #changes = new Condition();
  #going: Promise<void> | undefined;

  constructor(options: ListeningOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#changes.notify(), { once: true });
  }

  listen(channel: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(listener));
    this.#going ??= this.#keep();
    this.#changes.notify();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(channel);
      this.#changes.notify();
    };
  }

  async closed(): Promise<void> {
    await this.#going;
  }

  get #isNeeded(): boolean {
    return this.#listeners.size > 0 && !this.#options.signal.aborted;
  }

  async #keep(): Promise<void> {
    for (let tries = 0; this.#isNeeded; tries += 1) {
      let client: pg.Client | undefined;
      try {
        client = await this.#options.open();
        await this.#listenOn(client);
        tries = 0;
      } catch {}
      const ended = client?.end().catch(() => {});
      // A new connection does not wait until the old connection is closed, because a suspended server never closes it.
      await (this.#isNeeded ? this.#options.pause(tries) : ended);
    }
    this.#going = undefined;
  }

  async #listenOn(client: pg.Client): Promise<void> {
    const listened = new Set<string>();
    let hasEnded = false;
    client.on('end', () => {
      hasEnded = true;
      this.#changes.notify();
    });
    client.on('notification', ({ channel, payload }) => {
      for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
    });
    while (!hasEnded && this.#isNeeded) {
      const channel = [...this.#listeners.keys()].find((one) => !listened.has(one));
      if (channel === undefined) {
        await this.#changes.changed();
      } else {
        await client.query(`LISTEN ${this.#options.quote(channel)}`);
        listened.add(channel);
        for (const listener of [...(this.#listeners.get(channel) ?? [])]) listener(undefined);
      }
    }
  }
}
