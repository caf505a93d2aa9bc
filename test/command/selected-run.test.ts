import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/contract/event.ts';
import { foldEvent } from '../../src/report/run/fold-event.ts';
import { createRunView } from '../../src/report/run/run-view.ts';
import { taskWords } from '../../src/report/run/run-words.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

const manifest = `version: 1
name: spring
tasks:
  hero: { kind: image, foreach: [a, b, c], with: { prompt: "{{row}}", resolution: 1k } }
  logo: { kind: image, takes: 2, with: { prompt: logo } }
  film: { kind: image, foreach: [a, b], with: { prompt: "{{row}} 2", referenceImages: ["{{tasks.hero.url}}"] } }
`;

test.each([
  [['-s', 'film'], ['film 2']],
  [
    ['--first', '1'],
    ['hero 1', 'logo 2', 'film 1'],
  ],
  [['-s', 'hero@a', '--redo', 'hero@a'], ['hero 1']],
])('a run with %j tells of what it is about, and of nothing else', async (selection, tasks) => {
  place.write('campaign.yaml', manifest);
  await place.run('apply', '--sandbox', '--yes', '-s', 'hero');
  const { code, out } = await place.run('apply', '--sandbox', '--yes', '--events', '-', ...selection);
  expect(code).toBe(0);
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent);
  const [first] = events;
  if (first?.event !== 'run-started') throw new Error('the first event is another');
  expect(first.tasks.map(({ id, steps }) => `${id} ${steps}`)).toEqual(tasks);
  expect(first.tasks.reduce((sum, { steps }) => sum + steps, 0)).toBe(first.steps);
  const view = createRunView();
  for (const event of events) foldEvent(view, event);
  const told = [...view.tasks.values()].map((task) => [task, taskWords(task, { isOver: true })] as const);
  for (const [{ steps }, words] of told) expect(words).toEqual([`${steps} of ${steps}`]);
});
