import { spawn, spawnSync } from 'node:child_process';

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
  get unshare() {
    return works('unshare', '--pid', '--fork', 'true');
  },
  get mounts() {
    return works('unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');
  },
};

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Started {
  pid: number;
  /** Resolves with all output once it has this text. */
  saw(text: string): Promise<string>;
  say(text: string): void;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
}

export function start(command: readonly string[], env: NodeJS.ProcessEnv = {}): Started {
  const [program = '', ...parameters] = command;
  const child = spawn(program, parameters, { env: { ...process.env, ...env }, stdio: 'pipe' });
  let out = '';
  let err = '';
  const lookers = new Set<() => void>();
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk) => {
    out += chunk;
    for (const look of lookers) look();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, out, err }));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    say: (text) => child.stdin.write(text),
    kill: (signal) => child.kill(signal),
    saw: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!out.includes(text)) return;
          lookers.delete(look);
          resolve(out);
        };
        lookers.add(look);
        look();
        ended.then(() => reject(new Error(`ended before it said ${text}: ${out}${err}`)), reject);
      }),
  };
}

export function run(command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return start(command, env).ended;
}

/** Each is tried once, and only for a file of tests that needs it. */
const tried = new Map<string, boolean>();

function works(program: string, ...words: string[]): boolean {
  const known = tried.get(program + words) ?? spawnSync(program, words).status === 0;
  tried.set(program + words, known);
  return known;
}
