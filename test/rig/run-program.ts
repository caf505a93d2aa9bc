import { spawn } from 'node:child_process';

export interface Ended {
  code: number | null;
  /** stdout and stderr, as they came. */
  said: string;
}

/** Runs any program to its end, with PATH and what `env` says. */
export function runProgram(
  [program = '', ...words]: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<Ended> {
  const whole = { PATH: process.env.PATH ?? '', ...env };
  const child = spawn(program, words, { cwd, env: whole, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, said }));
  });
}
