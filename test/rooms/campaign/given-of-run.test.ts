import { expect, test } from 'vitest';
import { differencesFrom, givenOf, notOfRunText } from '../../../src/campaign/on-engine/other-runs.ts';
import type { Graph } from '../../../src/graph/graph.ts';

const graphOf = (fingerprint: string) => ({ name: 'spring', steps: [{ address: 'hero', fingerprint }] }) as Graph;
const textOf = (...[then, now]: Parameters<typeof differencesFrom>) => notOfRunText(differencesFrom(then, now));
const submitted = givenOf(graphOf('1:a'), { select: ['hero'], maxCredits: 10, redo: [] });

test('the command that submitted a run attaches to it without more words, and so does one without its limits', () => {
  expect(textOf(submitted, givenOf(graphOf('1:a'), { select: ['hero'], maxCredits: 10 }))).toBeUndefined();
  expect(textOf(submitted, givenOf(graphOf('1:a'), {}))).toBeUndefined();
});

test('whatever else is typed, or was edited, is named', () => {
  expect(textOf(submitted, givenOf(graphOf('1:b'), {}))).toContain('later changes of the campaign');
  const others = givenOf(graphOf('1:a'), {
    select: ['song'],
    maxCredits: 3,
    concurrency: 1,
    redo: ['x'],
    publish: true,
  });
  expect(textOf(submitted, others)).toMatch(/: --select, --max-credits, --redo, --concurrency, --publish$/);
});
