import { expect, test } from 'vitest';
import { situate } from '../../../src/plan/situation/situation.ts';
import { listWaits, sumWaits } from '../../../src/review/describe/describe-campaign.ts';
import { graphOf } from '../../rig/campaign.ts';
import { lockOf, planOf, saved, stepOf } from '../plan/facts.ts';

const tasks = `version: 1
name: test
tasks:
  draft: { kind: music, takes: 2, gate: { choose: 1 }, with: { model: song-7.5, prompt: a } }
  cut: { kind: music, takes: 2, gate: { choose: 1 }, with: { model: song-7.5, prompt: "b {{tasks.draft.url}}" } }
  last: { kind: music, with: { model: song-7.5, prompt: "c {{tasks.cut.url}}" } }
  free: { kind: music, with: { model: song-7.5, prompt: d } }
`;

test('what waits for a gate that waits for another one waits for both, at what it costs', () => {
  const graph = graphOf(tasks);
  const lock = lockOf({
    'draft/1': [saved(stepOf(graph, 'draft/1'))],
    'draft/2': [saved(stepOf(graph, 'draft/2'))],
  });
  const { rows } = planOf(graph, lock);
  const waits = listWaits(situate(graph, lock).graph, rows);
  expect(waits).toEqual([
    { gates: ['draft'], steps: 2, credits: 8, likely: 8 },
    { gates: ['cut', 'draft'], steps: 1, credits: 4, likely: 4 },
  ]);
  expect(sumWaits(waits).get('draft')).toEqual({ steps: 3, credits: 12, likely: 12 });
  expect(sumWaits(waits).get('cut')).toEqual({ steps: 1, credits: 4, likely: 4 });
});

test('what nobody knows the price of makes the sum unknown', () => {
  const graph = graphOf(
    tasks.replace('last: { kind: music, with: { model: song-7.5, prompt:', 'last: { kind: image, with: { prompt:'),
  );
  const { rows } = planOf(graph, lockOf({}));
  const waits = listWaits(situate(graph, lockOf({})).graph, rows);
  expect(sumWaits(waits).get('cut')).toEqual({ steps: 1, credits: null, likely: null });
});
