import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ReviewAsset, WantedVerdict } from '../../../src/contract/review.ts';
import { listRequest } from '../../../src/page/details/request-rows.ts';
import { columnWidths, layMatrix, linesOf, listAxes } from '../../../src/page/matrix/layout.ts';
import { applyFilter, noFilter, pageFacets } from '../../../src/page/model/filter.ts';
import { decide, undoOf } from '../../../src/page/model/judge.ts';
import { count, markOf, show } from '../../../src/page/model/shown.ts';
import { waitWords } from '../../../src/page/parts/words.ts';
import { asset, campaign } from '../../rig/review/campaign.ts';

const takes = (name: string, many: number) => Array.from({ length: many }, (_, i) => asset(`${name},take:${i + 1}`));
const own = (...verdicts: [address: string, is: WantedVerdict['is']][]) =>
  new Map(verdicts.map(([address, is]) => [address, { address, is, job: `job-${address}` }]));

test('a verdict that the host does not have lies on top of its data, and decides the gate', () => {
  const data = campaign([{ name: 'hero@a', assets: takes('hero@a', 3) }]);
  expect(show(data, new Map()).groups[0]?.state).toBe('open');
  const shown = show(data, own(['hero@a,take:2', 'picked']));
  expect(shown.groups[0]).toMatchObject({ state: 'decided', picked: 1 });
  expect(shown.assets.get('hero@a,take:2')?.verdict).toEqual({ is: 'picked' });
  const none = show(
    data,
    own(['hero@a,take:1', 'rejected'], ['hero@a,take:2', 'rejected'], ['hero@a,take:3', 'rejected']),
  );
  expect(none.groups[0]?.state).toBe('rejected');
});

test('a verdict about a job that was replaced counts for nothing', () => {
  const data = campaign([{ name: 'hero@a', assets: [asset('hero@a,take:1', { job: 'newer' })] }]);
  expect(show(data, own(['hero@a,take:1', 'picked'])).assets.get('hero@a,take:1')?.verdict).toBeUndefined();
});

test('a pick where one is to be picked un-picks its sibling, and a refused one leaves the sibling picked', () => {
  const assets = [asset('hero@a,take:1', { verdict: { is: 'picked' } }), asset('hero@a,take:2')];
  const data = campaign([{ name: 'hero@a', assets }]);
  const decision = decide(show(data, new Map()), new Map(), { address: 'hero@a,take:2', is: 'picked' });
  expect(decision).toMatchObject({ is: 'made', text: 'Picked hero@a,take:2, instead of hero@a,take:1.' });
  // The host un-picks the other in the same write: nothing is sent about it.
  expect(decision.is === 'made' && decision.verdicts.map(({ address }) => address)).toEqual(['hero@a,take:2']);
  const after = show(data, own(['hero@a,take:2', 'picked']));
  expect([...after.assets.values()].map(markOf)).toEqual(['undecided', 'picked']);
});

test('a pick that replaces one which the host may not have yet takes that back by name', () => {
  const data = campaign([{ name: 'hero@a', assets: takes('hero@a', 2) }]);
  const before = own(['hero@a,take:1', 'picked']);
  const decision = decide(show(data, before), before, { address: 'hero@a,take:2', is: 'picked' });
  expect(decision.is === 'made' && decision.verdicts.map(({ address, is }) => [address, is])).toEqual([
    ['hero@a,take:1', 'undecided'],
    ['hero@a,take:2', 'picked'],
  ]);
});

test('of two that are picked, as after a merge, picking one again settles it', () => {
  const assets = ['hero@a/1', 'hero@a/2'].map((address) => asset(address, { verdict: { is: 'picked' } }));
  const { groups, ...rest } = campaign([{ name: 'hero@a', assets }]);
  const data = {
    ...rest,
    groups: groups.map((group) => ({
      ...group,
      ...(group.gate && { gate: { ...group.gate, state: 'contested' as const } }),
    })),
  };
  const decision = decide(show(data, new Map()), new Map(), { address: 'hero@a/2', is: 'picked' });
  expect(decision).toMatchObject({ is: 'made', text: 'Picked hero@a/2, instead of hero@a/1.' });
  const after = show(data, own(['hero@a/2', 'picked']));
  expect(after.groups[0]?.state).toBe('decided');
  expect([...after.assets.values()].map(markOf)).toEqual(['undecided', 'picked']);
});

