import { expect, onTestFinished, test } from 'vitest';
import { type Boss, filesQueue } from '../../../src/cluster/database/boss.ts';
import { FileDispatcher } from '../../../src/cluster/head/file-dispatcher.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { placeOf } from '../../../src/cluster/worker/file-task.ts';
import { Held, settled } from '../../rig/held.ts';
import { target } from '../disk/targets.ts';
import { scriptedDatabase } from './scripted-database.ts';

const account = 'a'.repeat(32);
const store = 'c'.repeat(16);
const inStore = { id: 'one', campaign: 'spring', store };
const inFolder = { id: 'two', campaign: 'autumn', store: null };
const file = { jobId: 'job-1', index: 0, url: 'https://files.example/hero.png' };

/** A dispatcher whose queues are made when a test says so; what it gave to each of them. */
function open() {
  const made = new Held<[queue: string], void>();
  const given = new Map<string, unknown[]>();
  const boss = {
    createQueue: made.call,
    insert: async (queue: string, jobs: unknown[]) => void given.set(queue, [...(given.get(queue) ?? []), ...jobs]),
  } as unknown as Pick<Boss, 'createQueue' | 'insert'>;
  const db = scriptedDatabase(
    [/INSERT INTO mediabatch\.file/, ([, , ids]) => (ids as string[]).map((id) => ({ id, state: 'wanted', tries: 1 }))],
    [/pg_notify/, () => []],
  );
  const dispatcher = new FileDispatcher({ db, boss, account, epoch: 1, seal: makeSeal('key') });
  onTestFinished(() => dispatcher.close());
  return { dispatcher, made, given };
}

test('who leaves while the queue is made does not wait for a file', async () => {
  const { dispatcher, made } = open();
  const leaving = new AbortController();
  const answers: unknown[] = [];
  void dispatcher
    .outputsOf(inStore)
    .fetch(target(), file, { signal: leaving.signal })
    .then((answer) => answers.push(answer));
  await settled();
  leaving.abort();
  made.at(0).answer();
  await settled();
  expect(answers).toEqual([{ is: 'unreachable', message: 'interrupted' }]);
});

test('files of two runs that are put on record together go to the hands of both', async () => {
  const { dispatcher, made, given } = open();
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  for (const run of [inStore, inFolder])
    void dispatcher.outputsOf(run).fetch(target(), file, { signal: leaving.signal });
  await settled();
  for (const { answer } of made.calls) answer();
  await settled();
  const queues = [inStore, inFolder].map((run) => filesQueue(account, placeOf(run)));
  expect(queues.map((queue) => given.get(queue)?.length)).toEqual([1, 1]);
});
