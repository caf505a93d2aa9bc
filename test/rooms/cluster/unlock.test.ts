import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { showEngine } from '../../../src/cluster/engine-url.ts';
import { submitRun } from '../../../src/cluster/runs.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { images } from '../../rig/campaign.ts';
import { command, temporaryFolder } from '../../rig/command.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

test('a campaign is not given free while the engine has its run open, unless it is forced', async () => {
  const { url, db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, submission({ account }));
  const { path: cwd, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  const lock = join(cwd, 'campaign.lock.jsonl');
  const noted = { run: id, account, engine: showEngine(url), since: '2026', submitted: true };
  const unlock = (...more: string[]) =>
    command(['unlock', 'campaign.yaml', '--id', id, ...more], { cwd, env: { MEDIABATCH_ENGINE: url } });
  await writeEngineNote(lock, noted);
  const refused = await unlock();
  expect(refused.code).toBe(75);
  expect(refused.err).toContain(`mediabatch unlock campaign.yaml --id ${id} --force`);
  expect(readEngineNote(lock)).toBeDefined();
  const wrong = new URL(url);
  wrong.password = 'another';
  const shut = await command(['unlock', 'campaign.yaml', '--id', id], { cwd, env: { MEDIABATCH_ENGINE: wrong.href } });
  expect([shut.code, shut.err]).toEqual([69, expect.stringContaining('user or password')]);
  expect(readEngineNote(lock)).toBeDefined();
  expect((await unlock('--force')).code).toBe(0);
  expect(readEngineNote(lock)).toBeUndefined();
  await writeEngineNote(lock, { ...noted, engine: 'postgres://nobody@127.0.0.1:1/gone' });
  expect((await unlock()).code).toBe(0);
  expect(readEngineNote(lock)).toBeUndefined();
});
