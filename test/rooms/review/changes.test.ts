import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../../src/campaign/open-campaign.ts';
import type { JudgeAnswer, ReviewChange, ReviewData } from '../../../src/contract/review.ts';
import { readLock } from '../../../src/lock/read.ts';
import { CampaignHost } from '../../../src/review/campaign-host.ts';
import { describeChange } from '../../../src/review/serve/describe-change.ts';
import { serveReview } from '../../../src/review/serve/serve-review.ts';
import { leaveBought } from '../../command/decisions/bought.ts';
import { temporaryFolder } from '../../rig/command.ts';

const hundred = Array.from({ length: 100 }, (_, index) => `p${index}`);

/** Groups of four takes, each with a step that is made of the picked one; and so many pictures beside them. */
const manifestOf = (keys: readonly string[], beside: number) => `version: 1
name: spring
prices: { image: 2 }
tasks:
  hero:
    kind: image
    foreach: [${keys.join(', ')}]
    key: "{{row}}"
    takes: 4
    gate: { choose: 1 }
    with: { prompt: "a {{row}}" }
  final: { kind: image, foreach: [${keys.join(', ')}], key: "{{row}}", with: { prompt: card, referenceImages: ["{{tasks.hero.url}}"] } }
  other: { kind: image, foreach: [${Array.from({ length: beside }, (_, index) => `n${index}`).join(', ')}], key: "{{row}}", with: { prompt: "b {{row}}" } }
`;

async function open(keys = hundred, beside = 1) {
  const { path: folder, remove } = temporaryFolder();
  const notBought = Object.fromEntries(keys.map((key) => [`final@${key}`, 'not bought' as const]));
  leaveBought(folder, manifestOf(keys, beside), notBought);
  const paste = ({ call, words }: { call: string; words: readonly string[] }) => [call, ...words].join(' ');
  const host = new CampaignHost(await openCampaign(join(folder, 'campaign.yaml')), { paste });
  const onError = (error: unknown) => {
    throw error;
  };
  const running = await serveReview(host, { state: join(folder, '.mediabatch'), paste, onError });
  onTestFinished(async () => {
    await running.close();
    await host.close();
    remove();
  });
  const lockFile = join(folder, 'campaign.lock.jsonl');
  return {
    host,
    folder,
    lockText: () => readFileSync(lockFile, 'utf8'),
    lock: () => readLock('campaign.lock.jsonl', readFileSync(lockFile)).lock,
    ask: (path: string, body?: unknown, headers = {}) => ask(new URL(path, running.url), body, headers),
    listen: () => listen(new URL('changes', running.url)),
  };
}

