import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BucketStandIn, bucketEnv } from '../rig/bucket-stand-in.ts';
import { readLockFile } from '../rig/oracle.ts';
import { manifestOf, missingFiles } from './rig/campaign.ts';
import { ClusterPlace } from './rig/place.ts';

const store = 's3://media/team 1';

test('files go into a bucket by whoever reaches it, and come from there into the campaign; a worker that dies on the way loses none', async ({
  onTestFinished,
}) => {
  const place = await ClusterPlace.make(onTestFinished);
  const bucket = await BucketStandIn.start();
  place.write('campaign.yaml', manifestOf({ rows: 9, concurrency: 6, budget: 200 }));
  const env = bucket.env;
  const submitter = place.submit(['--store', store], { env });
  while (submitter.isRunning() && ![...bucket.objects.keys()].some((key) => key.endsWith('store.json'))) await wait(50);
  // Whoever begins to put the third file there dies of it.
  let [puts, dead] = [0, false];
  const workers = Array.from({ length: 2 }, () =>
    place.start(['worker', '--store', store, '--files', '2'], { env, cwd: place.folder }),
  );
  bucket.trouble = ({ method, url }) => {
    if (method !== 'PUT' || url.includes('store.json')) return undefined;
    puts += 1;
    if (puts !== 3 || dead) return undefined;
    dead = true;
    for (const worker of workers) worker.signal('SIGKILL');
    workers.push(place.start(['worker', '--store', store, '--files', '2'], { env, cwd: place.folder }));
    return 'break';
  };
  const ran = await submitter.ended;
  expect(ran.code, `${ran.err}\n${workers.map((one) => one.err()).join('\n')}`).toBe(0);
  expect(dead).toBe(true);
  expect(missingFiles(place)).toEqual([]);
  const lock = readLockFile(place.path('campaign.lock.jsonl'));
  const saved = [...lock.steps.values()].flatMap(({ purchases: [newest] }) => newest?.outputs ?? []);
  expect(new Set(saved.map(({ path }) => path)).size).toBe(9 + 9 + 3);
  for (const { path, bytes } of saved)
    expect(bucket.objects.get(`media/team 1/chaos/${path}`)?.bytes.length).toBe(bytes);
  // Each was paid for once.
  const subjects = place.judge.ledger.map(({ subject }) => subject);
  expect(new Set(subjects).size).toBe(9 + 9 + 3);
  expect(place.judge.ledger).toHaveLength(9 + 9 + 3);
  const dump = await place.server.dump();
  const said = [submitter, ...workers].map((one) => one.out() + one.err()).join('\n');
  for (const text of [dump, said]) expect(text).not.toContain(bucketEnv.AWS_SECRET_ACCESS_KEY);
});
