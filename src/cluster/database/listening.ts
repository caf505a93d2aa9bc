import type pg from 'pg';
import { Condition } from '../../ground/condition.ts';

/** Listener of a channel. A payload of `undefined` means that notifications may have been missed. */
type Ear = (payload: string | undefined) => void;

interface ListeningOptions {
  open(): Promise<pg.Client>;
  pause(tries: number): Promise<void>;
  quote(channel: string): string;
  signal: AbortSignal;
}

/**
 * LISTEN for all channels of a process, over one shared connection. Notifications only shorten the polls of their
 * listeners, so nobody waits for the connection, and its errors are not reported.
 */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #ears = new Map<string, Set<Ear>>();
  readonly #news = new Condition();
  #going: Promise<void> | undefined;

  constructor(options: ListeningOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#news.notify(), { once: true });
  }

  /** Calls `ear` with `undefined` whenever the channel is listened to on a new connection. Returns how to stop that. */
  listen(channel: string, ear: Ear): () => void {
    const ears = this.#ears.get(channel) ?? new Set();
    this.#ears.set(channel, ears.add(ear));
    this.#going ??= this.#keep();
    this.#news.notify();
    return () => {
      ears.delete(ear);
      if (ears.size === 0) this.#ears.delete(channel);
      this.#news.notify();
    };
  }

  /** Resolves when the connection is closed, after the signal of the options has aborted. */
  async closed(): Promise<void> {
    await this.#going;
  }

  get #isWanted(): boolean {
    return this.#ears.size > 0 && !this.#options.signal.aborted;
  }

  /** Opens the connection again whenever it ends, until no channel is listened to. */
  async #keep(): Promise<void> {
    for (let tries = 0; this.#isWanted; tries += 1) {
      let client: pg.Client | undefined;
      try {
        client = await this.#options.open();
        await this.#listenOn(client);
        tries = 0;
      } catch {}
      const ended = client?.end().catch(() => {});
      // A frozen server does not answer, so a new connection does not wait for the end of the last one.
      await (this.#isWanted ? this.#options.pause(tries) : ended);
    }
    this.#going = undefined;
  }

  /** Listens to all channels, also to later ones, until the connection ends or no channel is left. */
  async #listenOn(client: pg.Client): Promise<void> {
    const listened = new Set<string>();
    let hasEnded = false;
    client.on('end', () => {
      hasEnded = true;
      this.#news.notify();
    });
    client.on('notification', ({ channel, payload }) => {
      for (const ear of this.#ears.get(channel) ?? []) ear(payload);
    });
    while (!hasEnded && this.#isWanted) {
      const channel = [...this.#ears.keys()].find((one) => !listened.has(one));
      if (channel === undefined) {
        await this.#news.changed();
      } else {
        await client.query(`LISTEN ${this.#options.quote(channel)}`);
        listened.add(channel);
        for (const ear of [...(this.#ears.get(channel) ?? [])]) ear(undefined);
      }
    }
  }
}