test('where several are to be picked one too many is refused, with what to do', () => {
  const data = campaign([{ name: 'hero@a', assets: takes('hero@a', 3), options: { choose: 2 } }]);
  const picked = own(['hero@a,take:1', 'picked'], ['hero@a,take:3', 'picked']);
  const decision = decide(show(data, picked), picked, { address: 'hero@a,take:2', is: 'picked' });
  expect(decision).toEqual({
    is: 'refused',
    text: 'Not picked: only 2 of hero@a can be picked, and hero@a,take:1, hero@a,take:3 are picked already. First remove one pick (U).',
  });
});

test('what cannot be judged says why', () => {
  const data = campaign([
    { name: 'a', assets: [asset('a', { isJudged: false, state: 'planned' })] },
    { name: 'b', assets: [asset('b', { isJudged: false })], options: { isFree: true } },
  ]);
  const text = (address: string) => decide(show(data, new Map()), new Map(), { address, is: 'picked' });
  expect(text('a')).toEqual({ is: 'refused', text: 'a cannot be picked or rejected: not bought yet.' });
  expect(text('b')).toEqual({ is: 'refused', text: 'b is for viewing only: it cannot be picked.' });
  expect(text('gone')).toEqual({ is: 'refused', text: 'gone no longer exists here.' });
});

test('undo puts back everything that a pick changed, picks last', () => {
  const assets = [
    asset('hero@a,take:1', { verdict: { is: 'picked', note: 'warm' } }),
    asset('hero@a,take:2', { verdict: { is: 'rejected' } }),
  ];
  const data = campaign([{ name: 'hero@a', assets }]);
  const before = show(data, new Map());
  const after = show(data, own(['hero@a,take:2', 'picked']));
  expect(undoOf(before, after, 'hero@a,take:2')).toEqual({
    address: 'hero@a,take:2',
    verdicts: [
      { address: 'hero@a,take:2', is: 'rejected', job: 'job-hero@a,take:2', note: '' },
      { address: 'hero@a,take:1', is: 'picked', job: 'job-hero@a,take:1', note: 'warm' },
    ],
  });
});

test('a reason that came with a verdict goes with it, and one of before comes back', () => {
  const reasonAfterUndo = (before: string | undefined, given: string) => {
    const verdict = { is: 'rejected' as const, ...(before !== undefined && { reason: before }) };
    const data = campaign([{ name: 'a', assets: [asset('a', { verdict })] }]);
    const shown = show(data, new Map());
    const decision = decide(shown, new Map(), { address: 'a', is: 'rejected', reason: given });
    const made = decision.is === 'made' ? decision.verdicts : [];
    const after = show(data, new Map(made.map((one) => [one.address, one])));
    return undoOf(shown, after, 'a').verdicts.map(({ reason }) => reason);
  };
  expect(reasonAfterUndo(undefined, 'hands')).toEqual(['']);
  expect(reasonAfterUndo('text', 'hands')).toEqual(['text']);
});

test('a note goes with its verdict, and stays when the verdict is given again', () => {
  const data = campaign([{ name: 'a', assets: [asset('a', { verdict: { is: 'rejected', note: 'too dark' } })] }]);
  const shown = show(data, new Map());
  expect(decide(shown, new Map(), { address: 'a', is: 'rejected' })).toMatchObject({ is: 'refused' });
  const changed = decide(shown, new Map(), { address: 'a', is: 'rejected', note: 'blurred' });
  expect(changed).toMatchObject({ is: 'made', verdicts: [{ is: 'rejected', note: 'blurred' }] });
  const pasted = decide(shown, new Map(), { address: 'a', is: 'rejected', note: ' two\tlines\ud800 ' });
  expect(pasted).toMatchObject({ is: 'made', verdicts: [{ note: 'two lines' }] });
  const cut = decide(shown, new Map(), { address: 'a', is: 'rejected', note: `${'x'.repeat(499)}😀` });
  expect(cut).toMatchObject({ verdicts: [{ note: 'x'.repeat(499) }] });
  const emptied = decide(shown, new Map(), { address: 'a', is: 'rejected', note: '' });
  expect(emptied).toMatchObject({ is: 'made', verdicts: [{ note: '' }] });
  const picked = decide(shown, new Map(), { address: 'a', is: 'picked' });
  expect(picked.is === 'made' && picked.verdicts[0]).not.toHaveProperty('note');
});

