import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  env: NodeJS.ProcessEnv;
  stats(): Promise<StubStats>;
  stop(): void;
}

/** `oneWayMs`: reached over TLS, so long away. */
export async function startStub(config: Omit<StubConfig, 'far'>, oneWayMs?: number): Promise<Stub> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-stub-'));
  const file = join(folder, 'config.json');
  const certificate = join(folder, 'certificate.pem');
  const far = oneWayMs === undefined ? {} : { far: { delayMs: oneWayMs, ...makeCertificate(folder, certificate) } };
  writeFileSync(file, JSON.stringify({ ...config, ...far }));
  const child = spawn(process.execPath, [join(compiled, 'stub.js'), file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const said = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the stub ended with ${code}`)));
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
  const [url = '', statsUrl] = said.split(' ');
  return {
    env: {
      MEDIABATCH_BASE_URL: url,
      MEDIABATCH_API_KEY: 'bench_live_0123456789',
      ...(oneWayMs !== undefined && { NODE_EXTRA_CA_CERTS: certificate }),
    },
    stats: async () => (await (await fetch(new URL('/__stats', statsUrl))).json()) as StubStats,
    stop() {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeCertificate(folder: string, certificate: string): { key: string; certificate: string } {
  const key = join(folder, 'key.pem');
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=x'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', ...made, '-addext', 'subjectAltName=IP:127.0.0.1', ...files], {
    stdio: 'ignore',
  });
  return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
}
