import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { makeTrial } from '../rig/trial.ts';

/** Stands before the service, and answers each create with a wait that it asks for. */
async function inFront(address: string, retryAfter: number): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': String(retryAfter) });
      response.end(JSON.stringify({ success: false, error: { code: 'RATE_LIMITED', message: 'come back later' } }));
      return;
    }
    const url = new URL(request.url ?? '', address);
    const answer = await fetch(url, { headers: { authorization: request.headers.authorization ?? '' } });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}/api/v1`;
}

const manifest = `version: 1
name: busy
tasks:
  pic: { kind: image, foreach: [a, b], with: { prompt: "{{row}}", resolution: 1k } }
`;

test('a wait of a day that the service requests is reported with its end, and stops creates', async () => {
  const trial = await makeTrial(manifest);
  const url = await inFront(trial.sandbox.env.MEDIABATCH_BASE_URL ?? '', 86_400);
  const { code, err } = await trial.apply([], { env: { MEDIABATCH_BASE_URL: url } });
  expect(code, err).toBe(69);
  expect(err).toMatch(/stopped {2}nothing more is bought, the service asks to wait until \d{4}-\d\d-\d\d \d\d:\d\d/);
  expect(err).toContain('to wait for it in a run: mediabatch apply campaign.yaml --patience 25h\n');
  expect(trial.sandbox.ledger()).toEqual([]);
  expect(trial.events().find(({ event }) => event === 'spending-stopped')).toMatchObject({ because: 'throttled' });
});
