import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ReviewData, WantedVerdict } from '../../../../src/contract/review.ts';
import { filmsOf } from '../../../../src/page/compare/films.ts';
import { nextUndecided } from '../../../../src/page/model/moves.ts';
import { pressOf } from '../../../../src/page/press.ts';
import type { Change, Host } from '../../../../src/page/state/host.ts';
import { Outbox, type Refusal } from '../../../../src/page/state/outbox.ts';
import { Page } from '../../../../src/page/state/page.ts';
import { Held, settled } from '../../../rig/held.ts';
import { asset, campaign, file, products } from '../../../rig/review/campaign.ts';

describe('page', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    return () => vi.useRealTimers();
  });

  /** A page whose host answers when the test lets it. */
  function open(data: ReviewData) {
    const loads = new Held<[], ReviewData>();
    const sends = new Held<Parameters<Host['send']>, Awaited<ReturnType<Host['send']>>>();
    let notify: (news: Change) => void = () => {};
    const host: Host = {
      load: loads.call,
      send: sends.call,
      watch(listener) {
        notify = listener;
      },
    };
    const page = new Page(data, host, { views: [], facets: [] });
    const answer = async (index: number, given: ReviewData) => {
      loads.at(index).answer(given);
      await settled();
    };
    const verdictOn = (address: string) => page.shown.value.assets.get(address)?.verdict?.is;
    return { page, loads, sends, answer, verdictOn, notify: (change: Change) => notify(change) };
  }

  /** The data of `products(1, 3)` in which these takes have a verdict. */
  function decided(revision: number, verdicts: Record<number, 'picked' | 'rejected'> = {}): ReviewData {
    const data = products(1, 3);
    const assets = data.assets.map((one) => {
      const is = verdicts[one.take ?? 0];
      return is === undefined ? one : { ...one, verdict: { is } };
    });
    return { ...data, revision, assets };
  }

  const take = (number: number) => `hero@p001,take:${number}`;

  test('a change while the data are on their way is asked for after them', async () => {
    const { page, loads, answer, notify } = open(decided(1));
    notify({ revision: 2 });
    notify({ revision: 3 });
    expect(loads.calls).toHaveLength(1);
    await answer(0, decided(2));
    expect(loads.calls).toHaveLength(2);
    await answer(1, decided(3, { 1: 'picked' }));
    expect([page.data.value.revision, loads.calls.length]).toEqual([3, 2]);
  });

  test('data that were overtaken by a change on their way are not shown', async () => {
    const { page, answer, verdictOn, notify } = open(decided(1));
    notify({ revision: 2 });
    const [first] = decided(4, { 1: 'picked' }).assets;
    notify({ since: 1, revision: 4, assets: first === undefined ? [] : [first], groups: [] });
    expect(verdictOn(take(1))).toBe('picked');
    await answer(0, decided(2));
    expect([page.data.value.revision, verdictOn(take(1))]).toEqual([4, 'picked']);
  });

  test('what others decide before a verdict from here is recorded is what its undo gives back, of two the first one', async () => {
    const { page, answer, verdictOn, notify } = open(decided(1));
    page.judge(take(1), 'picked');
    page.judge(take(2), 'picked');
    notify({ revision: 2 });
    await answer(0, decided(2, { 3: 'picked' }));
    expect(page.said.value).toBe(`${take(3)} was picked elsewhere, instead of ${take(2)}.`);
    page.goBack('undo');
    expect(verdictOn(take(1))).toBe('picked');
    page.goBack('undo');
    expect([1, 2, 3].map((number) => verdictOn(take(number)))).toEqual([undefined, undefined, 'picked']);
    page.goBack('redo');
    expect([1, 2, 3].map((number) => verdictOn(take(number)))).toEqual(['picked', undefined, undefined]);
  });

  test('undoing a pick names what was already bought from it', () => {
    const groups = [
      { name: 'draft@a', assets: [asset('draft@a,take:1', { usedBy: ['final@a'] })] },
      { name: 'final@a', assets: [asset('final@a', { files: [file(2)] })] },
    ];
    const { page } = open(campaign(groups));
    page.judge('draft@a,take:1', 'picked');
    page.goBack('undo');
    expect(page.said.value).toBe(
      'Gives up final@a, bought for 2 credits; buying it again costs ≈ 2 credits. Undone: draft@a,take:1 is undecided.',
    );
  });

  test('undoing a pick restores the earlier one with its author, also where the page is searched', () => {
    const data = decided(1, { 2: 'picked' });
    for (const one of data.assets) if (one.verdict) one.verdict.by = 'Carla';
    const { page, verdictOn } = open(data);
    page.judge(take(3), 'picked');
    page.goBack('undo');
    expect(page.said.value).toBe(`Undone: ${take(3)} is undecided and ${take(2)} is picked (Carla).`);
    expect(page.outbox.own.value.get(take(2))).toMatchObject({ is: 'picked', by: 'Carla' });
    expect(verdictOn(take(3))).toBeUndefined();
    page.setFilter({ text: 'nothing like this' });
    page.pickNth(2);
    expect(page.said.value).toBe('No output is selected.');
  });

  test('a verdict in a decided group and a click lead to no other group, the last rejection does', () => {
    const { page } = open(products(3, 2));
    page.judge(take(1), 'picked');
    expect(page.active.value).toBe('hero@p002,take:1');
    page.judge(take(2), 'rejected');
    expect(page.active.value).toBe(take(2));
    page.judge('hero@p002,take:1', 'rejected');
    page.judge('hero@p002,take:2', 'rejected');
    expect(page.active.value).toBe('hero@p003,take:1');
    expect(page.counts.value).toMatchObject({ decided: 1, left: 2, rejected: 1 });
    page.isPointed = true;
    page.judge('hero@p003,take:1', 'picked');
    expect(page.active.value).toBe('hero@p003,take:1');
    page.goUndecided(1);
    expect(page.active.value).toBe('hero@p002,take:1');
  });

  test.each([
    ['&', 'Digit1', false, '1'],
    ['1', 'Digit1', true, '1'],
    ['!', 'Digit1', true, '!'],
    ['-', 'Digit6', false, '6'],
    ['1', 'Numpad1', false, '1'],
  ])('the key %s of %s (shift: %s) is %s', (key, code, shiftKey, expected) => {
    const event = { key, code, shiftKey, ctrlKey: false, metaKey: false, altKey: false, getModifierState: () => false };
    expect(pressOf(event as unknown as KeyboardEvent).key).toBe(expected);
  });

  test('what was bought anew is not said to be taken back', async () => {
    const { page, answer, notify } = open(decided(1, { 1: 'rejected' }));
    notify({ revision: 2 });
    const { assets, ...rest } = decided(2);
    await answer(0, { ...rest, assets: assets.map((one) => (one.take === 1 ? { ...one, job: 'another' } : one)) });
    expect(page.said.value).toBe(`${take(1)} was regenerated.`);
  });

  test('a pick from here that is recorded when another one has taken its place was not made elsewhere', async () => {
    const { page, sends, verdictOn, notify } = open(decided(1));
    page.judge(take(1), 'picked');
    await vi.advanceTimersByTimeAsync(500);
    expect(sends.calls).toHaveLength(1);
    page.judge(take(3), 'picked');
    const [first] = decided(2, { 1: 'picked' }).assets;
    notify({ since: 1, revision: 2, assets: first === undefined ? [] : [first], groups: [] });
    expect(page.said.value).toBe(`Picked ${take(3)}, instead of ${take(1)}.`);
    page.goBack('undo');
    expect([1, 2, 3].map((number) => verdictOn(take(number)))).toEqual(['picked', undefined, undefined]);
    page.goBack('undo');
    expect([1, 2, 3].map((number) => verdictOn(take(number)))).toEqual([undefined, undefined, undefined]);
  });

  test('a note on a verdict about an outdated output is refused before it is typed', () => {
    const outdated = asset(take(1), { isJudged: false, state: 'changed', verdict: { is: 'picked' } });
    const { page } = open(campaign([{ name: 'hero@p001', assets: [outdated] }]));
    page.editNote();
    expect(page.said.value).toBe(`${take(1)} cannot be picked or rejected: bought before its input changed.`);
    expect(page.hasNote.value).toBe(false);
  });

  test('pictures are read ahead of as many groups as are asked for, those that need nobody left out', () => {
    const groups = ['a', 'b', 'c', 'd'].map((key) => ({
      name: key,
      assets: [1, 2].map((number) => asset(`hero@${key},take:${number}`, { isJudged: key !== 'b' })),
    }));
    const { page } = open(campaign(groups));
    const ahead = (count: number) => nextUndecided(page.strips.value, 'hero@a,take:1', count).map((one) => one.address);
    expect(ahead(2)).toEqual(['hero@c,take:1', 'hero@c,take:2', 'hero@d,take:1', 'hero@d,take:2']);
    expect(ahead(1)).toEqual(['hero@c,take:1', 'hero@c,take:2']);
  });

  test('outputs that came since are listed until their group was active', async () => {
    const data = products(2, 2);
    const { page, answer, notify } = open(data);
    expect(page.fresh.value).toEqual([]);
    notify({ revision: 2 });
    const assets = data.assets.map((one, at) => (at % 2 === 0 ? { ...one, job: 'another' } : one));
    await answer(0, { ...data, revision: 2, assets });
    expect(page.fresh.value).toEqual(['hero@p002,take:1']);
    page.activate('hero@p002,take:2');
    expect(page.fresh.value).toEqual([]);
  });

  test('the last verdict says that every group is decided', () => {
    const { page } = open(products(2, 2));
    page.judge('hero@p001,take:1', 'picked');
    expect(page.said.value).toBe('Picked hero@p001,take:1.');
    page.judge('hero@p002,take:1', 'picked');
    expect(page.said.value).toBe('Picked hero@p002,take:1. Every group is decided.');
  });

  test('a recorded verdict of this page that arrives after it was taken back was not made elsewhere', async () => {
    const { page, answer, sends, verdictOn } = open(decided(1));
    page.judge(take(1), 'picked');
    await vi.advanceTimersByTimeAsync(500);
    page.judge(take(1), 'undecided');
    const said = page.said.value;
    sends.at(0).answer({ is: 'recorded', revision: 2, refused: [] });
    await settled();
    await answer(0, decided(2, { 1: 'picked' }));
    expect(page.said.value).toBe(said);
    expect(verdictOn(take(1))).toBeUndefined();
  });
});

