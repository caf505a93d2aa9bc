import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../rig/command.ts';
import { runInProcess } from './in-process.ts';

const manifest = (index: string) => `version: 1
name: listed
outputs: { index: ${index} }
tasks:
  pic: { kind: image, foreach: [a, b], gate: approve, with: { prompt: "{{row}}", resolution: 1k } }
`;

function campaign(index = 'lists/all.csv') {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(folder, 'campaign.yaml'), manifest(index));
  const apply = (...words: string[]) =>
    command(['apply', '--sandbox', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10', ...words], {
      cwd: folder,
    });
  const file = join(folder, 'campaign.sandbox', index);
  return { folder, apply, file, text: () => readFileSync(file, 'utf8') };
}

describe('outputs: { index }', () => {
  test('is written at the end of every run, also of one with nothing else to do', async () => {
    const { folder, apply, file, text } = campaign();
    await apply('-s', 'pic@a');
    expect(text()).toMatch(/^\ufeffrow,address,.*\r\na,pic@a,.*,\.\.\/output\/pic-a\.png,intact,.*\r\n$/);
    await apply();
    const both = text();
    expect(both.trimEnd().split('\r\n')).toHaveLength(3);
    rmSync(file);
    expect((await apply()).err).toContain('Nothing to do');
    expect(text()).toBe(both);
    await command(['pick', '--sandbox', 'pic@a', '--note', 'calm'], { cwd: folder });
    await apply();
    expect(text()).toMatch(/pic@a.*,picked,.*calm/);
    expect(existsSync(join(folder, 'lists')), 'the sandbox has its own list').toBe(false);
  }, 60_000);

  test('writes over nothing else and through no link, which the run says, and ends as it would have', async () => {
    const { folder, apply, file, text } = campaign('all.csv');
    expect((await apply()).code).toBe(0);
    writeFileSync(file, 'sku,name\n');
    const other = await apply();
    expect(other.code).toBe(0);
    expect(other.err).toMatch(/the index of outputs was not written: outputs\.index: all\.csv already exists/);
    expect(text()).toBe('sku,name\n');
    rmSync(file);
    writeFileSync(join(folder, 'elsewhere.csv'), '');
    symlinkSync(join(folder, 'elsewhere.csv'), file);
    expect((await apply()).err).toContain('the index of outputs was not written');
    expect(readFileSync(join(folder, 'elsewhere.csv'), 'utf8')).toBe('');
  }, 60_000);

  test.each([
    '../all.csv',
    '/all.csv',
    'a/../all.csv',
    'all.txt',
    'campaign.lock.jsonl',
    'c:all.csv',
    '"{{vars.x}}.csv"',
  ])('takes no path like %s', async (index) => {
    const { folder } = campaign();
    writeFileSync(join(folder, 'campaign.yaml'), manifest(index));
    const { code, err } = await runInProcess(['validate', 'campaign.yaml'], {}, folder);
    expect(code).toBe(65);
    expect(err).toMatch(/campaign\.yaml:3:/);
  });
});
