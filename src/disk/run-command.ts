import { spawnSync } from 'node:child_process';

/** Output of a program, or the reason for its failure, in words that follow its name. */
export type CommandResult = { is: 'done'; out: string } | { is: 'failed'; why: string; said: string };

const mostBytes = 64 * 1024;

/** Runs a program without a shell or input. It may prompt on a terminal of its own, within `timeoutMs`. */
export function runCommand([program, ...words]: readonly [string, ...string[]], timeoutMs: number): CommandResult {
  const { error, status, signal, stdout, stderr } = spawnSync(program, words, {
    ...{ timeout: timeoutMs, maxBuffer: mostBytes, windowsHide: true },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  const said = stderr?.trim() ?? '';
  const failed = (why: string): CommandResult => ({ is: 'failed', why, said });
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case undefined:
      break;
    case 'ENOENT':
      return failed('no such program');
    case 'EACCES':
      return failed('it is not executable');
    case 'ETIMEDOUT':
      return failed(`it did not end within ${timeoutMs / 1000} seconds`);
    case 'ENOBUFS':
      return failed('it printed far more than a key');
    default:
      return failed(error?.message ?? 'it cannot be run');
  }
  if (signal !== null) return failed(`it was ended by ${signal}`);
  if (status !== 0) return failed(`it ended with ${status}`);
  return { is: 'done', out: stdout };
}
