import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { paidTwice, readLockFile, unrecorded } from '../../rig/oracle.ts';
import { createsSeen, makePlace, pictures, until } from '../../rig/place.ts';

const args = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--concurrency', '1'];

test.each([
  ['throws at an event of its own', `throw new Error('assert(!this.paused)')`],
  ['rejects a promise that nobody has', `void Promise.reject(new Error('assert(!this.paused)'))`],
  ['throws for every thing that comes', `setInterval(() => { throw new Error('assert(!this.paused)'); }, 1)`],
])('a library that %s ends a run as runs end: what is paid is on record, and said to be', async (_name, does) => {
  const place = await makePlace(pictures('a', 'b', 'c'), {
    faults: [{ on: 'create', do: { type: 'delay', ms: 600 } }],
  });
  // When the test says so, while a create is on the wire.
  writeFileSync(place.path('library.cjs'), `process.on('SIGUSR2', () => { ${does} });\n`);
  const run = place.start(args, { NODE_OPTIONS: `--require ${place.path('library.cjs')}` });
  await until(() => createsSeen(place.service) === 1);
  run.child.kill('SIGUSR2');
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toMatch(
    /internal error this is a bug in mediabatch: assert\(!this\.paused\)\n {2}→ everything paid so far is on record in campaign\.lock\.jsonl; run again to go on\n {2}please report it with these lines:\n {2}mediabatch \d+\.\d+\.\d+, Node v\d.*\n {2}command: apply --yes --poll-interval --concurrency\n {2}Error: assert/,
  );
  expect(createsSeen(place.service)).toBe(1);
  expect(place.service.ledger()).toHaveLength(1);
  expect(unrecorded(place.service.ledger(), readLockFile(place.path('campaign.lock.jsonl')))).toEqual([]);
  expect([...readLockFile(place.path('campaign.lock.jsonl')).steps.keys()]).toHaveLength(1);
  const again = await place.apply();
  expect(again.code, again.err).toBe(0);
  expect(place.service.ledger()).toHaveLength(3);
  expect(paidTwice(place.service.ledger())).toEqual([]);
  for (const name of ['a', 'b', 'c']) expect(existsSync(place.path(`out/${name}.png`))).toBe(true);
});

test('outside a run the error is a message as well', async () => {
  const place = await makePlace(pictures('a'));
  writeFileSync(
    place.path('library.cjs'),
    `const { exit } = process; process.exit = (code) => { process.exit = exit; setImmediate(() => { throw new Error('boom'); }); };\n`,
  );
  const run = place.start(['plan', 'campaign.yaml'], { NODE_OPTIONS: `--require ${place.path('library.cjs')}` });
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.err()).toContain('internal error this is a bug in mediabatch: boom\n  please report it with these lines:');
  expect(run.err()).not.toContain('Node.js v');
  // A report is pasted in public.
  expect(run.err()).not.toContain(place.path(''));
});
