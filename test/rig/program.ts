import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/** How a program ended, and what it wrote. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
  /** stdout and stderr, as they came. */
  said: string;
}

export interface Program {
  child: ChildProcess;
  pid: number;
  out(): string;
  err(): string;
  said(): string;
  /** Resolves with its stdout once that has this text. */
  saw(text: string): Promise<string>;
  ended: Promise<Ended>;
}

export interface ProgramOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Nothing can be read there, unless the test writes to it. */
  stdin?: 'ignore' | 'pipe';
  /** In a process group of its own. */
  detached?: boolean;
}

/** Starts any program, and keeps what it writes. */
export function startProgram([program = '', ...words]: readonly string[], options: ProgramOptions = {}): Program {
  const { stdin = 'ignore', ...how } = options;
  const child = spawn(program, words, { ...how, stdio: [stdin, 'pipe', 'pipe'] });
  const texts = { out: '', err: '', said: '' };
  for (const name of ['out', 'err'] as const) {
    child[`std${name}`]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      texts.said += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
  return {
    child,
    pid: child.pid ?? 0,
    out: () => texts.out,
    err: () => texts.err,
    said: () => texts.said,
    saw: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!texts.out.includes(text)) return;
          child.stdout?.off('data', look);
          resolve(texts.out);
        };
        child.stdout?.on('data', look);
        look();
        ended.then(({ said }) => reject(new Error(`ended before it said ${text}: ${said}`)), reject);
      }),
    ended,
  };
}

/** Runs any program to its end. */
export function runProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Ended> {
  return startProgram(command, options).ended;
}

/** Whether this machine has what a test needs; a test that is skipped for it says so in its name. */
export const has = {
  linux: process.platform === 'linux',
  root: process.getuid?.() === 0,
  get strace() {
    return works('strace', '-qq', '-o', '/dev/null', 'true');
  },
  get prlimit() {
    return works('prlimit', '--version');
  },
  /** Mounts and processes of its own, by `unshare`. */
  get mounts() {
    return works('unshare', '--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');
  },
};

/** Each is tried once, and only for a file of tests that needs it. */
const tried = new Map<string, boolean>();

function works(program: string, ...words: string[]): boolean {
  const known = tried.get(program + words) ?? spawnSync(program, words).status === 0;
  tried.set(program + words, known);
  return known;
}
