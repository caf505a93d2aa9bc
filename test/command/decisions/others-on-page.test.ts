import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { OthersAnswer, ReviewData } from '../../../src/contract/review.ts';
import { root } from '../../rig/command.ts';
import { dyingAt, findLosses, remainsOf } from '../../rig/killed-run.ts';
import { subjectOf } from '../../rig/oracle.ts';
import { applied, makePlace, type Place, type RunningCommand } from '../../rig/place.ts';
import { pageOf, type RunPage } from '../../rig/review/page-of-run.ts';

const manifest = (budget: number, extra = '') => `version: 1
name: live
budget: { credits: ${budget} }
prices: { image: 2 }
tasks:
  hero: { kind: image, matrix: { light: [warm, cold] }, gate: { choose: 1, among: light }, with: { prompt: "a {{matrix.light}} lamp", resolution: 1k } }
  poster: { kind: image, with: { prompt: "a poster", resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] } }
${extra}`;

const nothing = { 'hero@warm': 'rejected', 'hero@cold': 'rejected' } as const;
const live = [...applied, '--review', '--no-open'];
const preloadOf = (name: string) => pathToFileURL(join(root, 'test/rig', name)).href;
const terminal = preloadOf('on-terminal.mjs');
const change = preloadOf('change-at-settle.mjs');

/** A run that a person has started on a terminal, and its page. */
async function startedByPerson(place: Place, { words = live, env = {}, preload = '' } = {}) {
  const loads = [terminal, preload].filter((path) => path !== '').map((path) => `--import ${path}`);
  const run = place.start(words, { TERM: 'xterm', NO_COLOR: '1', ...env, NODE_OPTIONS: loads.join(' ') });
  return { run, page: await pageOf(run) };
}

/** Looks until it is so, or the run is gone. */
async function untilSeen(page: RunPage, isSo: (data: ReviewData) => boolean): Promise<ReviewData | undefined> {
  for (;;) {
    const data = await page.data().catch(() => undefined);
    if (data === undefined || isSo(data)) return data;
    await wait(20);
  }
}

const stateOf = ({ groups }: ReviewData) => groups.find(({ name }) => name === 'hero')?.gate?.state;
const waitsWith = (state: string) => (data: ReviewData) => data.run?.is === 'waiting' && stateOf(data) === state;

async function rejectAll(page: RunPage): Promise<void> {
  await untilSeen(page, waitsWith('open'));
  expect(await page.judge(nothing)).toMatchObject({ is: 'recorded', refused: [] });
  await untilSeen(page, waitsWith('rejected'));
}

async function offerOn(page: RunPage): Promise<Extract<OthersAnswer, { is: 'offer' }>> {
  const offer = await page.others({ group: 'hero' });
  if (offer.is !== 'offer') throw new Error(offer.text);
  return offer;
}

/** What happens in the process of the run, once, when the run has ended and the next one has not begun. */
function atSettle(place: Place, script: string): void {
  writeFileSync(place.path('at-settle.mjs'), `import { readFileSync, writeFileSync } from 'node:fs';\n${script}\n`);
}

const timesBought = ({ service }: Place) => {
  const subjects = service.ledger().map(subjectOf);
  return Object.fromEntries(
    [...new Set(subjects)].map((subject) => [subject, subjects.filter((one) => one === subject).length]),
  );
};
const end = (run: RunningCommand) => {
  run.child.kill('SIGINT');
  return run.ended;
};

test('others are bought by the run that waits, for what the person saw, and once, however often it is said', async () => {
  const place = await makePlace(manifest(30));
  const { run, page } = await startedByPerson(place);
  await untilSeen(page, waitsWith('open'));
  expect(await page.others({ group: 'hero' })).toEqual({
    ...{ is: 'no', text: 'hero has something left to pick' },
    command: 'mediabatch apply campaign.yaml --redo hero',
  });
  await rejectAll(page);
  const offer = await offerOn(page);
  expect(offer.what).toBe('4 credits, and at most 2 credits after the picks');
  expect(offer.text).toMatch(/~ hero +image +2 steps +4/);
  expect(offer.text).toMatch(/budget +30, 26 left now, 22 after this plan/);
  expect(await page.others({ digest: 'f'.repeat(64) })).toMatchObject({ is: 'no' });
  const twice = await Promise.all([page.others({ digest: offer.digest }), page.others({ digest: offer.digest })]);
  expect(twice.map(({ is }) => is)).toEqual(['agreed', 'agreed']);
  // The page of the run that has ended is that of the run which follows.
  await untilSeen(page, waitsWith('open'));
  expect(timesBought(place)).toEqual({ 'image a warm lamp': 2, 'image a cold lamp': 2 });
  expect(await page.others({ digest: offer.digest })).toMatchObject({ is: 'no' });
  // And once more.
  await rejectAll(page);
  const again = await offerOn(page);
  expect(again.digest).not.toBe(offer.digest);
  expect(await page.others({ digest: again.digest })).toMatchObject({ is: 'agreed' });
  await untilSeen(page, waitsWith('open'));
  await page.judge({ 'hero@cold': 'picked' });
  expect((await run.ended).code, run.err()).toBe(0);
  expect(timesBought(place)).toEqual({ 'image a warm lamp': 3, 'image a cold lamp': 3, 'image a poster': 1 });
  expect(run.err()).toMatch(/approved by .*: 4 credits, and at most 2 credits after the picks, for others of hero\n/);
  expect((await place.apply()).code).toBe(0);
  expect(place.service.ledger()).toHaveLength(7);
}, 120_000);

