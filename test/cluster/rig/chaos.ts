import { setTimeout as wait } from 'node:timers/promises';
import { exitCodes } from '../../../src/contract/exit.ts';
import type { Ended } from '../../rig/program.ts';
import type { ClusterPlace } from './place.ts';
import { type Running, until } from './processes.ts';

/** How often what was done. */
export type Deeds = Record<string, number>;

/** Longer than the lease of a head, in ms: whoever sleeps so long wakes up in a world where another took over. */
const longSleepMs = 17_000;

/**
 * Kills, freezes and restarts of everything, drawn by a seed, until the run is over or `calmAfterMs` went by; what was
 * killed is started again, and what was frozen goes on.
 */
export class Chaos {
  readonly deeds: Deeds = {};
  workers: Running[] = [];
  submitter: Running;
  readonly #place: ClusterPlace;
  readonly #random: () => number;
  readonly #startSubmitter: () => Running;
  readonly #others: Promise<void>[] = [];
  #isCalm = false;

  readonly #startWorker: () => Running;

  constructor(
    place: ClusterPlace,
    options: { random: () => number; workers: number; words?: string[]; startSubmitter: () => Running },
  ) {
    this.#startWorker = () => place.worker(options.words);
    this.#place = place;
    this.#random = options.random;
    this.#startSubmitter = options.startSubmitter;
    for (let count = 0; count < options.workers; count += 1) this.workers.push(this.#startWorker());
    this.submitter = options.startSubmitter();
  }

  /** Then nothing is killed any more, everything runs, and the submitter is attached. */
  async rage(calmAfterMs: number): Promise<void> {
    const before = this.#place.judge.ledger.length;
    await until(
      'something was bought',
      async () => {
        await this.keep();
        return this.#place.judge.ledger.length > before;
      },
      90,
    );
    const end = Date.now() + calmAfterMs;
    while (Date.now() < end && !(await this.#isOver())) {
      await wait(500 + this.#random() * 2500);
      await this.keep();
      if (!(await this.#isOver())) await this.#strike();
    }
    this.#isCalm = true;
    await Promise.all(this.#others);
    await this.keep();
  }

  /** As whoever looks after processes does: those that found no server when they began are started again. */
  async keep(): Promise<void> {
    for (const [index, worker] of this.workers.entries()) {
      if (!worker.isRunning()) this.workers[index] = this.#startWorker();
    }
    if (!this.submitter.isRunning() && !(await this.#isOver())) this.submitter = this.#startSubmitter();
  }

  /** Until each worker works: one that was started while the server was away ends, and is started again. */
  async allWork(): Promise<void> {
    await until('every worker works', async () => {
      await this.keep();
      return this.workers.every((one) => one.isRunning() && / worker /.test(one.err()));
    });
  }

  /** Until a submitter has seen the end of the run. */
  async finish(): Promise<Ended> {
    for (;;) {
      await this.keep();
      const ran = await this.submitter.ended;
      if (await this.#isOver()) return ran;
    }
  }

  /** The submitter has ended by itself: the run is over. */
  async #isOver(): Promise<boolean> {
    return !this.submitter.isRunning() && this.#hasEnded(this.submitter);
  }

  async #hasEnded(submitter: Running): Promise<boolean> {
    const { code, signal } = await submitter.ended;
    return signal === null && code !== exitCodes.interrupted && code !== exitCodes.unreachable;
  }

  async #strike(): Promise<void> {
    const draw = this.#random();
    if (draw < 0.3) await this.#killWorker('head');
    else if (draw < 0.45) await this.#killWorker('hand');
    else if (draw < 0.6) await this.#freeze('head');
    else if (draw < 0.7) await this.#freeze('hand');
    else if (draw < 0.85) await this.#cutSubmitter();
    else if (draw < 0.95) await this.#restartServer('kill');
    else await this.#restartServer('stop');
  }

  #count(deed: string): void {
    this.deeds[deed] = (this.deeds[deed] ?? 0) + 1;
  }

  async #pick(role: 'head' | 'hand'): Promise<Running | undefined> {
    const pid = await headPid(this.#place);
    const fit = this.workers.filter((one) => one.isRunning() && (one.pid === pid) === (role === 'head'));
    return fit[Math.floor(this.#random() * fit.length)];
  }

  async #killWorker(role: 'head' | 'hand'): Promise<void> {
    const victim = await this.#pick(role);
    if (victim === undefined) return;
    this.#count(`${role} killed`);
    victim.signal('SIGKILL');
    await victim.ended;
  }

  async #freeze(role: 'head' | 'hand'): Promise<void> {
    const victim = await this.#pick(role);
    if (victim === undefined) return;
    const isLong = this.#random() < 0.6;
    this.#count(`${role} frozen${isLong ? ' for long' : ''}`);
    victim.signal('SIGSTOP');
    this.#later(async () => {
      const until = Date.now() + (isLong ? longSleepMs : 3000);
      while (Date.now() < until && !(this.#isCalm && !isLong)) await wait(100);
      victim.signal('SIGCONT');
    });
  }

  async #cutSubmitter(): Promise<void> {
    if (!this.submitter.isRunning()) return;
    const signal = this.#random() < 0.6 ? 'SIGKILL' : 'SIGINT';
    this.#count(`submitter ${signal}`);
    this.submitter.signal(signal);
    await this.submitter.ended;
    await wait(this.#random() * 2000);
    if (!(await this.#isOver())) this.submitter = this.#startSubmitter();
  }

  async #restartServer(how: 'kill' | 'stop'): Promise<void> {
    this.#count(`server ${how}`);
    await this.#place.server[how]();
    await wait(this.#random() * 3000);
    await this.#place.server.start();
  }

  #later(act: () => Promise<void>): void {
    this.#others.push(act());
  }
}

/** The process that is the head of any account, as the engine knows it. */
export async function headPid({ server }: ClusterPlace): Promise<number | undefined> {
  const text = `SELECT w.pid FROM mediabatch.account a JOIN mediabatch.worker w ON w.id = a.head`;
  const rows = await server.ask<{ pid: number }>(text).catch(() => []);
  return rows[0]?.pid;
}

export async function epochOf({ server }: ClusterPlace): Promise<number> {
  const rows = await server.ask<{ epoch: string }>('SELECT epoch FROM mediabatch.account').catch(() => []);
  return Number(rows[0]?.epoch ?? 0);
}
