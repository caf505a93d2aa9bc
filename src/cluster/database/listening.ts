import type pg from 'pg';

/** Listener of a channel. A payload of `undefined` means that notifications may have been missed. */
type Ear = (payload: string | undefined) => void;

interface ListeningOptions {
  open(): Promise<pg.Client>;
  persist<T>(act: () => Promise<T>): Promise<T>;
  pause(tries: number): Promise<void>;
  quote(channel: string): string;
  signal: AbortSignal;
}

/** LISTEN for all channels of a process, over one shared connection. */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #ears = new Map<string, Set<Ear>>();
  #client: Promise<pg.Client> | undefined;
  #isMending = false;
  #said: Promise<unknown> = Promise.resolve();

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  async listen(channel: string, ear: Ear): Promise<{ close(): Promise<void> }> {
    const ears = this.#ears.get(channel) ?? new Set();
    this.#ears.set(channel, ears.add(ear));
    try {
      await this.#options.persist(() => this.#tuneIn(channel, this.#open()));
    } catch (error) {
      await this.#leave(channel, ear);
      throw error;
    }
    ear(undefined);
    return { close: () => this.#leave(channel, ear) };
  }

  async close(): Promise<void> {
    this.#ears.clear();
    await this.#hangUp();
  }

  async #leave(channel: string, ear: Ear): Promise<void> {
    const ears = this.#ears.get(channel);
    ears?.delete(ear);
    if (ears === undefined || ears.size > 0) return;
    this.#ears.delete(channel);
    if (this.#ears.size === 0) return this.#hangUp();
    // Not awaited, because the server may be frozen.
    void this.#client?.then((client) => this.#say(client, 'UNLISTEN', channel)).catch(() => {});
  }

  async #hangUp(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  async #tuneIn(channel: string, connection: Promise<pg.Client>): Promise<void> {
    const client = await connection;
    try {
      await this.#say(client, 'LISTEN', channel);
    } catch (error) {
      this.#giveUp(connection);
      void client.end().catch(() => {});
      throw error;
    }
  }

  /** Executes one statement at a time, because the driver does not queue them. */
  #say(client: pg.Client, word: 'LISTEN' | 'UNLISTEN', channel: string): Promise<unknown> {
    const said = this.#said.catch(() => {}).then(() => client.query(`${word} ${this.#options.quote(channel)}`));
    this.#said = said;
    return said;
  }

  #open(): Promise<pg.Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  #connect(): Promise<pg.Client> {
    this.#said = Promise.resolve();
    const connection = this.#options.open().then((client) => {
      client.on('notification', ({ channel, payload }) => {
        for (const ear of this.#ears.get(channel) ?? []) ear(payload);
      });
      client.on('end', () => this.#giveUp(connection));
      return client;
    });
    connection.catch(() => {
      if (this.#client === connection) this.#client = undefined;
    });
    return connection;
  }

  #giveUp(connection: Promise<pg.Client>): void {
    if (this.#client !== connection) return;
    this.#client = undefined;
    void this.#mend();
  }

  /**
   * Reconnects, then notifies all listeners that notifications may have been missed. Repeats until every channel is
   * listened to on the connection that there is: it may end, or be replaced by that of a new listener, meanwhile.
   */
  async #mend(): Promise<void> {
    const { pause, signal } = this.#options;
    if (this.#isMending) return;
    this.#isMending = true;
    let mended: Promise<pg.Client> | undefined;
    for (let tries = 0; this.#ears.size > 0 && !signal.aborted; tries += 1) {
      if (mended !== undefined && mended === this.#client) break;
      await pause(tries);
      try {
        const connection = this.#open();
        for (const channel of [...this.#ears.keys()]) await this.#tuneIn(channel, connection);
        mended = connection;
      } catch {}
    }
    this.#isMending = false;
    for (const ears of [...this.#ears.values()]) for (const ear of [...ears]) ear(undefined);
  }
}