test('what is not inside the budget, the cap of the command, or what was shown is not bought', async () => {
  const short = await makePlace(manifest(7));
  const first = await startedByPerson(short);
  await rejectAll(first.page);
  expect(await first.page.others({ group: 'hero' })).toMatchObject({
    ...{ is: 'no', text: expect.stringContaining('budget') },
    command: 'mediabatch apply campaign.yaml --redo hero',
  });
  expect((await end(first.run)).code).toBe(5);
  expect(short.service.ledger()).toHaveLength(2);

  const capped = await makePlace(manifest(30));
  // The four credits of the drafts, and three more.
  const second = await startedByPerson(capped, { words: [...live, '--max-credits', '7'] });
  await rejectAll(second.page);
  expect(await second.page.others({ group: 'hero' })).toMatchObject({ is: 'no' });
  expect((await end(second.run)).code).toBe(5);

  const changed = await makePlace(manifest(30));
  const third = await startedByPerson(changed);
  await rejectAll(third.page);
  const offer = await offerOn(third.page);
  changed.write(manifest(30, '  card: { kind: image, with: { prompt: "a card", resolution: 1k } }\n'));
  expect(await third.page.others({ digest: offer.digest })).toMatchObject({
    ...{ is: 'no', text: expect.stringContaining('look again') },
  });
  // What is shown now is bought now: the card with them.
  const anew = await offerOn(third.page);
  expect(anew.what).toContain('6 credits');
  expect(await third.page.others({ digest: anew.digest })).toMatchObject({ is: 'agreed' });
  await untilSeen(third.page, waitsWith('open'));
  expect((await end(third.run)).code).toBe(5);
  expect(timesBought(changed)).toEqual({ 'image a warm lamp': 2, 'image a cold lamp': 2, 'image a card': 1 });
}, 180_000);

/** A run of a person whose takes are all rejected, and what the page offers then; something is to change before the next run. */
async function offeredBefore(place: Place, env: Record<string, string> = {}) {
  const { run, page } = await startedByPerson(place, { preload: change, env });
  await page.listen();
  await rejectAll(page);
  return { run, page, digest: (await offerOn(page)).digest };
}

test('decided otherwise before the next run holds the lock, another plan, or only a part that fits in: nothing is bought, and the page says it', async () => {
  const lock = `'campaign.lock.jsonl'`;
  const rugs = manifest(30).replace('a {{matrix.light}} lamp', 'a {{matrix.light}} rug');
  const causes = [
    {
      script: `writeFileSync('campaign.yaml', ${JSON.stringify(rugs)});`,
      why: 'the plan is stale: hero@warm would be bought now for 2',
    },
    // As by `pick` in another terminal, or by another branch.
    {
      script: `writeFileSync(${lock}, readFileSync(${lock}, 'utf8').replace('"is":"rejected"', '"is":"picked"'));`,
      why: 'hero has something left to pick',
    },
    { script: `writeFileSync('campaign.yaml', ${JSON.stringify(manifest(7))});`, why: 'budget' },
  ];
  for (const { script, why } of causes) {
    const place = await makePlace(manifest(30));
    const { run, page, digest } = await offeredBefore(place);
    atSettle(place, script);
    expect(await page.others({ digest })).toMatchObject({ is: 'agreed' });
    const told = untilSeen(page, ({ run: state }) => state?.is === 'ended' && state.text.includes(why));
    expect((await run.ended).code, run.err()).toBe(65);
    expect(run.err()).toContain('the plan is stale');
    expect(run.err()).toContain(why);
    expect((await told)?.run?.text).toContain('others of hero were not bought');
    expect(place.service.ledger()).toHaveLength(2);
    await place.remove();
  }
}, 360_000);

test('a next run that is refused is told of by the notification of the command, once', async () => {
  let told = '';
  const hook = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (piece: string) => {
      told += piece;
    });
    request.on('end', () => response.end());
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void hook.close());
  const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
  const place = await makePlace(manifest(30));
  const { run, page, digest } = await offeredBefore(place, { MEDIABATCH_NOTIFY_URL: address });
  atSettle(place, `writeFileSync('campaign.yaml', ${JSON.stringify(manifest(7))});`);
  await page.others({ digest });
  expect((await run.ended).code, run.err()).toBe(65);
  expect(JSON.parse(told)).toMatchObject({ campaign: 'live', exit: 65 });
}, 120_000);

