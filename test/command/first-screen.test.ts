import { expect, test } from 'vitest';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();
const everyday = ['init', 'validate', 'plan', 'approve', 'apply', 'status', 'review', 'outputs', 'cost', 'help'];

test.each([['--help'], ['-h'], []])(
  'the first screen fits a terminal of 24 rows and 80 columns: %s',
  async (...args) => {
    const { out, err } = await place.run(...args);
    const lines = (out === '' ? err : out).trimEnd().split('\n');
    expect(lines.length).toBeLessThan(24);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const named = lines.flatMap((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? []);
    expect(named).toEqual(everyday);
    expect(lines.join('\n')).toContain('mediabatch help commands');
  },
);

test('lists all commands by theme before their options', async () => {
  const { out } = await place.run('help', 'commands');
  const first = out.slice(0, out.indexOf('\ninit\n') + 1 || out.length);
  for (const theme of [
    'Write a campaign',
    'Run a campaign',
    'Look back',
    'Decide and tidy up',
    'The service',
    'Several machines',
  ])
    expect(first).toContain(theme);
  expect(first).toContain('unlock');
});

test('the options of apply stand below headings, none of them apart', async () => {
  const { out } = await place.run('apply', '--help');
  const headings = [...out.matchAll(/^(\w.*):$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual([
    'Arguments',
    'Consent and money',
    'Which campaign',
    'Which steps',
    'Output',
    'Pace and failures',
    'Sandbox',
    'Engine',
    'Options',
    'Examples',
  ]);
});
