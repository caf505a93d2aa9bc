import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WantedVerdict } from '../../../../src/contract/review.ts';
import type { Change, Host } from '../../../../src/page/state/host.ts';
import { Outbox, type Refusal } from '../../../../src/page/state/outbox.ts';
import { Held, settled } from '../../../rig/held.ts';

type Answer = Awaited<ReturnType<Host['send']>>;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const verdict = (address: string, is: WantedVerdict['is']): WantedVerdict => ({ address, is, job: `job-${address}` });
const recorded = (revision: number, refused: Refusal[] = []): Answer => ({ is: 'recorded', revision, refused });

/** An outbox whose host answers when it is told to, and what its browser keeps. */
function open(left: WantedVerdict[] = []) {
  const sends = new Held<Parameters<Host['send']>, Answer>();
  const store = new Map(left.map((one) => [one.address, one]));
  const refused: Refusal[] = [];
  const changes: Change[] = [];
  let tell: (address: string, one: WantedVerdict | undefined) => void = () => {};
  const outbox = new Outbox({
    host: { load: () => Promise.reject(new Error('not asked for')), watch: () => {}, send: sends.call },
    kept: {
      read: () => [...store.values()],
      keep: (one) => void store.set(one.address, one),
      drop: ({ address }) => void store.delete(address),
      watch(listener) {
        tell = listener;
      },
    },
    onRefused: (given) => void refused.push(...given),
    onRecorded: (change) => void changes.push(change),
  });
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  const answer = async (index: number, given: Answer) => {
    sends.at(index).answer(given);
    await settled();
  };
  const sent = () => sends.calls.map(({ args: [batch] }) => batch.map(({ address, is }) => `${address} ${is}`));
  const fromAnotherTab: typeof tell = (address, one) => tell(address, one);
  return { outbox, store, refused, changes, pass, answer, sent, fromAnotherTab };
}

test('a verdict that is given while an earlier one is on its way stays with the browser, and follows it', async () => {
  const { outbox, store, pass, answer, sent } = open();
  outbox.put([verdict('a', 'picked')]);
  await pass(1000);
  outbox.put([verdict('a', 'rejected')]);
  await answer(0, recorded(2));
  // Should the tab be closed now, it must not be lost.
  expect(store.get('a')?.is).toBe('rejected');
  expect(outbox.isOpen('a')).toBe(true);
  await pass(1000);
  await answer(1, recorded(3));
  expect(sent()).toEqual([['a picked'], ['a rejected']]);
  expect([store.size, outbox.isEmpty.value]).toEqual([0, true]);
});

test('one batch is on its way at a time: what is given meanwhile waits for its answer, in order', async () => {
  const { outbox, pass, answer, sent } = open();
  outbox.put([verdict('a', 'picked')]);
  await pass(1000);
  outbox.put([verdict('b', 'picked')]);
  outbox.put([verdict('c', 'rejected')]);
  await pass(60_000);
  expect(sent()).toEqual([['a picked']]);
  await answer(0, recorded(2));
  await pass(1000);
  expect(sent()).toEqual([['a picked'], ['b picked', 'c rejected']]);
});

test('data with the first of two verdicts about an asset do not take the second away', async () => {
  const { outbox, pass, answer } = open();
  outbox.put([verdict('a', 'picked')]);
  await pass(1000);
  await answer(0, recorded(2));
  outbox.put([verdict('a', 'rejected'), verdict('b', 'picked')]);
  outbox.settle(2);
  expect([...outbox.own.value.values()].map(({ is }) => is)).toEqual(['rejected', 'picked']);
  expect([outbox.isOpen('a'), outbox.isEmpty.value]).toEqual([true, false]);
});

test('a refusal of what was decided otherwise since takes only its own verdict back', async () => {
  const { outbox, refused, pass, answer } = open();
  outbox.put([verdict('a', 'picked'), verdict('b', 'picked')]);
  await pass(1000);
  outbox.put([verdict('b', 'rejected')]);
  await answer(
    0,
    recorded(2, [
      { address: 'a', text: 'a was bought anew' },
      { address: 'b', text: 'b too' },
    ]),
  );
  expect(refused.map(({ address }) => address)).toEqual(['a', 'b']);
  expect([...outbox.own.value.values()]).toEqual([verdict('b', 'rejected')]);
});

test('what could not be recorded is sent again with what has come since, and says meanwhile why it waits', async () => {
  const { outbox, changes, pass, answer, sent } = open([verdict('a', 'picked')]);
  await pass(1000);
  outbox.put([verdict('b', 'picked')]);
  await answer(0, { is: 'failed', text: 'mediabatch does not answer' });
  expect(outbox.waits.value).toBe('mediabatch does not answer');
  await pass(3000);
  await answer(1, recorded(2));
  expect(sent()).toEqual([['a picked'], ['a picked', 'b picked']]);
  expect([outbox.waits.value, changes]).toEqual([undefined, [{ revision: 2 }]]);
});

test('of a verdict with which two tabs wait, what one of them changes is what both send', async () => {
  const { outbox, pass, sent, fromAnotherTab } = open([verdict('a', 'picked'), verdict('b', 'picked')]);
  fromAnotherTab('a', verdict('a', 'rejected'));
  fromAnotherTab('b', undefined);
  fromAnotherTab('c', verdict('c', 'picked'));
  await pass(1000);
  expect(sent()).toEqual([['a rejected']]);
  expect(outbox.isOpen('b')).toBe(false);
});
