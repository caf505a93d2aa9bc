import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeStore, storeOfRun } from '../../../src/campaign/on-engine/submit-plan.ts';
import type { Engine } from '../../../src/cluster/open-engine.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import type { Output } from '../../../src/lock/record.ts';
import { engineHere, submission } from './engine-here.ts';

function folderHere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Attaches to a run that was submitted with this store. */
async function attachTo(store: string | null) {
  const { db, boss } = await engineHere();
  const { id, campaign } = { ...submission({ account: 'a', store }) };
  await submitRun(db, boss, { ...submission({ account: 'a', store }), id });
  const notices: string[] = [];
  const tell = (news: { is: string; text?: string }) => void notices.push(news.text ?? news.is);
  const engine = { database: db, boss } as unknown as Engine;
  const storeFor = (name?: string) => storeOfRun({ id, campaign }, { engine, name, tell });
  return { notices, storeFor };
}

test('files are brought from the store that the run was submitted with, and from no other', async () => {
  const [folder, other] = [folderHere(), folderHere()];
  const { id } = await makeStore(folder);
  await makeStore(other);
  const { storeFor, notices } = await attachTo(id);
  const output = { path: 'images/a.png' } as Output;
  const files = await storeFor(folder);
  expect(files === 'stay' ? files : await files?.read(output)).toBeUndefined();
  expect(notices).toEqual([]);
  for (const name of [other, folderHere()])
    await expect(storeFor(name)).rejects.toMatchObject({ failure: { code: 'MB3705' } });
});

test('whoever attaches without the store of a run is told that its files stay there', async () => {
  const { id } = await makeStore(folderHere());
  const { storeFor, notices } = await attachTo(id);
  expect(await storeFor()).toBe('stay');
  expect(notices).toEqual([expect.stringContaining('no --store is given')]);
});

test('a store that a run does not have is said to be of no use', async () => {
  const { storeFor, notices } = await attachTo(null);
  expect(await storeFor(folderHere())).toBeUndefined();
  expect(notices).toEqual([expect.stringContaining('submitted without --store')]);
});
