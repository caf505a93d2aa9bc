import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { joinLocks, recordOf } from '../../src/lock/join.ts';
import { readLock } from '../../src/lock/read.ts';
import type { Lock, PurchaseState } from '../../src/lock/record.ts';
import { emptyLock, writeLock } from '../../src/lock/write.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { jobIds } from './records.ts';

const name = 'campaign.lock.jsonl';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mediabatch-git-'));
  git('init', '--quiet', '--initial-branch=main');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A merge with conflicts ends with 1. */
function git(...parameters: string[]): void {
  try {
    execFileSync('git', parameters, { cwd: folder, env: gitEnvironment, stdio: 'pipe' });
  } catch (error) {
    if (parameters[0] !== 'merge' && parameters[0] !== 'rebase') throw error;
  }
}

function step(address: string, facts: { state: PurchaseState; jobId?: string; generation?: number }): Lock {
  const { generation = 1, ...rest } = facts;
  const line = {
    address,
    kind: 'image',
    fingerprint: `1:${address}`,
    generation,
    attempt: 1,
    key: `k-${address}`,
    ...rest,
  };
  return { version: 1, service: 'abc', steps: new Map([[address, recordOf(line)]]) };
}

function commit(lock: Lock | undefined, message: string): void {
  if (lock !== undefined) writeFileSync(join(folder, name), writeLock(lock));
  git('add', '.');
  git('commit', '--quiet', '--allow-empty', '-m', message);
}

const done = (jobId: string) => ({ state: 'done', jobId }) as const;

const common = [step('a', done('a1')), step('m', { state: 'intent' }), step('z', done('z1'))].reduce(
  joinLocks,
  emptyLock(),
);

const scenarios: { name: string; base: Lock | undefined; ours: Lock; theirs: Lock }[] = [
  { name: 'both add a step, far apart', base: common, ours: step('b', done('b1')), theirs: step('zz', done('zz1')) },
  {
    name: 'both add a step at the same place',
    base: common,
    ours: step('b', done('b1')),
    theirs: step('c', done('c1')),
  },
  { name: 'both pay for the same step', base: common, ours: step('m', done('m1')), theirs: step('m', done('m2')) },
  {
    name: 'one finishes what the other sees running',
    base: common,
    ours: step('m', { state: 'running', jobId: 'm1' }),
    theirs: step('m', done('m1')),
  },
  {
    name: 'one redoes a step while the other pays for it',
    base: common,
    ours: step('a', { state: 'done', jobId: 'a2', generation: 2 }),
    theirs: step('a', { state: 'failed', jobId: 'a9', generation: 1 }),
  },
  { name: 'both make the file', base: undefined, ours: step('a', done('a1')), theirs: step('b', done('b1')) },
];

describe.each(['union', 'plain'])('a real merge, %s', (driver) => {
  describe.each(['merge', 'rebase'])('by %s', (way) => {
    it.each(scenarios)('$name', ({ name: scenario, base, ours, theirs }) => {
      writeFileSync(join(folder, '.gitattributes'), driver === 'union' ? `*.lock.jsonl merge=union text eol=lf\n` : '');
      commit(base, 'base');
      const start = base ?? emptyLock();
      git('checkout', '--quiet', '-b', 'theirs');
      commit(joinLocks(start, theirs), 'theirs');
      git('checkout', '--quiet', 'main');
      commit(joinLocks(start, ours), 'ours');
      git(...(way === 'merge' ? ['merge', '--quiet', 'theirs'] : ['rebase', '--quiet', 'theirs']));
      const reading = readLock(name, readFileSync(join(folder, name)));
      expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      const expected = joinLocks(joinLocks(start, ours), theirs);
      expect(jobIds(reading.lock)).toEqual(jobIds(expected));
      expect(writeLock(reading.lock)).toBe(writeLock(expected));
      const hasMarkers = reading.diagnostics.some(({ code }) => code === 'MB2005');
      if (driver === 'union') expect(hasMarkers).toBe(false);
      else if (jobIds(joinLocks(ours, theirs)).length === 2) expect(hasMarkers).toBe(!scenario.includes('far apart'));
    });
  });
});
