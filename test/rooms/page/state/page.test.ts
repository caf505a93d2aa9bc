import { beforeEach, expect, test, vi } from 'vitest';
import type { ReviewData } from '../../../../src/contract/review.ts';
import { nextUndecided } from '../../../../src/page/model/moves.ts';
import { openElementDeck } from '../../../../src/page/sound/element-deck.ts';
import type { Change, Host } from '../../../../src/page/state/host.ts';
import { Page } from '../../../../src/page/state/page.ts';
import { Held, settled } from '../../../rig/held.ts';
import { asset, campaign, file, products } from '../../../rig/review/campaign.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return () => vi.useRealTimers();
});

/** A page whose host answers when it is told to. */
function open(data: ReviewData) {
  const loads = new Held<[], ReviewData>();
  const sends = new Held<Parameters<Host['send']>, Awaited<ReturnType<Host['send']>>>();
  let tell: (news: Change) => void = () => {};
  const host: Host = {
    load: loads.call,
    send: sends.call,
    watch(listener) {
      tell = listener;
    },
  };
  const page = new Page(data, host, { views: [], facets: [], help: [], openDeck: openElementDeck });
  const answer = async (index: number, given: ReviewData) => {
    loads.at(index).answer(given);
    await settled();
  };
  const verdictOn = (address: string) => page.shown.value.assets.get(address)?.verdict?.is;
  return { page, loads, sends, answer, verdictOn, tell: (change: Change) => tell(change) };
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
  const { page, loads, answer, tell } = open(decided(1));
  tell({ revision: 2 });
  tell({ revision: 3 });
  expect(loads.calls).toHaveLength(1);
  await answer(0, decided(2));
  expect(loads.calls).toHaveLength(2);
  await answer(1, decided(3, { 1: 'picked' }));
  expect([page.data.value.revision, loads.calls.length]).toEqual([3, 2]);
});

test('data that were overtaken by a change on their way are not shown', async () => {
  const { page, answer, verdictOn, tell } = open(decided(1));
  tell({ revision: 2 });
  const [first] = decided(4, { 1: 'picked' }).assets;
  tell({ since: 1, revision: 4, assets: first === undefined ? [] : [first], groups: [] });
  expect(verdictOn(take(1))).toBe('picked');
  await answer(0, decided(2));
  expect([page.data.value.revision, verdictOn(take(1))]).toEqual([4, 'picked']);
});

test('what others decide before a verdict from here is recorded is what its undo gives back, of two the first one', async () => {
  const { page, answer, verdictOn, tell } = open(decided(1));
  page.judge(take(1), 'picked');
  page.judge(take(2), 'picked');
  tell({ revision: 2 });
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
  expect(page.said.value).toBe('Gives up 2 credits: final@a. Undone: draft@a,take:1 is undecided.');
});

test('what was bought anew is not said to be taken back', async () => {
  const { page, answer, tell } = open(decided(1, { 1: 'rejected' }));
  tell({ revision: 2 });
  const { assets, ...rest } = decided(2);
  await answer(0, { ...rest, assets: assets.map((one) => (one.take === 1 ? { ...one, job: 'another' } : one)) });
  expect(page.said.value).toBe(`${take(1)} was regenerated.`);
});

test('a pick from here that is recorded when another one has taken its place was not made elsewhere', async () => {
  const { page, sends, verdictOn, tell } = open(decided(1));
  page.judge(take(1), 'picked');
  await vi.advanceTimersByTimeAsync(500);
  expect(sends.calls).toHaveLength(1);
  page.judge(take(3), 'picked');
  const [first] = decided(2, { 1: 'picked' }).assets;
  tell({ since: 1, revision: 2, assets: first === undefined ? [] : [first], groups: [] });
  expect(page.said.value).toBe(`Picked ${take(3)}, instead of ${take(1)}.`);
  page.goBack('undo');
  expect([1, 2, 3].map((number) => verdictOn(take(number)))).toEqual(['picked', undefined, undefined]);
  page.goBack('undo');
  expect([1, 2, 3].map((number) => verdictOn(take(number)))).toEqual([undefined, undefined, undefined]);
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
  const { page, answer, tell } = open(data);
  expect(page.fresh.value).toEqual([]);
  tell({ revision: 2 });
  const assets = data.assets.map((one, at) => (at % 2 === 0 ? { ...one, job: 'another' } : one));
  await answer(0, { ...data, revision: 2, assets });
  expect(page.fresh.value).toEqual(['hero@p002,take:1']);
  page.activate('hero@p002,take:2');
  expect(page.fresh.value).toEqual([]);
});

test('the last verdict says that nothing else is to be decided', () => {
  const { page } = open(products(2, 2));
  page.judge('hero@p001,take:1', 'picked');
  expect(page.said.value).toBe('Picked hero@p001,take:1.');
  page.judge('hero@p002,take:1', 'picked');
  expect(page.said.value).toBe('Picked hero@p002,take:1. Nothing else is to be decided now.');
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
