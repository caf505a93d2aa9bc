import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Json } from '../../src/ground/json.ts';
import { createsSeen, makePlace, type Place, pictures, until } from '../rig/place.ts';

const secret = 'T0000-B1111-x2y3z4secret';

interface Hook {
  env: { MEDIABATCH_NOTIFY_URL: string };
  seen: { [name: string]: Json }[];
}

/** A chat service. */
async function hook(
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) => response.end(),
): Promise<Hook> {
  const seen: Hook['seen'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      seen.push(JSON.parse(body));
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { env: { MEDIABATCH_NOTIFY_URL: `http://127.0.0.1:${port}/hooks/${secret}` }, seen };
}

/** Everything that a run leaves behind, and said. */
function leftBy(place: Place, ...said: string[]): string {
  const names = readdirSync(place.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return [...said, ...names.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))].join('\n');
}

const gated = `version: 1
name: conduct
tasks:
  pic: { kind: image, gate: approve, with: { prompt: "a secret product", resolution: 1k } }
  next: { kind: image, with: { prompt: x, referenceImages: ["{{tasks.pic.url}}"], resolution: 1k } }
`;

test('a run that is done says so, with the fields of its last event and without its prompts', async () => {
  const place = await makePlace(pictures('moonlight', 'sunrise'));
  const { env, seen } = await hook();
  const { code, err } = await place.apply(['--events', 'events.jsonl'], { env });
  expect(code, err).toBe(0);
  expect(seen).toHaveLength(1);
  const events = readFileSync(place.path('events.jsonl'), 'utf8').trim().split('\n');
  const { event: _event, ...fields } = JSON.parse(events.at(-1) ?? '');
  expect(seen[0]).toMatchObject({
    ...fields,
    mediabatch: 'notification',
    reason: 'done',
    campaign: 'conduct',
    exit: 0,
  });
  expect(seen[0]?.text).toMatch(/^conduct: done\n2 done\n\d+ credits spent, in \d:\d\d$/);
  expect(JSON.stringify(seen)).not.toMatch(/moonlight|https?:/);
  expect(leftBy(place, err)).not.toContain(secret);
  // Nothing to do is no run.
  expect((await place.apply([], { env })).code).toBe(0);
  expect(seen).toHaveLength(1);
});

test('what waits at a gate, and names only where somebody asks for them', async () => {
  const place = await makePlace(gated);
  const { env, seen } = await hook();
  expect((await place.apply(['--notify', 'gate'], { env })).code).toBe(5);
  expect(seen[0]).toMatchObject({ reason: 'gate', exit: 5 });
  expect(seen[0]).not.toHaveProperty('details');
  expect((await place.apply(['--notify-details'], { env })).code).toBe(5);
  expect(seen[1]).toMatchObject({ details: { failed: [], gates: ['pic'] } });
  expect(seen[1]?.text).toContain('\nto decide: pic');
});

test('what failed, and credits that ran out; not what nobody wants to hear of', async () => {
  const { env, seen } = await hook();
  const refusing = await makePlace(pictures('a', 'sunrise'), {
    faults: [
      {
        on: 'create',
        match: 'sunrise',
        do: { type: 'status', status: 400, body: { success: false, error: 'no such prompt' } },
      },
    ],
  });
  expect((await refusing.apply(['--notify', 'failed', '--notify-details'], { env })).code).toBe(3);
  expect(seen.splice(0)).toMatchObject([
    { reason: 'failed', exit: 3, details: { failed: ['pic@sunrise'], gates: [] } },
  ]);
  const poor = await makePlace(`${pictures('a', 'b', 'c')}budget: { credits: 2 }\nprices: { image: 2 }\n`);
  expect((await poor.apply(['--notify', 'done,failed'], { env })).code).toBe(4);
  expect(seen).toEqual([]);
  expect((await poor.apply(['--notify', 'budget'], { env })).code).toBe(4);
  expect(seen).toMatchObject([
    { reason: 'budget', exit: 4, text: expect.stringMatching(/^conduct: out of credits \(exit 4\)/) },
  ]);
});

