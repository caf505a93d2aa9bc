import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, type CommandResult, command, expectExit } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { findLosses, remainsOf } from '../../rig/killed-run.ts';
import { listenHere, serveHere } from '../../rig/listen.ts';
import { paidTwice, readLockFile, unrecorded } from '../../rig/oracle.ts';
import { createsSeen, makePlace, type Place, pictures, until } from '../../rig/place.ts';
import type { Program } from '../../rig/program.ts';

const refused = {
  type: 'status',
  status: 401,
  body: { success: false, error: 'revoked', message: 'revoked' },
} as const;

describe('I15 in the whole command', () => {
  test('I15 a key revoked during a run: exit 77, no create request, no endless polling, and the next run collects', async () => {
    const place = await makePlace(pictures('a', 'b', 'c', 'd', 'e', 'f'), { speed: 2 });
    const run = place.start(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--concurrency', '2']);
    await until(() => place.service.ledger().length === 2);
    const on = ['create', 'status'] as const;
    place.service.addFaults(on.map((what) => ({ on: what, times: 10_000, do: refused })));
    expect((await run.ended).code, run.err()).toBe(77);
    const refusals = place.service.requests().filter(({ status }) => status === 401);
    expect(refusals.length).toBeGreaterThan(0);
    expect(refusals.length).toBeLessThanOrEqual(4);
    expect(place.service.ledger()).toHaveLength(2);
    expect(run.err()).toContain('the service refuses the key');
    expect(unrecorded(place.service.ledger(), readLockFile(place.path('campaign.lock.jsonl')))).toEqual([]);
    place.service.clearFaults();
    await place.apply([], { ends: 0 });
    expect(place.service.ledger()).toHaveLength(6);
    expect(paidTwice(place.service.ledger())).toEqual([]);
    expect(readdirSync(place.path('out'))).toHaveLength(6);
  });

  test('I15 an empty account without a top-up: waits as long as requested, then exit 4', async () => {
    const place = await makePlace(pictures('a', 'b', 'c', 'd'), { credits: 7 });
    const run = await place.apply(['--wait-for-balance', '2s', '--concurrency', '1'], { ends: 4 });
    expect(run.err).toMatch(/waiting for credits until \d\d:\d\d; next try in/);
    expect(run.err).toContain('the account has too few credits');
    expect(readdirSync(place.path('out')).length).toBe(place.service.ledger().length);
    expect(paidTwice(place.service.ledger())).toEqual([]);
  });
});

describe('a token instead of an API key', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'none' })}.${part({ sub: 'somebody' })}.c2ln`;

  test.each([['plan'], ['apply', '--yes', '--poll-interval', '10']])(
    '%s reports once that the credential is a token',
    async (name, ...more) => {
      const place = await makePlace(pictures('a', 'b'));
      const args = [name ?? '', 'campaign.yaml', ...more];
      const { err } = await command(args, { cwd: place.folder, env: { ...place.env, MEDIABATCH_API_KEY: token } });
      expect(err.match(/contains a token, not an API key/g)).toHaveLength(1);
      const withKey = await command(['plan', 'campaign.yaml'], { cwd: place.folder, env: place.env });
      expect(withKey.err).not.toContain('contains a token');
    },
  );
});

test('with one slot: running jobs are collected first, then files are fetched, and only then is anything bought', async () => {
  const place = await makePlace(pictures('a', 'b', 'c'), { speed: 4 });
  await place.apply(['--select', 'pic@b'], { ends: 0 });
  const [file = ''] = readdirSync(place.path('out'));
  rmSync(join(place.folder, 'out', file));
  const run = place.start(['apply', 'campaign.yaml', '--yes', '-v', '--select', 'pic@c', '--poll-interval', '10']);
  await until(() => run.err().includes('created'));
  run.child.kill('SIGINT');
  await run.ended;
  const before = place.service.requests().length;
  await place.apply(['--concurrency', '1'], { ends: 0 });
  const [attached, fetched] = place.service
    .ledger()
    .map(({ id }) => id)
    .reverse()
    .slice(1);
  const seen = place.service.requests().slice(before);
  const at = (isIt: (request: { method: string; path: string }) => boolean) => seen.findIndex(isIt);
  const order = [
    at(({ path }) => path.includes(attached ?? '?')),
    at(({ path }) => path.includes(fetched ?? '?')),
    at(({ method, path }) => method === 'POST' && path.endsWith('/create')),
  ];
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(order[0]).toBe(0);
  expect(createsSeen(place.service)).toBe(3);
});

test('I19 read-only commands write nothing and query no service', async () => {
  const place = await makePlace(pictures('a', 'b'));
  expect((await place.apply(['--select', 'pic@a'])).code).toBe(0);
  const asked = place.service.requests().length;
  const tree = () =>
    readdirSync(place.folder, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((path) => {
        const { mtimeMs, ctimeMs, size, ino } = statSync(place.path(path));
        return [path, mtimeMs, ctimeMs, size, ino];
      });
  const before = [tree(), readFileSync(place.path('campaign.lock.jsonl'), 'utf8')];
  for (const [name = '', ...more] of [
    ['plan'],
    ['status'],
    ['validate'],
    ['explain', 'pic@b'],
    ['explain', 'pic@b', '--request'],
    ['explain', '--origins'],
  ]) {
    const { code, err } = await command([name, 'campaign.yaml', ...more], { cwd: place.folder, env: place.env });
    expect(code, `${name}: ${err}`).toBe(0);
  }
  expect([tree(), readFileSync(place.path('campaign.lock.jsonl'), 'utf8')]).toEqual(before);
  expect(place.service.requests()).toHaveLength(asked);
});

const args = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--concurrency', '1'];
const rows = ['a', 'b', 'c', 'd'];
const hasFaketime = spawnSync('faketime', ['-f', '+1h', 'true']).status === 0;

/** A run that has bought something and is far from its end. */
async function startedRun(env: Record<string, string> = {}): Promise<{ place: Place; run: Program }> {
  const place = await makePlace(pictures(...rows), { speed: 4 });
  const run = place.start(args, env);
  await until(() => createsSeen(place.service) > 0);
  return { place, run };
}

function second(place: Place, cwd = place.folder): Promise<CommandResult> {
  return command([...args, '--lock-timeout', '0'], { cwd, env: place.env });
}

function expectRefused({ code, err }: Pick<CommandResult, 'code' | 'err'>, run: Program): void {
  expect(code, err).toBe(75);
  expect(err).toContain(`another run holds campaign.lock.jsonl: process ${run.child.pid}`);
  // It lives, so nothing is to be unlocked.
  expect(err).toContain(`or end process ${run.child.pid} on this machine`);
  expect(err).not.toContain('mediabatch unlock');
}

async function expectWholeAndPaidOnce(place: Place, run: Program): Promise<void> {
  expect(await run.ended, run.err()).toMatchObject({ code: 0, signal: null });
  const ledger = place.service.ledger();
  expect(ledger).toHaveLength(rows.length);
  expect(findLosses(remainsOf(place))).toEqual([]);
  expect(readdirSync(place.path('out'))).toHaveLength(rows.length);
}

describe.runIf(process.platform !== 'win32')('I13 in the whole command', () => {
  test('I13 a suspended run keeps its lock and continues', async () => {
    const { place, run } = await startedRun();
    run.child.kill('SIGSTOP');
    const before = createsSeen(place.service);
    expectRefused(await second(place), run);
    expect(createsSeen(place.service)).toBe(before);
    run.child.kill('SIGCONT');
    await expectWholeAndPaidOnce(place, run);
  });

  test('I13 a run whose event loop is blocked keeps its lock', async () => {
    const { place, run } = await startedRun({ NODE_OPTIONS: `--import=${blocker()}` });
    run.child.kill('SIGUSR2');
    await until(() => run.err().includes('blocked'));
    expectRefused(await second(place), run);
    await expectWholeAndPaidOnce(place, run);
  });

  test('I13 a link to the folder means the same lock', async () => {
    const { place, run } = await startedRun();
    const link = `${place.folder}-link`;
    symlinkSync(place.folder, link);
    onTestFinished(() => rmSync(link));
    expectRefused(await second(place, link), run);
    await expectWholeAndPaidOnce(place, run);
  });

  test.runIf(hasFaketime)(
    'I13 a second run is refused whatever its clock: two days later or earlier (faketime)',
    async () => {
      const { place, run } = await startedRun();
      run.child.kill('SIGSTOP');
      for (const step of ['+50h', '-50h']) {
        const { status, stderr } = spawnSync(
          'faketime',
          ['-f', step, process.execPath, bin, ...args, '--lock-timeout', '0'],
          { cwd: place.folder, env: place.env, encoding: 'utf8' },
        );
        expectRefused({ code: status, err: stderr }, run);
      }
      run.child.kill('SIGCONT');
      await expectWholeAndPaidOnce(place, run);
    },
  );

  test('I13 a run whose guard was removed by hand buys nothing more, and the next run continues', async () => {
    const { place, run } = await startedRun();
    run.child.kill('SIGSTOP');
    rmSync(place.path('.mediabatch/campaign.lock.jsonl.guard'));
    const before = createsSeen(place.service);
    run.child.kill('SIGCONT');
    expect((await run.ended).code, run.err()).not.toBe(0);
    expect(createsSeen(place.service)).toBeLessThanOrEqual(before + 1);
    await place.apply([], { ends: 0 });
    expect(place.service.ledger()).toHaveLength(rows.length);
    expect(findLosses(remainsOf(place))).toEqual([]);
  });
});

/** A module that holds up the event loop of its process for two seconds at SIGUSR2. */
function blocker(): string {
  const folder = makeFolder();
  const path = join(folder, 'block.mjs');
  const text = `process.on('SIGUSR2', () => {
  process.stderr.write('blocked\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
});
`;
  writeFileSync(path, text);
  return path;
}

const size = 12 << 20;
/** A picture that is as big as is wanted: zeros between the head and the end of a PNG. */
const picture = Buffer.alloc(size);
Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwC', 'base64').copy(picture);
Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]).copy(picture, size - 12);

const heads: [string, string][] = [
  ['no length', 'connection: close\r\n'],
  ['no length and no connection header', ''],
  ['a length, and a connection that ends', `content-length: ${size}\r\nconnection: close\r\n`],
];

test.each(heads)(
  'downloads files with %s at once from a storage host, although one is truncated at first',
  async (_name, head) => {
    let cut = 0;
    const storage = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (request) => {
        const isCut = String(request).includes('/job3 ') && cut === 0;
        if (isCut) cut += 1;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n${head}\r\n`);
        socket.end(isCut ? picture.subarray(0, size / 2) : picture);
      });
    });
    const files = `${await listenHere(storage)}/files`;
    let jobs = 0;
    const origin = await serveHere((request, response) => {
      const { url = '' } = request;
      request.resume().on('end', () => {
        if (url.endsWith('/create')) {
          jobs += 1;
          const created = { success: true, generation: { id: `job${jobs}` }, creditsDeducted: 1, creditsRemaining: 9 };
          response.end(JSON.stringify(created));
          return;
        }
        const id = url.split('/').at(-1);
        response.end(JSON.stringify({ success: true, data: { id, status: 'COMPLETED', outputUrl: `${files}/${id}` } }));
      });
    });
    const folder = makeFolder();
    const rows = Array.from({ length: 6 }, (_, index) => `p${index}`);
    writeFileSync(
      join(folder, 'campaign.yaml'),
      `version: 1
name: odd
prices: { image: 1 }
tasks:
  pic: { kind: image, foreach: [${rows.join(', ')}], with: { prompt: "{{row}}" }, save: "{{row}}" }
`,
    );
    await expectExit(
      0,
      command(['apply', 'campaign.yaml', '--yes', '--poll-interval', '10'], {
        cwd: folder,
        env: { MEDIABATCH_BASE_URL: `${origin}/api/v1`, MEDIABATCH_API_KEY: 'acme_live_secret123456' },
      }),
    );
    expect([jobs, cut]).toEqual([6, 1]);
    for (const row of rows) expect(statSync(join(folder, `${row}.png`)).size).toBe(size);
  },
);