test('Ctrl-C between the two runs ends both', async () => {
  const place = await makePlace(manifest(30));
  const { run, page, digest } = await offeredBefore(place);
  atSettle(
    place,
    `const { write } = process.stderr;
process.stderr.write = (text, ...rest) => {
  if (String(text).includes('approved')) process.emit('SIGINT', 'SIGINT');
  return write.call(process.stderr, text, ...rest);
};`,
  );
  await page.others({ digest });
  const told = untilSeen(page, ({ run: state }) => state?.is === 'ended');
  expect((await run.ended).code, run.err()).toBe(130);
  expect(run.err()).toContain('nothing more was spent');
  expect((await told)?.run?.text).toContain('others of hero were not bought');
  expect(place.service.ledger()).toHaveLength(2);
}, 120_000);

test('of a group with something picked, others are bought for what was rejected', async () => {
  const place = await makePlace(`version: 1
name: live
budget: { credits: 30 }
prices: { image: 2 }
tasks:
  hero: { kind: image, matrix: { light: [warm, cold, dim] }, gate: { choose: 2, among: light }, with: { prompt: "a {{matrix.light}} lamp", resolution: 1k } }
`);
  const { run, page } = await startedByPerson(place);
  await untilSeen(page, waitsWith('open'));
  await page.judge({ 'hero@warm': 'picked', 'hero@cold': 'rejected', 'hero@dim': 'rejected' });
  await untilSeen(page, waitsWith('rejected'));
  const offer = await offerOn(page);
  expect(offer.what).toContain('4 credits');
  await page.others({ digest: offer.digest });
  await untilSeen(page, waitsWith('open'));
  expect((await page.data()).assets.find(({ address }) => address === 'hero@warm')?.verdict?.is).toBe('picked');
  expect((await end(run)).code).toBe(5);
  expect(timesBought(place)).toEqual({ 'image a warm lamp': 1, 'image a cold lamp': 2, 'image a dim lamp': 2 });
}, 120_000);

test('of a canary that is rejected, another one is bought, and the command for a terminal names it alone', async () => {
  const place = await makePlace(`version: 1
name: live
budget: { credits: 3 }
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b, c, d], canary: { first: 1, then: ask }, with: { prompt: "a lamp {{row}}", resolution: 1k } }
`);
  const { run, page } = await startedByPerson(place);
  await untilSeen(page, ({ run: state }) => state?.is === 'waiting');
  await page.judge({ 'hero@a': 'rejected' });
  await untilSeen(page, ({ groups }) => groups[0]?.gate?.state === 'rejected');
  expect(await page.others({ group: 'canary of hero' })).toMatchObject({
    ...{ is: 'no', text: expect.stringContaining('budget') },
    command: 'mediabatch apply campaign.yaml --redo hero@a',
  });
  expect((await end(run)).code).toBe(5);
}, 120_000);

test('where nobody sits at a terminal the run ends when all is rejected, and says the command', async () => {
  const place = await makePlace(manifest(30));
  const run = place.start(live);
  const page = await pageOf(run);
  await untilSeen(page, waitsWith('open'));
  expect(await page.data()).not.toHaveProperty('canBuyOthers');
  await page.judge(nothing);
  expect((await run.ended).code).toBe(5);
  expect(run.err()).toContain('to buy others instead: mediabatch apply campaign.yaml --redo hero');
}, 120_000);

test('killed at any write of the lock: nothing is bought beyond what was agreed to, and nothing twice', async () => {
  const seen = { before: 0, after: 0, bought: 0 };
  for (let write = 17; write <= 53; write += 6) {
    const place = await makePlace(manifest(30));
    const { run, page } = await startedByPerson(place, dyingAt({ write, when: write % 12 === 5 ? 'before' : 'after' }));
    let isSent = false;
    const people = async () => {
      await rejectAll(page);
      const { digest } = await offerOn(page);
      isSent = true;
      await page.others({ digest });
      await untilSeen(page, waitsWith('open'));
      run.child.kill('SIGINT');
    };
    // Whoever talks to what is dead hears nothing.
    await people().catch(() => undefined);
    run.child.kill('SIGINT');
    const { signal } = await run.ended;
    const most = isSent ? 2 : 1;
    const check = () => {
      for (const [subject, times] of Object.entries(timesBought(place)))
        expect(times, `write ${write}: ${subject}`).toBeLessThanOrEqual(subject.includes('poster') ? 0 : most);
      const losses = findLosses(remainsOf(place)).filter((text) => isSent === false || !text.startsWith('paid twice'));
      expect(losses, `write ${write}`).toEqual([]);
    };
    check();
    const bought = place.service.ledger().length;
    if (signal === 'SIGKILL') seen[isSent ? (bought > 2 ? 'bought' : 'after') : 'before'] += 1;
    // Nobody has agreed to others by going on.
    const again = await place.apply();
    expect(again.code, `write ${write}: ${again.err}`).toBe(5);
    check();
    const settled = place.service.ledger().length;
    expect((await place.apply()).code).toBe(5);
    expect(place.service.ledger(), `write ${write}`).toHaveLength(settled);
    await place.remove();
  }
  expect(
    Object.values(seen).every((times) => times > 0),
    JSON.stringify(seen),
  ).toBe(true);
}, 240_000);
