import { spawnSync } from 'node:child_process';

type CommandResult = { is: 'done'; out: string } | { is: 'failed'; why: string; said: string };

const mostBytes = 64 * 1024;

export function runCommand(command: string, timeoutMs: number): CommandResult {
  const { error, status, signal, stdout, stderr } = spawnSync(command, {
    ...{ shell: true, timeout: timeoutMs, maxBuffer: mostBytes, windowsHide: true },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  const said = stderr?.trim() ?? '';
  const failed = (why: string): CommandResult => ({ is: 'failed', why, said });
  const { code } = (error as NodeJS.ErrnoException | undefined) ?? {};
  if (code === 'ETIMEDOUT') return failed(`the command did not end within ${timeoutMs / 1000} seconds`);
  if (code === 'ENOBUFS') return failed('the command printed more text than an API key has');
  if (error !== undefined) return failed(error.message);
  if (signal !== null) return failed(`the command was ended by ${signal}`);
  return status === 0 ? { is: 'done', out: stdout } : failed(`the command ended with ${status}`);
}
