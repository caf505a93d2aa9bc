import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StubConfig, StubStats } from './stub-jobs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Inside of node_modules: what is compiled there finds the packages, and git does not see it. */
const compiled = join(root, 'node_modules', '.cache', 'mediabatch-bench');

/** The stub and the peers as plain JavaScript: a compiler inside of the measured process would be measured too. */
export function compilePeers(): void {
  mkdirSync(compiled, { recursive: true });
  writeFileSync(join(compiled, 'package.json'), '{ "type": "module" }\n');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', join(root, 'test', 'bench', 'tsconfig.json')], { stdio: 'inherit' });
}

export function peerScript(name: 'limit' | 'naive'): string {
  return join(compiled, 'peers', `${name}.js`);
}

export interface Stub {
  env: { MEDIABATCH_BASE_URL: string; MEDIABATCH_API_KEY: string };
  stats(): Promise<StubStats>;
  stop(): void;
}

export async function startStub(config: StubConfig): Promise<Stub> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-stub-'));
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(process.execPath, [join(compiled, 'stub.js'), file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the stub ended with ${code}`)));
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
  rmSync(folder, { recursive: true, force: true });
  return {
    env: { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: 'bench_live_0123456789' },
    stats: async () => (await (await fetch(new URL('/__stats', url))).json()) as StubStats,
    stop: () => void child.kill(),
  };
}
