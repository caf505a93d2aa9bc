import { describe, expect, it, test } from 'vitest';
import { agreementOf, covers } from '../../../src/plan/agreement.ts';
import { aspectsOf, findUnmet } from '../../../src/plan/outputs/expectation.ts';
import type { Plan, PlanRow, StepOrder, WorkRow } from '../../../src/plan/plan.ts';
import { firstRows } from '../../../src/plan/select/select.ts';
import { limit, situate, withFiles } from '../../../src/plan/situation/situation.ts';
import { expectTime } from '../../../src/plan/time-left.ts';
import { graphOf } from '../../rig/campaign.ts';
import { tasks } from '../manifest/load.ts';
import { row } from '../report/samples.ts';
import { lockOf, planOf, rowOf, saved, stepOf } from './facts.ts';

/** A song costs 4 credits, and what a picture costs nobody tells. */
function planFor(...lines: string[]): Plan {
  return planOf(graphOf(tasks(...lines)), lockOf({})) as Plan;
}
const song = planFor('  hero: { kind: music, retry: { attempts: 3 }, with: { model: song-7.5, prompt: a tune } }');
const picture = planFor('  hero: { kind: image, with: { prompt: x } }');

interface Change extends Partial<Omit<PlanRow, 'order'>> {
  order?: object;
}

function heroOf(plan: Plan, { order, ...change }: Change = {}): PlanRow {
  const row = rowOf(plan, 'hero') as unknown as PlanRow;
  return { ...row, ...change, order: { ...row.order, ...order } as StepOrder } as PlanRow;
}

/** The plan with a ceiling of the list in place of a price. */
function listed(high: number): Plan {
  const [row] = picture.rows;
  const price = { class: 'image', credits: null, source: 'list' as const, high, low: 1, likely: 2 };
  return { ...picture, rows: row === undefined ? [] : [{ ...row, price }] };
}

describe('what was agreed to covers', () => {
  test.each<[string, Plan, number | null, boolean]>([
    ['no dearer purchase', song, 5, false],
    ['a cheaper one', song, 3, true],
    ['none of unknown price', song, null, false],
    ['any price where it said that none is known', picture, 99, true],
    ['where it showed the ceiling of a list, nothing above it', listed(7), 8, false],
    ['where it showed the ceiling of a list, what is within', listed(7), 7, true],
  ])('%s', (_, agreed, credits, is) => {
    expect(covers(agreementOf(agreed), heroOf(agreed, { credits }))).toBe(is);
  });

  test.each<[string, Change, boolean]>([
    ['no other request', { order: { fingerprint: '1:other' } }, false],
    ['no other kind', { kind: 'video' }, false],
    ['no second purchase where none failed', { order: { repeat: 2 } }, false],
    ['the next attempt after a failed job', { action: 'retry', order: { repeat: 2 } }, true],
    ['no more attempts than `retry:` allows', { action: 'retry', order: { repeat: 4 } }, false],
    ['no attempt of another price', { action: 'retry', credits: 5, order: { repeat: 2 } }, false],
    ['no dearer attempts to follow', { mayRetry: 9 }, false],
    ['no more attempts to follow', { order: { retries: { left: 3, credits: 4, generation: 2, repeat: 2 } } }, false],
    ['an attempt whose answer was lost', { order: { repeat: 2, send: { id: 's' } } }, true],
    ['a step that is only watched, at any price', { action: 'attach', credits: 0, order: {} }, true],
  ])('%s', (_, change, is) => {
    expect(covers(agreementOf(song), heroOf(song, change))).toBe(is);
  });
});

const output = { path: 'a.png', sha256: '0'.repeat(64), bytes: 1000, type: 'image/png' };
const wide = { width: 1920, height: 1080 };

describe('what a file is expected to be', () => {
  test.each([
    [{ width: { min: 1920, max: 1920 } }, wide, []],
    [{ width: { min: 2000 } }, wide, ['its width is 1920 px, wanted at least 2000 px']],
    [{ height: { max: 1000 } }, wide, ['its height is 1080 px, wanted at most 1000 px']],
    [{ ratio: '16:9' }, wide, []],
    [{ ratio: '16:9' }, { width: 1920, height: 1088 }, ['it is 1920 × 1088 px, which is not 16:9']],
    [{ ratio: '16:9' }, { width: 1360, height: 768 }, []],
    [{ ratio: '16:9' }, { width: 16 }, ['its ratio cannot be measured, wanted 16:9']],
    [{ ratio: '16:9' }, { width: 16, height: 0 }, ['its ratio cannot be measured, wanted 16:9']],
    [{ durationSeconds: { min: 4.5, max: 5.5 } }, { durationSeconds: 5.04 }, []],
    [{ durationSeconds: { max: 5 } }, { durationSeconds: 5.04 }, ['its duration is 5.04 s, wanted at most 5 s']],
    [{ durationSeconds: { max: 5 } }, wide, ['its duration cannot be measured, wanted at most 5 s']],
    [{ bytes: { max: 999 } }, undefined, ['its size is 1000 bytes, wanted at most 999 bytes']],
    [{ type: 'image' }, undefined, []],
    [{ type: 'image/jpeg' }, undefined, ['it is image/png, wanted image/jpeg']],
  ])('%j of %j', (expected, facts, unmet) => {
    expect(findUnmet(expected, output, facts)).toEqual(unmet);
  });

  test('only pixels and seconds have to be measured', () => {
    expect(aspectsOf(undefined)).toEqual([]);
    expect(aspectsOf({ type: 'image', bytes: { max: 1 } })).toEqual([]);
    expect(aspectsOf({ ratio: '1:1' })).toEqual(['size']);
    expect(aspectsOf({ durationSeconds: { min: 1 } })).toEqual(['size']);
  });
});

