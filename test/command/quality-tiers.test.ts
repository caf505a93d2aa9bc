import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../rig/command.ts';
import { described, type Manners, terse } from '../rig/other-service/manners.ts';
import { OtherService } from '../rig/other-service/other-service.ts';
import { runInProcess } from './in-process.ts';

function campaign(fields: string, env: Record<string, string>) {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const text = `version: 1\nname: q\ntasks:\n  hero: { kind: image, with: { prompt: x, ${fields} } }\n`;
  writeFileSync(join(path, 'campaign.yaml'), text);
  return (...args: string[]) => runInProcess(args, env, path);
}

async function other(manners: Manners): Promise<OtherService> {
  const service = await OtherService.open(manners);
  onTestFinished(() => service.close());
  return service;
}

test.each(['beta-v5-lite', 'beta-5.0-pro'])('%s: a tier is sent where the service lists its field', async (model) => {
  const service = await other(described);
  const run = campaign(`model: ${model}, quality: high`, service.env);
  const before = await run('plan', 'campaign.yaml');
  expect(before.code).toBe(65);
  expect(before.err).toContain('`plan --refresh` with a key reads what your service has');
  const refreshed = await run('plan', 'campaign.yaml', '--refresh');
  expect(refreshed.code, refreshed.err).toBe(0);
  expect(refreshed.err).not.toContain('MB1507');
  const applied = await run('apply', 'campaign.yaml', '--yes', '--poll-interval', '10');
  expect(applied.code, applied.err).toBe(0);
  expect(service.books.jobs.map(({ body }) => body.quality)).toEqual(['high']);
});

test('where the service does not list it, nothing is bought', async () => {
  const service = await other(terse);
  const run = campaign('model: beta-v5-lite, quality: high', service.env);
  await run('plan', 'campaign.yaml', '--refresh');
  const { code, err } = await run('apply', 'campaign.yaml', '--yes');
  expect(code).toBe(65);
  // Not to the command that has just been run.
  expect(err).toContain('remove `quality`');
  expect(err).not.toContain('--refresh');
  expect(service.books.jobs).toEqual([]);
});
