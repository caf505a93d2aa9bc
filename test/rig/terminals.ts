import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { bin } from './command.ts';

export interface Terminal {
  /** Everything that was said there. */
  said(): string;
  /** Ctrl-C, or another signal. Resolves when what was typed has ended. */
  interrupt(name?: NodeJS.Signals): Promise<void>;
  /** Its exit code. */
  ended: Promise<number | null>;
}

/** A terminal in a folder, into which lines are typed; it goes with the test. `mediabatch` is the one that was built. */
export function typeInto(folder: string, lines: string, given: NodeJS.Dict<string>): Terminal {
  const script = `set -e\nmediabatch() { '${process.execPath}' '${bin}' "$@"; }\n${lines}\n`;
  const env = { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1', ...given };
  const child = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const interrupt = async (name: NodeJS.Signals = 'SIGINT') => {
    signal(child, name);
    await ended;
  };
  onTestFinished(async () => {
    signal(child, 'SIGKILL');
    await ended;
  });
  return { said: () => said, interrupt, ended };
}

function signal({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(-pid, name);
}
