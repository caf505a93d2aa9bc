import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { coalesce } from '../../../src/disk/fs/coalesce.ts';
import { Held } from '../../rig/held.ts';

/** An act begins at the end of a turn of the event loop. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await endOfTurn();
}

test('a request while the act is under way gets one that begins after it, and shares it with the others of that time', async () => {
  const acts = new Held<[], number>();
  const request = coalesce(acts.call);
  const [first, same] = [request(), request()];
  await settled();
  expect(acts.calls).toHaveLength(1);
  const [later, latest] = [request(), request()];
  await settled();
  expect(acts.calls).toHaveLength(1);
  acts.at(0).answer(1);
  await settled();
  expect(acts.calls).toHaveLength(2);
  acts.at(1).answer(2);
  expect(await Promise.all([first, same, later, latest])).toEqual([1, 1, 2, 2]);
});

test('an act that failed fails for those who asked for it, and for nobody after them', async () => {
  const acts = new Held<[], number>();
  const request = coalesce(acts.call);
  const first = request();
  await settled();
  const later = request();
  acts.at(0).fail(new Error('the disk is gone'));
  await expect(first).rejects.toThrow('the disk is gone');
  await settled();
  acts.at(1).answer(2);
  expect(await later).toBe(2);
});