test('counts say what is decided, what is left and what waits', () => {
  const data = campaign([
    { name: 'a', assets: [asset('a')] },
    { name: 'b', assets: [asset('b')] },
    { name: 'c', assets: [asset('c')] },
    { name: 'd', assets: [asset('d')], options: { isFree: true } },
  ]);
  const shown = show(data, own(['a', 'picked'], ['b', 'rejected']));
  expect(count(shown)).toEqual({
    gates: 3,
    decided: 1,
    left: 2,
    rejected: 1,
    waits: { steps: 1, credits: 3, likely: 3 },
  });
});

test('what waits for several gates counts once, until the last of them is decided', () => {
  const gates = ['a', 'b'].map((name) => ({ name, assets: [asset(name)] }));
  const waits = [
    { gates: ['a', 'b'], steps: 2, credits: null, likely: 12 },
    { gates: ['b'], steps: 1, credits: 3, likely: 3 },
  ];
  const data = campaign(gates, { waits });
  expect(count(show(data, new Map())).waits).toEqual({ steps: 3, credits: null, likely: 15 });
  expect(count(show(data, own(['b', 'picked']))).waits).toEqual({ steps: 2, credits: null, likely: 12 });
  expect(count(show(data, own(['a', 'picked'], ['b', 'picked']))).waits).toEqual({ steps: 0, credits: 0, likely: 0 });
});

test('a price is said as surely as it is known', () => {
  expect(waitWords({ steps: 1, credits: 1, likely: 1 })).toBe('then 1 step, 1 credit');
  expect(waitWords({ steps: 2, credits: null, likely: 12 })).toBe('then 2 steps, ≈ 12 credits');
  expect(waitWords({ steps: 2, credits: null, likely: null })).toBe('then 2 steps, at an unknown price');
});

test('what is not bought yet is not to be decided now', () => {
  const data = campaign([{ name: 'a', assets: [asset('a', { isJudged: false, state: 'planned' })] }]);
  expect(count(show(data, new Map()))).toMatchObject({ gates: 1, decided: 0, left: 0 });
});

test('filters: the undecided, tasks, kinds, states, and words anywhere', () => {
  const data = campaign([
    { name: 'hero@a', assets: takes('hero@a', 2) },
    { name: 'song', assets: [asset('song', { kind: 'music', request: { prompt: 'A Brass band' }, tags: ['loud'] })] },
  ]);
  const shown = show(data, own(['hero@a,take:2', 'rejected']));
  const names = (change: object) =>
    applyFilter(shown, { ...noFilter, ...change }, pageFacets).flatMap(({ assets }) =>
      assets.map(({ address }) => address),
    );
  expect(names({})).toEqual(['hero@a,take:1', 'hero@a,take:2', 'song']);
  expect(names({ undecided: true })).toEqual(['hero@a,take:1', 'song']);
  expect(names({ task: 'song' })).toEqual(['song']);
  expect(names({ kind: 'image' })).toEqual(['hero@a,take:1', 'hero@a,take:2']);
  expect(names({ state: 'rejected' })).toEqual(['hero@a,take:2']);
  expect(names({ text: 'brass LOUD' })).toEqual(['song']);
  expect(names({ text: 'brass quiet' })).toEqual([]);
});

