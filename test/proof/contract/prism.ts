import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from './document.ts';

export interface ContractProxy {
  /** Scheme, host and port. */
  readonly origin: string;
  close(): void;
}

/** `prism proxy --errors`: what breaks the document, request or response, is answered with a problem instead. */
export async function startProxy(document: Document, upstream: string): Promise<ContractProxy> {
  const bin = process.env.MEDIABATCH_PRISM;
  if (bin === undefined || bin === '') {
    throw new Error(
      'The contract test needs prism. Install it anywhere, as in "npm i --prefix /tmp/prism --ignore-scripts @stoplight/prism-cli@5.14.2", and set MEDIABATCH_PRISM=/tmp/prism/node_modules/.bin/prism.',
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-contract-'));
  const file = join(folder, 'service.openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const port = await findFreePort();
  const child = spawn(bin, ['proxy', '--errors', '--host', '127.0.0.1', '--port', String(port), file, upstream], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const close = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      said += chunk;
      if (said.includes('Prism is listening')) resolve();
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', (error) => reject(new Error(`${bin} could not be started: ${error.message}`)));
    child.once('exit', (code) => reject(new Error(`prism ended with ${code}:\n${said}`)));
  }).catch((error: unknown) => {
    close();
    throw error;
  });
  return { origin: `http://127.0.0.1:${port}`, close };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('there is no free port');
  return address.port;
}

/**
 * What prism found wrong; empty when nothing. Errors come as a problem of its own in place of the answer, warnings –
 * such as a status that the document does not name – in a header.
 */
export function findViolations(answer: { status: number; headers: Headers; text: string }): string[] {
  const warnings = answer.headers.get('sl-violations');
  const isProblem =
    (answer.headers.get('content-type') ?? '').includes('problem+json') && answer.text.includes('stoplight.io/prism');
  return [...(warnings === null ? [] : [warnings]), ...(isProblem ? [`${answer.status} ${answer.text}`] : [])];
}
