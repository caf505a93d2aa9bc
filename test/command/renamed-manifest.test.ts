import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../rig/command.ts';
import { serviceHere } from '../rig/service-here.ts';

const manifest = 'version: 1\nname: spring\ntasks:\n  pic: { kind: image, with: { prompt: a lamp, resolution: 1k } }\n';

async function place() {
  const home = temporaryFolder();
  const service = await serviceHere();
  onTestFinished(async () => {
    await service.close();
    home.remove();
  });
  const at = (name: string) => join(home.path, name);
  const run = (...args: string[]) => command(args, { cwd: home.path, env: service.env });
  const apply = (file: string, ...args: string[]) => run('apply', file, '--yes', '--poll-interval', '10', ...args);
  writeFileSync(at('campaign.yaml'), manifest);
  expect((await apply('campaign.yaml')).code).toBe(0);
  return { at, run, apply };
}

test('a manifest that was renamed without its lock is refused; with it everything is known', async () => {
  const { at, run, apply } = await place();
  renameSync(at('campaign.yaml'), at('spring.yaml'));
  for (const { code, err } of [await run('plan', 'spring.yaml'), await apply('spring.yaml')]) {
    expect(code).toBe(65);
    expect(err).toContain('spring.yaml has no lock, and campaign.lock.jsonl has no manifest');
    expect(err).toContain('git mv campaign.lock.jsonl spring.lock.jsonl');
  }
  expect(existsSync(at('spring.lock.jsonl'))).toBe(false);
  renameSync(at('campaign.lock.jsonl'), at('spring.lock.jsonl'));
  const { code, out } = await run('plan', 'spring.yaml');
  expect([code, out]).toEqual([0, expect.stringContaining('up to date')]);
});

test('another campaign begins with --new, once; beside one that has its manifest it just begins', async () => {
  const { at, run, apply } = await place();
  writeFileSync(at('summer.yaml'), manifest.replace('a lamp', 'a boat'));
  expect((await run('plan', 'summer.yaml')).code).toBe(0);
  renameSync(at('campaign.yaml'), at('campaign.txt'));
  expect((await apply('summer.yaml')).code).toBe(65);
  expect((await apply('summer.yaml', '--new')).code).toBe(0);
  expect((await run('plan', 'summer.yaml')).code).toBe(0);
});