/** As much of a player as two films need. */
class Film {
  currentTime = 0;
  duration = 10;
  playbackRate = 1;
  muted = false;
  ended = false;
  seeking = false;
  isPaused = true;
  addEventListener(): void {}
  async play(): Promise<void> {
    this.isPaused = false;
  }
  pause(): void {
    this.isPaused = true;
  }
}

/** Two films side by side, the left one leads; `frame` draws the next one. */
function open() {
  let next: (() => void) | undefined;
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => {
    next = call;
    return 1;
  });
  vi.stubGlobal('cancelAnimationFrame', () => {
    next = undefined;
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  const films = filmsOf(new Page(products(1, 2), undefined, { views: [], facets: [] }));
  const [left, right] = [new Film(), new Film()];
  films.set('left', left as unknown as HTMLVideoElement);
  films.set('right', right as unknown as HTMLVideoElement);
  const frame = (at: { left: number; right: number }) => {
    left.currentTime = at.left;
    right.currentTime = at.right;
    next?.();
  };
  return { films, left, right, frame };
}

test('the film that follows runs faster while it is behind, and slower while it is ahead; the leader as it is', () => {
  const { films, left, right, frame } = open();
  films.play();
  frame({ left: 1, right: 0.95 });
  expect(right.playbackRate).toBeGreaterThan(1);
  frame({ left: 2, right: 2.05 });
  expect(right.playbackRate).toBeLessThan(1);
  frame({ left: 3, right: 3.001 });
  expect([left.playbackRate, right.playbackRate]).toEqual([1, 1]);
});

test('one that is far apart jumps to the leader', () => {
  const { films, right, frame } = open();
  films.play();
  frame({ left: 4, right: 2 });
  expect([right.currentTime, right.playbackRate]).toEqual([4, 1]);
});

test('both begin, stop and are sought together, and one is heard', () => {
  const { films, left, right, frame } = open();
  films.play();
  expect([left.isPaused, right.isPaused]).toEqual([false, false]);
  expect([left.muted, right.muted]).toEqual([false, true]);
  films.lead('right');
  expect([left.muted, right.muted]).toEqual([true, false]);
  frame({ left: 6.1, right: 6 });
  films.pause();
  expect([left.isPaused, right.isPaused, left.currentTime, right.currentTime]).toEqual([true, true, 6, 6]);
  films.seek(2);
  expect([left.currentTime, right.currentTime]).toEqual([2, 2]);
});

test('at the end of the leader both begin again', () => {
  const { films, left, right, frame } = open();
  films.play();
  left.ended = true;
  frame({ left: 10, right: 9.99 });
  expect([left.currentTime, right.currentTime, films.isPlaying.value]).toEqual([0, 0, true]);
});

describe('outbox', () => {
  type Answer = Awaited<ReturnType<Host['send']>>;

  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const verdict = (address: string, is: WantedVerdict['is']): WantedVerdict => ({ address, is, job: `job-${address}` });
  const recorded = (revision: number, refused: Refusal[] = []): Answer => ({ is: 'recorded', revision, refused });

  /** An outbox whose host answers when the test lets it, and what its browser keeps. */
  function open(left: WantedVerdict[] = []) {
    const sends = new Held<Parameters<Host['send']>, Answer>();
    const store = new Map(left.map((one) => [one.address, one]));
    const refused: Refusal[] = [];
    const changes: Change[] = [];
    let notify: (address: string, one: WantedVerdict | undefined) => void = () => {};
    const outbox = new Outbox({
      host: { load: () => Promise.reject(new Error('not asked for')), watch: () => {}, send: sends.call },
      kept: {
        read: () => [...store.values()],
        keep: (one) => void store.set(one.address, one),
        drop: ({ address }) => void store.delete(address),
        watch(listener) {
          notify = listener;
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
    const fromAnotherTab: typeof notify = (address, one) => notify(address, one);
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
});
