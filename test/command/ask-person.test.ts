import { expect, test } from 'vitest';
import { askPerson, readAnswers } from '../../src/cli/ask-person.ts';
import { settled } from '../rig/held.ts';
import { sitAtTheKeys } from './at-the-keys.ts';

const question = 'Spend 3 credits?';

test('does not wait for a closed terminal', async () => {
  const { keys, terminal } = sitAtTheKeys();
  keys.end('y\n');
  expect(await askPerson(question, { yes: undefined, terminal })).toBe('no');
});

test('input before the question is ignored, input after it counts', async () => {
  const { keys, terminal } = sitAtTheKeys(() => void keys.write('n\n'));
  keys.write('y\n');
  expect(await askPerson(question, { yes: undefined, terminal })).toBe('no');
});

test('early answers are used one after the other', async () => {
  const { keys, terminal } = sitAtTheKeys();
  const given = await readAnswers(terminal, async (ask) => {
    const first = ask('one? ');
    keys.write('1\n2\n');
    const one = await first;
    await settled();
    return [one, await ask('two? ')];
  });
  expect(given).toEqual([{ typed: '1' }, { typed: '2' }]);
});
