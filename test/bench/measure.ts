import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const usage = fileURLToPath(new URL('usage.cjs', import.meta.url));
/** The built command; `BENCH_BIN` names another build, to compare. */
export const bin = process.env.BENCH_BIN ?? fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

/** One process, from start to exit. */
export interface Sample {
  wallMs: number;
  cpuMs: number;
  maxRssMiB: number;
}

export interface Job {
  args: string[];
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Killed after so long; such a run is no figure. */
  timeoutMs?: number;
}

/** Runs `node` with these arguments and measures the whole process. Throws when it fails: a broken run is no figure. */
export async function measureOnce({ args, cwd, env, timeoutMs }: Job): Promise<Sample> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'usage.json');
  try {
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['--require', usage, ...args], {
      cwd,
      env: { ...process.env, ...env, BENCH_USAGE_FILE: file, NO_COLOR: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(timeoutMs !== undefined && { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    const code = await new Promise<number | string | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exit, signal) => resolve(exit ?? signal));
    });
    const wallMs = performance.now() - startedAt;
    if (code === 'SIGKILL' && timeoutMs !== undefined && wallMs >= timeoutMs) {
      throw new Error(`not done after ${Math.round(timeoutMs / 1000)} s`);
    }
    if (code !== 0) throw new Error(`ended with ${code}: ${errors}`);
    return { wallMs, ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<Sample, 'wallMs'>) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The peak memory of a process so far (Linux). NaN of one that has ended. */
export function peakMiBOf(pid: number | undefined): number {
  const path = `/proc/${pid}/status`;
  const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** The middle one; of an even number the mean of the two in the middle. NaN of none. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