test.each([
  ['HTTP 500, 3 times', 3, (response: ServerResponse) => response.writeHead(500).end()],
  [
    'it redirects (HTTP 302), which is not followed',
    1,
    (response: ServerResponse) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  ],
] as const)('who cannot be told is a notice, and changes nothing else: %s', async (why, times, answer) => {
  const place = await makePlace(pictures('a'));
  const { env, seen } = await hook(answer);
  const { code, err } = await place.apply([], { env });
  expect(code).toBe(0);
  expect(err).toContain(`notice the notification was not sent to MEDIABATCH_NOTIFY_URL: ${why}`);
  expect(seen).toHaveLength(times);
  expect(leftBy(place, err)).not.toContain(secret);
});

test.each([
  [`http://chat.example/${secret}`, 'must be https (http only to this machine)'],
  [`chat.example/${secret}`, 'is not a URL'],
  [`https://me:${secret}@chat.example/`, 'must not hold a login'],
])('%s is refused before anything is spent', async (url, why) => {
  const place = await makePlace(pictures('a'));
  const { code, err } = await place.apply([], { env: { MEDIABATCH_NOTIFY_URL: url } });
  expect(code).toBe(64);
  expect(err).toContain(`error MB3207 MEDIABATCH_NOTIFY_URL ${why}`);
  expect(err).not.toContain(secret);
  expect(createsSeen(place.service)).toBe(0);
});

test('a run that an error ends is told of, too', async () => {
  const place = await makePlace(pictures('a', 'b'), { faults: [{ on: 'create', do: { type: 'delay', ms: 600 } }] });
  const { env, seen } = await hook();
  writeFileSync(place.path('library.cjs'), `process.on('SIGUSR2', () => { throw new Error('moonlight'); });\n`);
  const run = place.start(['apply', '--yes', '--concurrency', '1'], {
    ...env,
    NODE_OPTIONS: `--require ${place.path('library.cjs')}`,
  });
  await until(() => createsSeen(place.service) === 1);
  run.child.kill('SIGUSR2');
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toContain('everything paid so far is on record');
  expect(seen).toEqual([
    {
      mediabatch: 'notification',
      version: 1,
      text: 'conduct: failed (exit 1)\nan error ended the run; what was bought is on record',
      reason: 'failed',
      campaign: 'conduct',
      exit: 1,
    },
  ]);
});

test('who ended a run knows that it has ended', async () => {
  const place = await makePlace(pictures('a', 'b'), { faults: [{ on: 'create', do: { type: 'delay', ms: 600 } }] });
  const { env, seen } = await hook();
  const run = place.start(['apply', '--yes', '--concurrency', '1', '--poll-interval', '10'], env);
  await until(() => createsSeen(place.service) === 1);
  run.child.kill('SIGINT');
  expect(await run.ended).toEqual({ code: 130, signal: null });
  expect(seen).toEqual([]);
});

test('nobody is told by a file of the folder', async () => {
  const place = await makePlace(pictures('a'));
  const { env, seen } = await hook();
  writeFileSync(place.path('.env'), `MEDIABATCH_NOTIFY_URL=${env.MEDIABATCH_NOTIFY_URL}\n`);
  expect((await place.apply()).code).toBe(0);
  expect(seen).toEqual([]);
  const refused = await place.apply(['--notify', 'done']);
  expect(refused).toMatchObject({ code: 64, err: expect.stringContaining('--notify has nobody to tell') });
  expect(await place.apply(['--notify', 'done,nothing'], { env })).toMatchObject({ code: 64 });
});

test('a rehearsal is told of only where somebody asks for it', async () => {
  const place = await makePlace(pictures('a'));
  const { env, seen } = await hook();
  expect((await place.apply(['--sandbox'], { env })).code).toBe(0);
  expect(seen).toEqual([]);
  expect((await place.apply(['--sandbox', '--redo', 'pic', '--notify', 'done'], { env })).code).toBe(0);
  expect(seen).toMatchObject([{ sandbox: true, text: expect.stringMatching(/^conduct \(sandbox\): done/) }]);
});
