import { describe, expect, test } from 'vitest';
import { agreementOf, covers } from '../../../src/plan/agreement.ts';
import type { Plan, PlanRow, StepOrder } from '../../../src/plan/plan.ts';
import { load, tasks } from '../manifest/load.ts';
import { lockOf, planOf, rowOf } from './facts.ts';

/** A song costs 4 credits, and what a picture costs nobody tells. */
function planFor(...lines: string[]): Plan {
  const { graph, found } = load(tasks(...lines));
  if (graph === undefined) throw new Error(found.join());
  return planOf(graph, lockOf({})) as Plan;
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
    ['an equal one', song, 4, true],
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
    ['the last attempt, too', { action: 'retry', order: { repeat: 3 } }, true],
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
