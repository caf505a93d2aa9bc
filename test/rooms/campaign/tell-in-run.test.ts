import { expect, test } from 'vitest';
import { makeTellInRun } from '../../../src/campaign/on-engine/carry-on-engine.ts';
import type { RunEvent } from '../../../src/contract/event.ts';
import { call, way } from '../../../src/ground/advice.ts';

test('a notice is an event of the run from its first event to its last one, and is told before and after', () => {
  const told: string[] = [];
  const heard: string[] = [];
  const { tell, from, end } = makeTellInRun(
    (news) => void told.push('text' in news ? String(news.text) : news.is),
    () => 0,
  );
  const on = from((event) => void heard.push(event.event === 'noticed' ? event.message : event.event));
  const say = (text: string) => tell({ is: 'notice', text });
  const pass = (event: string) => on({ at: '', event } as RunEvent);
  say('before');
  pass('run-started');
  say('the engine is away');
  tell({ is: 'notice', text: 'no worker runs', hint: way('to start one', call('worker', '--drain')) });
  pass('run-ended');
  say('after');
  pass('run-started');
  end();
  say('left');
  expect(told).toEqual(['before', 'after', 'left']);
  expect(heard).toEqual([
    'run-started',
    'the engine is away',
    'no worker runs; to start one: mediabatch worker --drain',
    'run-ended',
    'run-started',
  ]);
});
