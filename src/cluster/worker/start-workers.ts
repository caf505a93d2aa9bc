import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { exitCodes } from '../../contract/exit.ts';

export interface WorkersOptions {
  count: number;
  /** Program and words that start one. */
  command: readonly [string, ...string[]];
  env: NodeJS.ProcessEnv;
  /** Called when one ended that was not told to. `said`: its last line, if that is no hint. A new one takes its place. */
  onLost(said: string): void;
  /** Called when one has refused what it was started with: it would again, so none takes its place. */
  onRefused(said: string): void;
}

const refusals: readonly (number | null)[] = [exitCodes.wrongUsage, exitCodes.wrongInput, exitCodes.keyRefused];

const restMs = 1000;
/** Characters that are kept of what one said last. */
const mostWords = 2000;

/** Starts workers beside this process, which end with it. */
export function startWorkers({ count, command, env, onLost, onRefused }: WorkersOptions): { close(): Promise<void> } {
  const [program, ...words] = command;
  let isClosing = false;
  const running = new Set<ChildProcess>();
  const keepOne = async () => {
    while (!isClosing) {
      // In a session of its own: a person's Ctrl-C is for whoever started it, which then lets it hand over.
      // The channel carries nothing: it ends when this process does, however it dies, and the worker ends with it.
      const child = spawn(program, words, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'], detached: true });
      running.add(child);
      let said = '';
      child.stderr?.on('data', (piece: Buffer) => {
        said = (said + piece.toString()).slice(-mostWords);
      });
      const code = await new Promise<number | null>((resolve) => {
        child.once('error', (error) => {
          said = error.message;
          resolve(null);
        });
        child.once('close', resolve);
      });
      running.delete(child);
      if (isClosing) return;
      const lines = said.trim().split('\n');
      const last = (lines.findLast((line) => !line.startsWith('  →')) ?? '').trim();
      if (refusals.includes(code)) return onRefused(last);
      onLost(last);
      await wait(restMs);
    }
  };
  const kept = Array.from({ length: count }, keepOne);
  return {
    async close() {
      isClosing = true;
      for (const child of running) child.kill('SIGTERM');
      await Promise.all(kept);
    },
  };
}
