import { expect, test } from 'vitest';
import { matchGraph } from '../../../src/plan/match.ts';
import { sumWaiting } from '../../../src/review/describe/sum-waiting.ts';
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
  const sums = sumWaiting(matchGraph(graph, lock).graph, rows);
  expect(Object.fromEntries(sums)).toEqual({ draft: { steps: 3, credits: 12 }, cut: { steps: 1, credits: 4 } });
});

test('what nobody knows the price of makes the sum unknown', () => {
  const graph = graphOf(
    tasks.replace('last: { kind: music, with: { model: song-7.5, prompt:', 'last: { kind: image, with: { prompt:'),
  );
  const { rows } = planOf(graph, lockOf({}));
  expect(sumWaiting(matchGraph(graph, lockOf({})).graph, rows).get('cut')).toEqual({ steps: 1, credits: null });
});
