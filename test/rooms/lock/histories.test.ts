import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeLock } from '../../../src/lock/write.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { type Deed, histories, Repository } from './history.ts';
import { read } from './records.ts';

forAll([histories], runs(400))('no history loses an open send, a job id, a held credit or a decision', (history) => {
  const repository = new Repository();
  for (const deed of history) repository.do(deed);
});

it('a decision outlives its step’s rename, and the other sends of it', () => {
  const repository = new Repository();
  const deeds: Deed['deed'][] = [
    'send',
    'send',
    'branch',
    'rename',
    'decide',
    'settle',
    'never leave',
    'settle',
    'merge',
  ];
  for (const deed of deeds)
    repository.do({ deed, branch: 0, other: 1, pick: 0, way: 0, ...(deed === 'decide' && { way: 1 }) });
  expect(repository.branches[0]?.knows.decided).toEqual(new Set(['send-1']));
});

forAll([histories, fc.nat(3)], runs(100))('an answer leaves no trace of how often it was asked', (history, way) => {
  const repository = new Repository();
  for (const deed of history) repository.do(deed);
  const [main] = repository.branches;
  if (main === undefined) throw new Error('no branch');
  repository.do({ deed: 'settle', branch: 0, other: 0, pick: 0, way: 0 });
  const settled = main.text;
  const before = new Set(main.knows.sent);
  for (let pick = 0; pick <= way; pick += 1) {
    repository.do({ deed: 'send', branch: 0, other: 0, pick, way: pick });
  }
  // Everything that was sent since comes to nothing.
  for (const id of main.knows.open().filter((open) => !before.has(open))) {
    const pick = main.knows.open().indexOf(id);
    repository.do({ deed: 'never leave', branch: 0, other: 0, pick, way: 0 });
  }
  const left = main.knows.open().filter((id) => !before.has(id));
  repository.do({ deed: 'settle', branch: 0, other: 0, pick: 0, way: 0 });
  if (left.length === 0) expect(main.text).toBe(settled);
  expect(writeLock(read(main.text).lock)).toBe(main.text);
});
