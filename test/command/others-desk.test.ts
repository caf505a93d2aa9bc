import { expect, test } from 'vitest';
import { mayBuyOthers } from '../../src/cli/others-desk.ts';
import { bufferTerminal } from './buffer-terminal.ts';

test('others are bought on the page only where a person has started its run, of which nothing is told that tells of one run', () => {
  const { terminal } = bufferTerminal();
  const person = { ...terminal, interactive: true };
  expect(mayBuyOthers({}, person, {})).toBe(true);
  expect(mayBuyOthers({ yes: true }, person, {})).toBe(true);
  expect(mayBuyOthers({ yes: true }, terminal, {})).toBe(false);
  expect(mayBuyOthers({}, person, { AI_AGENT: 'x' })).toBe(false);
  expect(mayBuyOthers({ json: true }, person, {})).toBe(false);
  expect(mayBuyOthers({ events: 'events.jsonl' }, person, {})).toBe(false);
});