describe('the matrix', () => {
  function asset(task: string, key: string | undefined, matrix: Record<string, string>, take?: number): ReviewAsset {
    return {
      address: [task, key, ...Object.values(matrix), take].join('/'),
      task,
      kind: 'image',
      ...(key !== undefined && { key }),
      matrix,
      ...(take !== undefined && { take }),
      tags: [],
      state: 'planned',
      files: [],
      request: {},
      defaults: {},
      differs: [],
      isJudged: false,
      earlier: [],
      madeFrom: [],
      usedBy: [],
    };
  }

  const assets = [
    asset('draft', 'lamp', { style: 'warm', size: '1k' }, 1),
    asset('draft', 'lamp', { style: 'warm', size: '1k' }, 2),
    asset('draft', 'lamp', { style: 'cold', size: '1k' }),
    asset('draft', 'rug', { style: 'cold', size: '1k' }),
    asset('draft', 'rug', { style: 'warm', size: '2k' }),
    asset('final', 'lamp', {}),
  ];

  const placesOf = (row: { name: string; cells: ReviewAsset[][] }) => ({
    name: row.name,
    cells: row.cells.map((cell) => cell.map((member) => assets.indexOf(member))),
  });

  test('has a column for each value of an axis, takes in one cell, and holes', () => {
    const { columns, rows } = layMatrix(assets, { is: 'axis', axis: 'style' });
    expect(columns).toEqual(['warm', 'cold']);
    expect(rows.map(placesOf)).toEqual([
      { name: 'lamp · 1k', cells: [[0, 1], [2]] },
      { name: 'rug · 1k', cells: [[], [3]] },
      { name: 'rug · 2k', cells: [[4], []] },
    ]);
  });

  test('has a column for each task', () => {
    const { columns, rows } = layMatrix(assets, { is: 'task' });
    expect(columns).toEqual(['draft', 'final']);
    expect(rows.map(placesOf)).toEqual([
      { name: 'lamp', cells: [[0, 1, 2], [5]] },
      { name: 'rug', cells: [[3, 4], []] },
    ]);
    expect(layMatrix([asset('a', undefined, {})], { is: 'task' }).rows[0]?.name).toBe('no key');
  });

  test('says the task in its rows where there are several, and where there is no key', () => {
    const others = [asset('a', 'k', { x: '1' }), asset('b', 'k', { x: '1' })];
    expect(layMatrix(others, { is: 'axis', axis: 'x' }).rows.map(({ name }) => name)).toEqual(['a · k', 'b · k']);
    expect(layMatrix([asset('a', undefined, { x: '1' })], { is: 'axis', axis: 'x' }).rows[0]?.name).toBe('a');
  });

  test('knows the axes of what is shown', () => {
    expect(listAxes(assets)).toEqual(['style', 'size']);
    expect(listAxes(assets.slice(5))).toEqual([]);
  });

  test('is walked line by line, each asset at its place from the left', () => {
    const matrix = layMatrix(assets, { is: 'axis', axis: 'style' });
    expect(columnWidths(matrix)).toEqual([2, 1]);
    expect(linesOf(matrix).map((line) => line.map(({ at }) => at))).toEqual([[0, 1, 2], [2], [0]]);
  });
});

describe('a request as a list', () => {
  const own = {
    model: 'alpha',
    prompt: 'a lamp, warm',
    with: { seed: 1 },
    images: [{ $ref: 'hero@lamp', field: 'url' }],
  };

  test('names each value by its path, texts and model first, and marks what differs', () => {
    const other = { ...own, prompt: 'a lamp, cold', images: [{ $ref: 'hero@rug', field: 'url' }] };
    expect(listRequest(own, [other])).toEqual([
      { path: 'prompt', value: 'a lamp, warm', differs: true },
      { path: 'model', value: 'alpha', differs: false },
      { path: 'with.seed', value: '1', differs: false },
      { path: 'images[0]', value: { address: 'hero@lamp', field: 'url' }, differs: true },
    ]);
  });

  test('marks what others do not have, and names what they alone have', () => {
    const other = { model: 'alpha', tags: [], with: { seed: 1, style: 'flat' } };
    expect(
      listRequest(own, [other])
        .filter(({ differs }) => differs)
        .map(({ path }) => path),
    ).toEqual(['prompt', 'images[0]']);
    expect(listRequest({}, [])).toEqual([]);
  });
});

const page = new URL('../../../src/page/', import.meta.url).pathname;
const sheets = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));

test('no sheet sets a colour by the shorthand, which takes away the picture that another rule puts behind', () => {
  expect(sheets.length).toBeGreaterThan(3);
  const shorthands = sheets.flatMap((name) =>
    [...readFileSync(join(page, name), 'utf8').matchAll(/^\s*background: (?:var|#|rgb|hsl).*;$/gm)].map(
      ([line]) => `${name}: ${line.trim()}`,
    ),
  );
  expect(shorthands).toEqual([]);
});
