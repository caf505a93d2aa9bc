import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bugReport } from '../../src/cli/main.ts';

test('a bug report contains version, machine, command and stack, and no user data', () => {
  const error = new Error(`no row for "a red lamp for Ada" in ${join(homedir(), 'secret/campaign.yaml')}`);
  error.stack += `\n    at load (/srv/client/campaign.ts:3:1)\n    at next (${join(process.cwd(), 'dist/cli/main.js')}:1:2)`;
  const [first, command, ...stack] = bugReport(error, [
    'apply',
    'secret.yaml',
    '--yes',
    '--var=key=sk_live_1',
    '-s',
    'hero',
  ]);
  expect(first).toMatch(/^mediabatch \d+\.\d+\.\d+, Node v\d+.*, \w+ \w+$/);
  expect(command).toBe('command: apply --yes --var -s');
  const text = stack.join('\n');
  expect(text).toContain('Error: no row for "…" in <home>/secret/campaign.yaml');
  expect(text).toContain('(<path>:3:1)');
  expect(text).toMatch(/<(?:package|cwd)>\/dist\/cli\/main\.js/);
  expect(text).not.toContain(homedir() === '/' ? '\0' : homedir());
});
