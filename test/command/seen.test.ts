import { expect, test } from 'vitest';
import type { Round } from '../../src/campaign/watch/watch.ts';
import { Seen } from '../../src/cli/commands/watch.ts';

/** A round of a watch: with a plan of this name, or without one, because the save was broken. */
const round = (name?: string, own: Partial<Round> = {}): Round =>
  ({
    ...{ notices: [], diagnostics: [], ...own },
    ...(name !== undefined && { planned: { plan: { campaign: name } } }),
  }) as unknown as Round;

test('after a save that was broken the plan is compared with the last one that there was', () => {
  const seen = new Seen();
  seen.viewOf(round('first'), 1);
  expect(seen.viewOf(round(), 2)).toMatchObject({ before: { campaign: 'first' } });
  expect(seen.viewOf(round('third'), 3)).toMatchObject({ before: { campaign: 'first' }, plan: { campaign: 'third' } });
  expect(seen.rounds).toBe(3);
});

test('what was said of the last save is not said again, but what was said before it is', () => {
  const seen = new Seen();
  const notices = (...said: string[]) => seen.viewOf(round('one', { notices: said }), 1).notices;
  expect([notices('a'), notices('a', 'b'), notices(), notices('a')]).toEqual([['a'], ['b'], [], ['a']]);
});