function ask(url: URL, body: unknown, headers: object): Promise<{ bytes: Buffer; headers: NodeJS.Dict<unknown> }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const own = body === undefined ? {} : { 'content-type': 'application/json', origin: url.origin };
    const asked = request(url, { method, headers: { ...own, ...headers } }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      resolve({ bytes: Buffer.concat(parts), headers: answer.headers });
    });
    asked.once('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Changes as another tab hears of them. */
async function listen(url: URL): Promise<{ next(): Promise<ReviewChange> }> {
  const heard: ReviewChange[] = [];
  const asked = request(url, (answer) => {
    answer.on('data', (part: Buffer) => {
      for (const [, json = ''] of part.toString().matchAll(/^data: (.*)$/gm)) heard.push(JSON.parse(json));
    });
    answer.on('error', () => undefined);
  });
  asked.on('error', () => undefined);
  asked.end();
  onTestFinished(() => void asked.destroy());
  await expect.poll(() => heard.length).toBe(1);
  heard.pop();
  return {
    async next() {
      await expect.poll(() => heard.length).toBeGreaterThan(0);
      return heard.shift() as ReviewChange;
    },
  };
}

test('a verdict is answered with what it changed, and so are other tabs told; the whole is asked for once, compressed', async () => {
  const { ask: get, listen: openTab, lock, lockText, host } = await open();
  const first = await get('data.json', undefined, { 'accept-encoding': 'gzip, br' });
  expect(first.headers['content-encoding']).toBe('gzip');
  const data = JSON.parse(gunzipSync(first.bytes).toString()) as ReviewData;
  expect(first.bytes.length * 5).toBeLessThan(gunzipSync(first.bytes).length);
  expect((await get('data.json')).headers['content-encoding']).toBeUndefined();
  const tab = await openTab();
  const give = async (index: number, is: string) => {
    const { address, job } = data.assets[index] ?? {};
    const { bytes } = await get('verdicts', { verdicts: [{ address, is, job }] });
    return { bytes: bytes.length, answer: JSON.parse(bytes.toString()) as JudgeAnswer & { is: 'recorded' } };
  };
  const { bytes, answer } = await give(5, 'picked');
  expect(bytes).toBeLessThan(2000);
  expect(answer).toMatchObject({ is: 'recorded', refused: [], revision: data.revision + 1 });
  expect(answer.change).toMatchObject({ since: data.revision, revision: data.revision + 1 });
  expect(answer.change?.assets).toEqual([{ ...data.assets[5], verdict: { is: 'picked' } }]);
  expect(answer.change?.groups.map(({ name, gate }) => [name, gate?.state])).toEqual([['hero@p1', 'decided']]);
  expect(await tab.next()).toEqual(answer.change);
  // Another pick takes its place.
  const second = await give(6, 'picked');
  expect(second.answer.change?.assets.map((one) => [one.address, one.verdict?.is])).toEqual([
    ['hero@p1/2', undefined],
    ['hero@p1/3', 'picked'],
  ]);
  const verdictsOf = (address: string) =>
    lock()
      .steps.get(address)
      ?.decisions?.verdicts?.map(({ is }) => is);
  expect([verdictsOf('hero@p1/2'), verdictsOf('hero@p1/3')]).toEqual([[undefined], ['picked']]);
  // What was given is appended, and stands in the lock as it is to stay when the host ends.
  expect(lockText().match(/"address":"hero@p1\/2"/g)).toHaveLength(3);
  await host.close();
  expect(lockText().match(/"address":"hero@p1\/2"/g)).toHaveLength(1);
  expect([verdictsOf('hero@p1/2'), verdictsOf('hero@p1/3')]).toEqual([[undefined], ['picked']]);
});

test('what hangs on a verdict elsewhere follows when nobody decides any more; a lock that others wrote is read anew', async () => {
  // With gates that are open it waits for longer, by how long reading takes.
  const { ask: get, host, folder, lock } = await open(['p0'], 300);
  const data = JSON.parse((await get('data.json')).bytes.toString()) as ReviewData;
  const { address = '', job = '' } = data.assets[1] ?? {};
  await host.judge([{ address, is: 'picked', job }]);
  const soon = await host.look();
  const told = new Promise<void>((resolve) => void host.watch(resolve));
  await told;
  const later = await host.look();
  const change = describeChange(soon, later);
  // What may be made from each of the takes is made from one of them now.
  expect(change?.assets.map((one) => one.address)).toEqual(
    [1, 2, 3, 4].map((take) => `hero@p0/${take}`).concat('final@p0'),
  );
  expect(change?.assets.at(-1)?.request.referenceImages).toEqual([{ $ref: 'hero@p0/2', field: 'url' }]);
  const other = new CampaignHost(await openCampaign(join(folder, 'campaign.yaml')), { paste: () => '' });
  await other.judge([{ address: 'hero@p0/1', is: 'rejected', job: 'job-hero@p0/1' }]);
  await other.close();
  await host.judge([{ address: 'hero@p0/3', is: 'rejected', job: 'job-hero@p0/3' }]);
  const verdicts = [...lock().steps.values()].flatMap(({ address: at, decisions }) =>
    (decisions?.verdicts ?? []).map(({ is }) => [at, is]),
  );
  expect(verdicts).toEqual([
    ['hero@p0/1', 'rejected'],
    ['hero@p0/2', 'picked'],
    ['hero@p0/3', 'rejected'],
  ]);
});
