import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const RealDate = globalThis.Date;
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;

type Callback = (...args: unknown[]) => void;

/** After so many turns of the event loop without news, nothing is under way but sleep. */
const quietTurns = 8;
/** What undici says of each request: that there is one, and that it is over. */
const begins = 'undici:request:create';
const ends = ['undici:request:trailers', 'undici:request:error'];
/** After so long without news nothing will ever happen again. Code that is being loaded is not seen to be under way. */
const standstillMs = 25_000;
/** Work that an event loop waits for beside its timers; sockets that are merely open are none. */
const work = /^(FSReq|FileHandle|GetAddrInfo|Zlib|Process)|Connect/;

/** What the patched `setTimeout` gives back: undici calls `refresh` and `unref`. */
class VirtualTimer {
  readonly #time: VirtualTime;
  readonly #call: Callback;
  readonly #args: unknown[];
  readonly #delayMs: number;
  dueAt = 0;

  constructor(time: VirtualTime, call: Callback, delayMs: number, args: unknown[]) {
    this.#time = time;
    this.#call = call;
    this.#args = args;
    this.#delayMs = delayMs;
    this.refresh();
  }

  refresh(): this {
    this.dueAt = this.#time.now() + this.#delayMs;
    this.#time.timers.add(this);
    this.#time.stir();
    return this;
  }

  fire(): void {
    this.#time.timers.delete(this);
    this.#call(...this.#args);
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): this {
    this.#time.timers.delete(this);
    this.#time.stir();
    return this;
  }
}

/**
 * A day passes at once, around real files and real sockets: while commands run in this process, `setTimeout` and `Date` are
 * virtual, and when nothing is under way but sleep, time jumps to the next sleeper. A deadline never passes while an answer
 * is being made, however slow this machine is.
 */
export class VirtualTime {
  readonly timers = new Set<VirtualTimer>();
  /** By so much the clock of the machine that runs commands is ahead of the truth. */
  skewMs = 0;
  /** The other sides: how many requests they are at work on, and how many they let wait. Asked before time jumps. */
  readonly others = new Set<() => { working: number; waiting: number }>();
  readonly #open = new Set<unknown>();
  readonly #begin = (message: unknown) => this.#open.add((message as { request: unknown }).request);
  readonly #end = (message: unknown) => this.#open.delete((message as { request: unknown }).request);
  #jumpedMs = 0;
  #users = 0;
  #stirred = false;
  #standstill: () => void = () => {};
  #isPumping = false;

  /** The true time. */
  now(): number {
    return RealDate.now() + this.#jumpedMs;
  }

  pass(ms: number): void {
    this.#jumpedMs += ms;
  }

  /** What has happened since has not happened. */
  turnBackTo(at: number): void {
    this.#jumpedMs = at - RealDate.now();
  }

  stir(): void {
    this.#stirred = true;
  }

  /** Virtual is what `run` sets in motion. Runs may overlap. */
  async during<T>(run: () => Promise<T>): Promise<T> {
    this.#users += 1;
    if (this.#users === 1) {
      this.#install();
      if (!this.#isPumping) void this.#pump();
      this.#isPumping = true;
    }
    const standstill = new Promise<never>((_, reject) => {
      this.#standstill = () => reject(new Error('the command waits, and there is nothing that it could wait for'));
    });
    try {
      return await Promise.race([run(), standstill]);
    } finally {
      this.#users -= 1;
      if (this.#users === 0) this.#uninstall();
    }
  }

  #install(): void {
    const clock = () => this.now() + this.skewMs;
    class VirtualDate extends RealDate {
      constructor(...args: [] | [number | string]) {
        if (args.length === 0) super(clock());
        else super(...(args as [number]));
      }
      static override now(): number {
        return clock();
      }
      static override [Symbol.hasInstance](value: unknown): boolean {
        return Object.prototype.toString.call(value) === '[object Date]';
      }
    }
    const setVirtual = (call: Callback, delayMs = 0, ...args: unknown[]) =>
      delayMs > 0 ? new VirtualTimer(this, call, delayMs, args) : realSetTimeout(call, 0, ...args);
    const clearVirtual = (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.close();
      else realClearTimeout(timer as NodeJS.Timeout);
    };
    this.#open.clear();
    subscribe(begins, this.#begin);
    for (const name of ends) subscribe(name, this.#end);
    Object.assign(globalThis, { Date: VirtualDate, setTimeout: setVirtual, clearTimeout: clearVirtual });
  }

  #uninstall(): void {
    unsubscribe(begins, this.#begin);
    for (const name of ends) unsubscribe(name, this.#end);
    Object.assign(globalThis, { Date: RealDate, setTimeout: realSetTimeout, clearTimeout: realClearTimeout });
    this.timers.clear();
  }

  async #pump(): Promise<void> {
    let quiet = 0;
    let newsAt = RealDate.now();
    while (this.#users > 0) {
      // Whoever is at work is left to it.
      await new Promise((resolve) => (quiet === 0 ? realSetTimeout(resolve, 1) : setImmediate(resolve)));
      quiet = this.#stirred || this.#isAtWork() ? 0 : quiet + 1;
      this.#stirred = false;
      if (quiet >= quietTurns && this.#jump()) quiet = 0;
      if (quiet === 0) newsAt = RealDate.now();
      else if (RealDate.now() - newsAt > standstillMs) this.#standstill();
    }
    this.#isPumping = false;
  }

  #jump(): boolean {
    let next: VirtualTimer | undefined;
    for (const timer of this.timers) if (next === undefined || timer.dueAt < next.dueAt) next = timer;
    if (next === undefined) return false;
    this.#jumpedMs += Math.max(0, next.dueAt - this.now());
    next.fire();
    return true;
  }

  #isAtWork(): boolean {
    const others = [...this.others].map((ask) => ask());
    const waiting = others.reduce((sum, other) => sum + other.waiting, 0);
    if (this.#open.size > waiting || others.some(({ working }) => working > 0)) return true;
    return process.getActiveResourcesInfo().some((name) => work.test(name));
  }
}
