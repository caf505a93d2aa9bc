import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CampaignError, failureOf } from '../../../src/contract/failure.ts';
import type { ReviewAsset, ReviewData } from '../../../src/contract/review.ts';
import { answerThread, type ClosingHost, deltaOf, withDelta } from '../../../src/review/thread/answer-thread.ts';
import { ThreadHost } from '../../../src/review/thread/thread-host.ts';

const assetAt = (address: string): ReviewAsset => ({
  ...{
    address,
    task: 'pic',
    kind: 'image',
    matrix: {},
    tags: [],
    state: 'done',
    files: [],
    request: { prompt: 'a lamp' },
  },
  ...{ differs: [], job: `job-${address}`, credits: 2, isJudged: true, earlier: [], madeFrom: [], usedBy: [] },
});
const before: ReviewData = {
  ...{ version: 1, revision: 1, campaign: 'spring', file: 'campaign.yaml', canDecide: true },
  groups: [{ name: 'pic', task: 'pic', differBy: ['take'], members: [0, 1, 2] }],
  assets: ['a', 'b', 'c'].map(assetAt),
};

test('what did not change does not cross, and stays the same objects', () => {
  const mirrored = withDelta(undefined, deltaOf(undefined, before));
  expect(mirrored).toEqual(before);
  // As after reading everything anew: other objects, of which one says something else.
  const read: ReviewData = { ...structuredClone(before), revision: 2, next: { text: 'Buy 1 film', command: 'apply' } };
  read.assets[1] = { ...(read.assets[1] as ReviewAsset), state: 'failed' };
  const delta = deltaOf(before, read);
  expect(delta).toMatchObject({
    fields: { revision: 2, next: { command: 'apply' } },
    gone: [],
    groups: { changed: [] },
  });
  expect(delta.assets.changed.map(([index]) => index)).toEqual([1]);
  const now = withDelta(mirrored, structuredClone(delta));
  expect(now).toEqual(read);
  expect(now.assets[0]).toBe(mirrored.assets[0]);
  const { next: _, ...without } = read;
  const fewer = { ...without, assets: read.assets.slice(0, 2) };
  expect(withDelta(now, structuredClone(deltaOf(read, fewer)))).toEqual(fewer);
});

/** A host and whoever asks it, at two ends of a channel. */
function inThread(answers: Partial<ClosingHost>) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  let change = () => {};
  answerThread(port2, {
    look: async () => before,
    judge: async () => ({ is: 'recorded', revision: 1, refused: [] }),
    find: () => undefined,
    watch: (listener) => {
      change = listener;
      return () => {};
    },
    close: async () => {},
    ...answers,
  });
  const thread = { on: port1.on.bind(port1), postMessage: port1.postMessage.bind(port1), terminate: async () => 0 };
  const host = new ThreadHost(thread as never, { paths: { outputs: '.', state: '.', kept: '.' }, tell: () => {} });
  return { host, port1, change: () => change() };
}

test('a look is asked for again only when something has changed', async () => {
  const look = vi.fn(async () => before);
  const { host, change } = inThread({ look });
  const first = await host.look();
  expect(await host.look()).toBe(first);
  expect(look).toHaveBeenCalledTimes(1);
  const heard = new Promise<void>((resolve) => host.watch(resolve));
  const now = { ...before, revision: 2 };
  look.mockResolvedValue(now);
  change();
  await heard;
  expect(await host.look()).toEqual(now);
  expect(look).toHaveBeenCalledTimes(2);
});

test('what a person can be told crosses as that, and a thread that ends keeps nobody waiting', async () => {
  const failure = { code: 'MB3407', message: 'the lock cannot be read', lock: 'x.lock.jsonl' } as const;
  const { host, port1 } = inThread({
    look: () => Promise.reject(new CampaignError(failure)),
    judge: () => new Promise(() => {}),
  });
  expect(failureOf(await host.look().catch((error: unknown) => error))).toEqual(failure);
  const judged = host.judge([]);
  port1.emit('exit', 1);
  await expect(judged).rejects.toThrow('has stopped');
  await expect(host.look()).rejects.toThrow('has stopped');
});
