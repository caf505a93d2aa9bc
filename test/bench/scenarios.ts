import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bin, type Job, measureInTurn, measureOnce, type Sample } from './measure.ts';

export interface Line {
  name: string;
  sample: Sample;
  /** Beside what, in the same run. */
  ratio?: { to: string; value: number };
  /** Undefined: nothing is promised. */
  goal?: { text: string; met: boolean };
}

/** A campaign whose size is in its data file: `rows` pictures. */
export function writeCampaign(folder: string, rows: number): string {
  mkdirSync(folder, { recursive: true });
  const lines = Array.from({ length: rows }, (_, index) => `sku-${index},Lamp number ${index},warm light`);
  writeFileSync(join(folder, 'rows.csv'), `sku,name,mood\n${lines.join('\n')}\n`);
  const file = join(folder, 'campaign.yaml');
  writeFileSync(
    file,
    `version: 1
name: bench-${rows}
tasks:
  hero:
    kind: image
    foreach: rows.csv
    key: "{{row.sku}}"
    with: { prompt: "{{row.name}} on an oak table, {{row.mood}}", aspectRatio: "1:1" }
    save: images/{{row.sku}}
`,
  );
  return file;
}

/** Start-up: what every command pays before it does anything. */
export async function measureStart(folder: string): Promise<Line[]> {
  const small = writeCampaign(join(folder, 'small'), 3);
  const found = await measureInTurn(
    {
      node: { args: ['-e', '0'] },
      version: { args: [bin, '--version'] },
      validate: { args: [bin, 'validate', small] },
    },
    9,
  );
  return [
    ...lineOf('bare node', found.node),
    ...compared('`--version`', found.version, { to: 'bare node', base: found.node, goal: 1.15 }),
    ...compared('`validate`, 3 steps', found.validate, { to: 'bare node', base: found.node }),
  ];
}

/** Text to plan, without a network: 1,000 and 10,000 steps, nothing bought yet. */
export async function measurePlanning(folder: string): Promise<Line[]> {
  const jobs: Record<string, Job> = {};
  for (const rows of [1000, 10_000]) {
    const file = writeCampaign(join(folder, `plan-${rows}`), rows);
    jobs[`validate ${rows}`] = { args: [bin, 'validate', file] };
    jobs[`plan ${rows}`] = { args: [bin, 'plan', file, '--json'] };
  }
  const found = await measureInTurn(jobs, 5);
  return Object.entries(found).flatMap(([name, sample]) => lineOf(`\`${name.replace(' ', '`, ')} steps`, sample));
}

/** A whole run against a service that does nothing, and the same again with nothing left to do. */
export async function measureRuns(folder: string, rows: number): Promise<Line[]> {
  const stub = await startStub();
  try {
    const file = writeCampaign(join(folder, `run-${rows}`), rows);
    const env = { MEDIABATCH_BASE_URL: stub.url, MEDIABATCH_API_KEY: 'bench_live_0123456789' };
    const args = [bin, 'apply', file, '--yes', '--concurrency', '32', '--poll-interval', '10'];
    const first = await measureOnce({ args, env });
    const again = await measureInTurn({ again: { args, env }, plan: { args: [bin, 'plan', file], env } }, 3);
    return [
      ...lineOf(`\`apply\`, ${rows} steps, jobs of 0 s`, first),
      ...lineOf(`\`apply\` again, ${rows} steps, nothing to do`, again.again),
      ...lineOf(`\`plan\`, ${rows} steps, nothing to do`, again.plan),
    ];
  } finally {
    stub.stop();
    rmSync(join(folder, `run-${rows}`), { recursive: true, force: true });
  }
}

async function startStub(): Promise<{ url: string; stop(): void }> {
  const script = fileURLToPath(new URL('stub.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the stub ended with ${code}`)));
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
  return { url, stop: () => void child.kill() };
}

function lineOf(name: string, sample: Sample | undefined): Line[] {
  return sample === undefined ? [] : [{ name, sample }];
}

function compared(
  name: string,
  sample: Sample | undefined,
  with_: { to: string; base: Sample | undefined; goal?: number },
): Line[] {
  if (sample === undefined || with_.base === undefined) return [];
  const value = sample.wallMs / with_.base.wallMs;
  const { goal } = with_;
  return [
    {
      name,
      sample,
      ratio: { to: with_.to, value },
      ...(goal !== undefined && { goal: { text: `≤ ${goal}`, met: value <= goal } }),
    },
  ];
}
