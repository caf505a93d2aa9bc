import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../rig/folder.ts';
import { serveHere } from '../rig/listen.ts';

export const key = 'acme_live_verysecret123456';

/** Nobody listens there. */
export const nobody = { MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1', MEDIABATCH_API_KEY: key };

export type Scripted = [status: number, body: unknown];

/** A service that gives scripted answers, by method and path below /api/v1. */
export async function scripted(answers: { [operation: string]: Scripted }) {
  const seen: string[] = [];
  const origin = await serveHere((request, response) => {
    const path = (request.url ?? '').replace('/api/v1', '').split('?')[0] ?? '';
    seen.push(`${request.method} ${path}`);
    const [status, body] = answers[`${request.method} ${path}`] ?? [404, { success: false, error: 'nothing here' }];
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  return { seen, env: { MEDIABATCH_BASE_URL: `${origin}/api/v1`, MEDIABATCH_API_KEY: key } };
}

/** A folder that goes away with the test. */
export function folderWith(files: { [path: string]: string } = {}): string {
  const folder = makeFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export const header = '{"mediabatch":"lock","version":2}';

/** The note of a run that holds the lock on another machine. */
export const guardElsewhere = JSON.stringify({
  mediabatch: 'guard',
  version: 1,
  id: 'f00df00df00df00d',
  host: 'elsewhere',
  pid: 1,
  since: '2026-01-01T00:00:00.000Z',
});

/** A line of a lock. */
export function record(more: { [field: string]: unknown }): string {
  const base = {
    address: 'song',
    kind: 'music',
    fingerprint: '1:x',
    generation: 1,
    attempt: 1,
    state: 'done',
    key: 'k',
  };
  return JSON.stringify({ ...base, ...more });
}
