import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { settleLock } from '../../../src/campaign/settle.ts';
import { openLockFile } from '../../../src/disk/lock/lock-file.ts';
import { digestOf } from '../../../src/disk/outputs/hash-file.ts';
import { outlineOf } from '../../../src/graph/graph.ts';
import { readLock } from '../../../src/lock/read.ts';
import { emptyLock, writeHeader, writeLines } from '../../../src/lock/write.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { makeFolder } from '../disk/folder.ts';
import { job, lockOf, picture, stepOf } from '../plan/facts.ts';

test('a lock that another program replaced during a run keeps what both recorded', async () => {
  const path = join(makeFolder(), 'campaign.lock.jsonl');
  const graph = graphOfSteps([picture('ours'), picture('theirs')]);
  const lock = (address: string) => lockOf({ [address]: [job(stepOf(graph, address))] }, { kind: 'image' });
  const header = writeHeader(emptyLock());
  writeFileSync(path, header);
  const file = await openLockFile(path, { header, read: digestOf(Buffer.from(header)) });
  onTestFinished(() => file.close());
  writeFileSync(`${path}.new`, [...writeLines(lock('theirs'))].join(''));
  renameSync(`${path}.new`, path);
  const events: string[] = [];
  await settleLock(file, {
    ledger: { lock: lock('ours'), recorded: true },
    outline: outlineOf(graph),
    loaded: { needsRewrite: false },
    emit: ({ event }) => void events.push(event),
  });
  expect([...readLock(path, readFileSync(path)).lock.steps.keys()].sort()).toEqual(['ours', 'theirs']);
  expect(events).toEqual(['noticed']);
});
