import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const usage = fileURLToPath(new URL('usage.mjs', import.meta.url));
export const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url));

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
  /** Before each run, outside the measured time. */
  prepare?(): void;
}

/** Runs `node` with these arguments and measures the whole process. Throws when it fails: a broken run is no figure. */
export async function measureOnce({ args, cwd, env, prepare }: Job): Promise<Sample> {
  prepare?.();
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'usage.json');
  try {
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['--import', usage, ...args], {
      cwd,
      env: { ...process.env, ...env, BENCH_USAGE_FILE: file, NO_COLOR: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const wallMs = performance.now() - startedAt;
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${errors}`);
    return { wallMs, ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<Sample, 'wallMs'>) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Several jobs in turn, so that whatever else the machine does falls on all of them alike; the median of each. */
export async function measureInTurn(jobs: Record<string, Job>, repetitions: number): Promise<Record<string, Sample>> {
  const samples = new Map<string, Sample[]>();
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const [name, job] of Object.entries(jobs)) {
      samples.set(name, [...(samples.get(name) ?? []), await measureOnce(job)]);
    }
  }
  return Object.fromEntries([...samples].map(([name, list]) => [name, medianOf(list)]));
}

function medianOf(samples: Sample[]): Sample {
  const median = (pick: (sample: Sample) => number) => {
    const sorted = samples.map(pick).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  return {
    wallMs: median(({ wallMs }) => wallMs),
    cpuMs: median(({ cpuMs }) => cpuMs),
    maxRssMiB: median(({ maxRssMiB }) => maxRssMiB),
  };
}
