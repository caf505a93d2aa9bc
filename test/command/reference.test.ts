import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../rig/command.ts';
import { workplaceForEach } from './workplace.ts';

const { run } = workplaceForEach();

describe('schema', () => {
  test.each(['manifest', 'plan', 'lock', 'event', 'run', 'diagnostics', 'status', 'failure'])(
    '%s is the published file',
    async (name) => {
      const { code, out } = await run('schema', name);
      expect(code).toBe(0);
      expect(out).toBe(readFileSync(join(root, 'schemas', `${name}.schema.json`), 'utf8'));
      if (name === 'manifest') expect((await run('schema')).out).toBe(out);
    },
  );

  test('an unknown one gives a near one', async () => {
    expect(await run('schema', 'manifset')).toMatchObject({
      code: 64,
      err: expect.stringContaining('did you mean manifest?'),
    });
  });
});

describe('help', () => {
  test.each(['MB1203', 'mb1203'])('%s explains the code', async (code) => {
    const { out } = await run('help', code);
    expect(out).toContain('MB1203: a template refers to an unknown name');
    expect(out).toContain('Fix: use a name from the hint, here `row.name`.');
  });

  test('without a topic it is the usual help and the contents of the manual; for a command its help', async () => {
    const { code, out } = await run('help');
    expect(code).toBe(0);
    expect(out).toContain('All commands, by theme:  mediabatch help commands');
    expect(out.startsWith((await run('--help')).out)).toBe(true);
    expect(out).toMatch(/^ {2}recovery +recovery after a crash$/m);
    expect((await run('help', 'validate')).out).toBe((await run('validate', '--help')).out);
  });

  test('a page of the manual, and the command of that name', async () => {
    const { out } = await run('help', 'plan');
    expect(out).toMatch(/^How a plan reads\n/);
    expect(out.endsWith((await run('plan', '--help')).out)).toBe(true);
    expect((await run('help', 'RECOVERY')).out).toMatch(/^Recovery after a crash/);
  });

  test('of a kind matches the page of kinds', async () => {
    const { code, out } = await run('help', 'Video');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('video') });
    expect(out).toMatch(/prompt/);
    expect(out).toContain('mediabatch help kinds');
    expect(out).not.toContain('voiceover');
  });

  test.each([
    ['MB1299', 'near it: MB1301'],
    ['1203', 'near it: MB1203 (a template refers to an unknown name)'],
    ['plna', 'did you mean plan?'],
    ['constructor', 'to see pages and commands: mediabatch help'],
    ['templaets', 'did you mean templates?'],
    ['crash', 'did you mean recovery?'],
  ])('%s gives near misses', async (topic, hint) => {
    expect(await run('help', topic)).toMatchObject({ code: 64, err: expect.stringContaining(hint) });
  });
});
