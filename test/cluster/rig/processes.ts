import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Program, startProgram } from '../../rig/program.ts';

/** A process of a test, ours by its pid and by a word in its environment. */
export interface Running extends Program {
  name: string;
  isRunning(): boolean;
  /** A signal to a process that is gone is none. */
  signal(name: NodeJS.Signals): void;
}

const marker = 'MEDIABATCH_TEST_PLACE';

/** Everything that a test starts, in its folder. What is left when the test is over is ended, by its pid. */
export class Processes {
  readonly all: Running[] = [];
  readonly #place: string;

  /** `place`: a folder of this test alone; every process that is started here inherits its name. */
  constructor(place: string) {
    this.#place = place;
  }

  start(name: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Running {
    const program = startProgram(args, { ...options, env: { ...options.env, [marker]: this.#place } });
    const { child } = program;
    const running: Running = {
      ...program,
      name,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      signal(signal) {
        if (running.isRunning()) child.kill(signal);
      },
    };
    this.all.push(running);
    return running;
  }

  /** Pids of what still runs with the word of this place in its environment, grandchildren too. */
  left(): number[] {
    const word = `${marker}=${this.#place}\0`;
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid && environmentOf(pid).includes(word));
  }

  /** What is left some seconds after everything should have ended: none is good. */
  async leftAfter(seconds: number): Promise<number[]> {
    const until = Date.now() + seconds * 1000;
    while (this.left().length > 0 && Date.now() < until) await wait(50);
    return this.left();
  }

  async end(): Promise<void> {
    for (const pid of this.left()) {
      // Whoever is stopped does not notice that it is killed before it goes on, where it is traced.
      for (const signal of ['SIGKILL', 'SIGCONT'] as const) kill(pid, signal);
    }
    await Promise.all(this.all.map(({ ended }) => ended));
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended in between.
  }
}

function environmentOf(pid: number): string {
  try {
    return `${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
  } catch {
    return '';
  }
}

/** Looks again and again until it is so; says what was waited for when it is not. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`${seconds} s went by, and it was not so: ${what}`);
    await wait(25);
  }
}
