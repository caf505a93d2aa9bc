import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { joinLocks, recordOf } from '../../../src/lock/join.ts';
import { readLock } from '../../../src/lock/read.ts';
import type { Decisions, Lock, LockLine, PurchaseState } from '../../../src/lock/record.ts';
import { openSends } from '../../../src/lock/sends.ts';
import { emptyLock, writeLock } from '../../../src/lock/write.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { jobIds } from './records.ts';

const name = 'campaign.lock.jsonl';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mediabatch-git-'));
  git('init', '--quiet', '--initial-branch=main');
});

afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** A merge with conflicts ends with 1. */
function git(...parameters: string[]): void {
  try {
    execFileSync('git', parameters, { cwd: folder, env: gitEnvironment, stdio: 'pipe' });
  } catch (error) {
    if (parameters[0] !== 'merge' && parameters[0] !== 'rebase') throw error;
  }
}

interface Facts {
  state: PurchaseState;
  jobId?: string;
  generation?: number;
  send?: string;
  writtenOff?: true;
  forgotten?: true;
  decisions?: Decisions;
  closes?: string[];
}

function step(address: string, facts: Facts): Lock {
  const { generation = 1, ...rest } = facts;
  const line = {
    address,
    kind: 'video',
    fingerprint: `1:${address}`,
    generation,
    attempt: 1,
    key: `k-${address}`,
    ...rest,
  };
  return { version: 2, service: 'abc', steps: new Map([[address, recordOf(line as unknown as LockLine)]]) };
}

function all(...locks: Lock[]): Lock {
  return locks.reduce(joinLocks, emptyLock());
}

function commit(lock: Lock | undefined, message: string): void {
  if (lock !== undefined) writeFileSync(join(folder, name), writeLock(lock));
  git('add', '.');
  git('commit', '--quiet', '--allow-empty', '-m', message);
}

const done = (jobId: string) => ({ state: 'done', jobId }) as const;
const open = (send: string) => ({ state: 'unresolved', send }) as const;
const answered = (jobId: string, send = 's') => ({ ...done(jobId), closes: [send] });
const refused: Facts = { state: 'refused' };

const common = all(step('a', done('a1')), step('m', open('s')), step('z', done('z1')));

/** `open`: sends that wait for their answer after it. `apart`: git sees no conflict. */
const scenarios: { name: string; base?: Lock; ours: Lock; theirs: Lock; open: string[]; apart?: true }[] = [
  {
    name: 'both add a step, far apart',
    ours: step('b', done('b1')),
    theirs: step('zz', done('zz1')),
    open: ['s'],
    apart: true,
  },
  {
    name: 'both add a step at the same place',
    ours: step('b', done('b1')),
    theirs: step('c', done('c1')),
    open: ['s'],
  },
  {
    name: 'both get an answer to the same send',
    ours: step('m', answered('m1')),
    theirs: step('m', answered('m2')),
    open: [],
  },
  {
    name: 'one finishes what the other sees running',
    ours: step('m', { state: 'running', jobId: 'm1', closes: ['s'] }),
    theirs: step('m', answered('m1')),
    open: [],
  },
  {
    name: 'one redoes a step while the other pays for it',
    ours: step('a', { state: 'done', jobId: 'a2', generation: 2 }),
    theirs: step('a', { state: 'failed', jobId: 'a9', generation: 1 }),
    open: ['s'],
  },
  {
    name: 'both make the file',
    base: emptyLock(),
    ours: step('a', done('a1')),
    theirs: step('b', done('b1')),
    open: [],
  },
  {
    name: 'one gets the answer, the other has something else to say',
    ours: step('m', answered('m1')),
    theirs: step('zz', done('zz1')),
    open: [],
    apart: true,
  },
  {
    name: 'one is refused what the other has lost the answer to',
    ours: step('b', refused),
    theirs: step('b', open('lost')),
    open: ['lost', 's'],
  },
  {
    name: 'one has a job where the other has lost the answer to a create of its own',
    ours: step('b', done('b1')),
    theirs: step('b', open('lost')),
    open: ['lost', 's'],
  },
  {
    name: 'both have lost an answer',
    ours: step('b', open('one')),
    theirs: step('b', open('two')),
    open: ['one', 'two', 's'],
  },
  {
    name: 'one forgets a refusal, the other buys',
    ours: step('b', { ...refused, forgotten: true }),
    theirs: step('b', done('b1')),
    open: ['s'],
  },
  {
    name: 'one decides that a send was not charged, the other sends once more beside it',
    ours: step('m', { ...refused, decisions: { sends: ['s'] } }),
    theirs: step('m', { ...open('more'), generation: 2 }),
    open: ['more'],
  },
  {
    name: 'one writes a send off and buys again, the other sends once more beside it',
    ours: all(step('m', { ...open('s'), writtenOff: true }), step('m', { ...done('m2'), generation: 2 })),
    theirs: step('m', { ...open('more'), generation: 2 }),
    open: ['more'],
  },
];

describe.each(['union', 'plain'])('a real merge, %s', (driver) => {
  describe.each(['merge', 'rebase'])('by %s', (way) => {
    it.each(scenarios)('$name', ({ base = common, ours, theirs, open: stillOpen, apart }) => {
      writeFileSync(join(folder, '.gitattributes'), driver === 'union' ? `*.lock.jsonl merge=union text eol=lf\n` : '');
      commit(base.steps.size === 0 ? undefined : base, 'base');
      git('checkout', '--quiet', '-b', 'theirs');
      commit(joinLocks(base, theirs), 'theirs');
      git('checkout', '--quiet', 'main');
      commit(joinLocks(base, ours), 'ours');
      git(...(way === 'merge' ? ['merge', '--quiet', 'theirs'] : ['rebase', '--quiet', 'theirs']));
      const reading = readLock(name, readFileSync(join(folder, name)));
      expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
      const expected = all(base, ours, theirs);
      expect(jobIds(reading.lock)).toEqual(jobIds(expected));
      expect(openSends(reading.lock, new Set()).map(({ purchase }) => purchase.send)).toEqual(stillOpen);
      expect(writeLock(reading.lock)).toBe(writeLock(expected));
      const hasMarkers = reading.diagnostics.some(({ code }) => code === 'MB2004');
      expect(hasMarkers).toBe(driver === 'plain' && apart !== true);
    });
  });
});
