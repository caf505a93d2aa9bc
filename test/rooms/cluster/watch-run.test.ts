import { expect, test } from 'vitest';
import { watchRun } from '../../../src/cluster/runs/watch-run.ts';
import { scriptedDatabase } from './scripted-database.ts';

interface Row {
  seq: string;
  text: string;
}

test('an event is told after the line that it tells of, although both come between two reads', async () => {
  const tables: { lines: Row[]; events: Row[] } = { lines: [], events: [] };
  const lookAt = (table: Row[], after: unknown) => {
    const found = table.filter(({ seq }) => Number(seq) > Number(after));
    // The head writes as soon as one of the two was read.
    tables.lines = [{ seq: '1', text: 'the job is on record\n' }];
    tables.events = [{ seq: '1', text: '{"event":"job-created"}\n' }];
    return found;
  };
  let looks = 0;
  const database = scriptedDatabase(
    [/FROM mediabatch\.run /, () => [{ id: 'r', error: null, state: looks++ === 0 ? 'open' : 'ended' }]],
    [/FROM mediabatch\.event /, ([, after]) => lookAt(tables.events, after)],
    [/FROM mediabatch\.line /, ([, after]) => lookAt(tables.lines, after)],
  );
  const heard: string[] = [];
  const lock = new Set<string>();
  await watchRun(database, 'r', {
    signal: new AbortController().signal,
    onLines: async (lines) => {
      const fresh = lines.filter((text) => !lock.has(text));
      for (const text of fresh) lock.add(text);
      heard.push(...fresh.map(() => 'line'));
      return fresh.length;
    },
    onEvents: (events) => void heard.push(...events.map(({ event }) => event)),
  });
  expect(heard).toEqual(['line', 'job-created']);
});

test('rows that a database gives numbers of before are heard at the end', async () => {
  const tables: { lines: Row[]; events: Row[] } = {
    lines: [{ seq: '7', text: 'a job that was lost with the database\n' }],
    events: [{ seq: '9', text: '{"event":"step-finished","address":"hero@1"}' }],
  };
  const after = (table: Row[], seq: unknown) => table.filter((row) => Number(row.seq) > Number(seq));
  let looks = 0;
  const database = scriptedDatabase(
    [/FROM mediabatch\.run /, () => [{ id: 'r', error: null, state: looks++ === 0 ? 'open' : 'ended' }]],
    [/FROM mediabatch\.event /, ([, seq]) => after(tables.events, seq)],
    [/FROM mediabatch\.line /, ([, seq]) => after(tables.lines, seq)],
  );
  const heard: string[] = [];
  const lock = new Set<string>();
  await watchRun(database, 'r', {
    signal: new AbortController().signal,
    onLines: async (lines) => {
      const fresh = lines.filter((text) => !lock.has(text));
      for (const text of fresh) lock.add(text);
      return fresh.length;
    },
    onEvents(events) {
      heard.push(...events.map((event) => `${event.event} ${'address' in event ? event.address : ''}`));
      // An older copy is put in its place, and its head goes on.
      tables.lines = [{ seq: '6', text: 'a job that came later\n' }];
      tables.events = [
        { seq: '8', text: '{"event":"step-finished","address":"hero@1"}' },
        { seq: '9', text: '{"event":"step-finished","address":"hero@2"}' },
      ];
    },
  });
  expect([...lock]).toEqual(['a job that was lost with the database\n', 'a job that came later\n']);
  expect(heard).toEqual(['step-finished hero@1', 'step-finished hero@2']);
});