function job(address: string, { model, needs = [] }: { model?: string; needs?: string[] } = {}): WorkRow {
  const order = { needs, paidRequest: model === undefined ? {} : { model } } as unknown as StepOrder;
  return { ...(row(address, 'create') as WorkRow), order };
}

const many = (count: number) => Array.from({ length: count }, (_, index) => job(`hero@${index}`));

describe('how long a plan takes', () => {
  test.each([
    ['one after the other', many(6), 1, 60_000],
    ['a chain, however many may run', [job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })], 8, 30_000],
    ['a job that runs already', [{ ...job('a'), action: 'attach' as const }, job('b', { needs: ['a'] })], 8, 20_000],
    ['a chain beside single steps', [job('a'), job('b', { needs: ['a'] }), ...many(2)], 2, 20_000],
  ])('%s', (_name, rows, concurrency, ms) => {
    const { expected } = expectTime(rows, { concurrency, durations: { image: [10_000] } });
    expect(expected?.lowMs).toBeLessThanOrEqual(ms);
    expect(expected?.lowMs).toBeGreaterThan(0.75 * ms);
    expect(expected?.highMs).toBeGreaterThan(0.85 * ms);
    expect(expected?.highMs).toBeLessThan(1.25 * ms);
  });

  test('is a range where jobs differ, hardly beyond what was seen', () => {
    const durations = { image: [1000, 2000, 4000, 60_000] };
    const { expected } = expectTime(many(5), { concurrency: 2, durations });
    expect(expected?.lowMs).toBeGreaterThanOrEqual(3000);
    expect(expected?.highMs).toBeGreaterThan(expected?.lowMs ?? 0);
    expect(expected?.highMs).toBeLessThanOrEqual(240_000);
  });

  test('is unknown where a kind and model was never timed, and both are told', () => {
    const rows = [job('a'), job('b', { model: 'gamma' }), job('c', { model: 'alpha' })];
    expect(
      expectTime(rows, { concurrency: 2, durations: { image: [1], 'image alpha': [1], 'image gamma': [] } }),
    ).toEqual({
      untimed: ['image gamma'],
    });
  });
});

const graph = graphOf(`
version: 1
name: c
tasks:
  logo: { kind: image, with: { prompt: logo } }
  hero:
    kind: image
    foreach: [{ sku: a }, { sku: b }, { sku: c }, { sku: d }]
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "9:16"] }
    with: { prompt: "{{row.sku}}", aspectRatio: "{{matrix.ratio}}", referenceImages: ["{{tasks.logo.url}}"] }
  teaser:
    kind: video
    foreach: [{ sku: d }, { sku: c }, { sku: b }, { sku: a }]
    key: "{{row.sku}}"
    with: { prompt: push in, image: "{{tasks.hero.url}}" }
    from: { hero: { ratio: "9:16" } }
  banner: { kind: image, takes: 2, with: { prompt: all of them, referenceImages: "{{tasks.hero.urls}}" } }
  jingle: { kind: music, with: { prompt: short, model: song-7.5 } }
`);

test('a trial has the first rows of each task, whole, with what they need, and the single steps that lack nothing', () => {
  const first = [...(firstRows(graph, 1) ?? [])].sort();
  expect(first).toEqual(['hero@a,1:1', 'hero@a,9:16', 'hero@d,9:16', 'jingle', 'logo', 'teaser@d'].sort());
});

describe('a situation within limits', () => {
  const graph = graphOf(`version: 1
name: test
tasks:
  hero: { kind: music, foreach: [a, b, c], canary: { then: ask }, with: { model: song-7.5, prompt: "{{row}}" } }
`);
  const seats = (situation: ReturnType<typeof situate>) => situation.graph.gates.map(({ members }) => members);

  it('seats the canaries among what is selected', () => {
    const everything = withFiles(situate(graph, lockOf({})), { fileState: () => 'intact' });
    expect(seats(everything)).toEqual([['hero@a']]);
    const limits = { redo: new Set<string>(), selected: new Set(['hero@b', 'hero@c']) };
    expect(seats(limit(everything, limits))).toEqual([['hero@b']]);
    expect(limit(everything, limits)).toMatchObject(limits);
  });

  it('ignores what was decided about a step that is bought again', () => {
    const record = saved(stepOf(graph, 'hero@a'));
    const verdict = { fingerprint: record.fingerprint, job: record.jobId ?? '', is: 'picked' as const, revision: 1 };
    const lock = lockOf({ 'hero@a': [record] }, { decisions: { verdicts: [verdict] } });
    const stateOf = (situation: ReturnType<typeof situate>) => situation.graph.gates[0]?.state.is;
    const everything = withFiles(situate(graph, lock), { fileState: () => 'intact' });
    expect(stateOf(everything)).toBe('decided');
    expect(stateOf(limit(everything, { redo: new Set(['hero@a']) }))).toBe('open');
  });
});
