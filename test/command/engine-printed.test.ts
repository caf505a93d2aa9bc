import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pasteAfter } from '../../src/cli/paste.ts';
import { writeEngineNote } from '../../src/disk/lock/engine-note.ts';
import { images } from '../rig/campaign.ts';
import { command, temporaryFolder } from '../rig/command.ts';

describe('commands that are printed while an engine has the run', () => {
  const program = new Command();
  for (const name of ['apply', 'status', 'plan']) {
    const one = program.command(name).argument('[file]').option('--lock <file>');
    if (name !== 'plan') one.option('--engine <address>');
  }
  const pasteWith = (engine: string) => pasteAfter(program, { file: 'campaign.yaml', options: { engine } });

  test('name it wherever it may be named, and nowhere else', () => {
    const paste = pasteWith('postgres://me@db/x');
    expect(paste({ call: 'apply', words: [] })).toBe('mediabatch apply campaign.yaml --engine postgres://me@db/x');
    expect(paste({ call: 'status', words: [] })).toBe('mediabatch status campaign.yaml --engine postgres://me@db/x');
    expect(paste({ call: 'plan', words: [] })).toBe('mediabatch plan campaign.yaml');
    const other = paste({ call: 'apply', words: ['--engine', 'postgres://a/b'] });
    expect(other).toBe('mediabatch apply campaign.yaml --engine postgres://a/b');
  });

  test.each([
    ['postgres://me:hidden-word@db:5432/x?sslmode=require', 'postgres://me@db:5432/x?sslmode=require'],
    ['postgres://me@db/x?password=hidden-word', 'postgres://me@db/x'],
    ['postgres:me:hidden-word@db/x', undefined],
  ])('never show what signs in: %s', (given, shown) => {
    const pasted = pasteWith(given)({ call: 'apply', words: [] });
    expect(pasted).not.toContain('hidden-word');
    expect(pasted.includes('--engine')).toBe(shown !== undefined);
    expect(pasted).toContain(shown ?? 'campaign.yaml');
  });

  test('status says where the run is, and its commands go there', async () => {
    const { path: cwd, remove } = temporaryFolder();
    onTestFinished(remove);
    writeFileSync(join(cwd, 'campaign.yaml'), images(1));
    const engine = 'postgres://me@db:5432/x';
    const since = '2026-01-01T00:00:00.000Z';
    const note = { run: 'r', account: 'a', engine, since, submitted: true };
    await writeEngineNote(join(cwd, 'campaign.lock.jsonl'), note);
    const { code, out, err } = await command(['status', 'campaign.yaml'], { cwd });
    expect(code).toBe(0);
    expect(err.replace(/ at \d{4}-\d\d-\d\d \d\d:\d\d/, '')).toBe(
      `a run was submitted to ${engine}; to include its progress: mediabatch status campaign.yaml --engine ${engine}\n`,
    );
    for (const line of out.split('\n').filter((one) => one.includes('mediabatch apply')))
      expect(line).toContain(`--engine ${engine}`);
    const named = await command(['status', 'campaign.yaml'], {
      cwd,
      env: { MEDIABATCH_ENGINE: 'postgres://me:hidden-word@127.0.0.1:1/none', MEDIABATCH_API_KEY: 'k' },
    });
    expect(named.code).not.toBe(0);
    expect(named.err).not.toContain('hidden-word');
  });
});
