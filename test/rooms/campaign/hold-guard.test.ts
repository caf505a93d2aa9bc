import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { holdGuard } from '../../../src/campaign/hold-guard.ts';
import type { CampaignPaths } from '../../../src/campaign/paths.ts';
import { requireLock } from '../../../src/campaign/read-lock.ts';
import { failureOf } from '../../../src/contract/failure.ts';
import { noteOpenPage } from '../../../src/disk/state/own-files.ts';
import { temporaryFolder } from '../../rig/command.ts';

test('who finds the lock held by a run with a page open is shown that page, and no other', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const before = process.env.XDG_STATE_HOME;
  process.env.XDG_STATE_HOME = join(folder.path, 'own');
  onTestFinished(() => {
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
  });
  const lock = join(folder.path, 'campaign.lock.jsonl');
  const url = 'http://127.0.0.1:4177/0123456789abcdef0123456789abcdef/';
  const held = await holdGuard(lock, 0, () => undefined);
  const hintOf = async () =>
    holdGuard(lock, 0, () => undefined).then(
      () => 'not held',
      (error: unknown) => JSON.stringify(failureOf(error)?.hint),
    );
  expect(await hintOf()).not.toContain('page');
  const forget = await noteOpenPage(lock, { pid: process.pid, url });
  expect(await hintOf()).toContain(`decide on the page of that run: ${url}`);
  // Left by a run that was killed: another one holds the lock now.
  const forgetOther = await noteOpenPage(lock, { pid: process.pid + 1, url });
  expect(await hintOf()).not.toContain('page');
  await forgetOther();
  await forget();
  expect(await hintOf()).not.toContain('page');
  await held.release();
  expect(await hintOf()).toBe('not held');
});

test('refuses a lock in a folder that does not exist, or below a file', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, 'campaign.yaml'), '');
  for (const name of ['x/y/z.jsonl', 'campaign.yaml/z.jsonl']) {
    const lock = join(folder.path, name);
    const tell = () => undefined;
    for (const used of [
      holdGuard(lock, 0, tell),
      requireLock({ paths: { lock } as CampaignPaths, sandbox: false, tell }, undefined),
    ]) {
      await expect(used).rejects.toMatchObject({ failure: { code: 'MB3407' } });
    }
  }
});
