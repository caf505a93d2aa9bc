import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { command, root, sandboxProcess, temporaryFolder } from '../rig/command.ts';

const names = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

test('there are six campaigns beside the quickstart, and they use every kind', () => {
  expect(names.sort()).toEqual([
    'influencer-lookbook',
    'localized-launch',
    'podcast-clips',
    'product-grid',
    'quickstart',
    'season-sale',
    'short-video-series',
  ]);
});

test.each(names)(
  '%s: its plan is as it was, it runs green, and then there is nothing to do',
  async (name) => {
    const folder = temporaryFolder();
    const service = temporaryFolder();
    const sandbox = await sandboxProcess(service.path);
    onTestFinished(async () => {
      await sandbox.stop();
      folder.remove();
      service.remove();
    });
    cpSync(join(root, 'examples', name), folder.path, {
      recursive: true,
      filter: (path) => !/\.sandbox|\.mediabatch/.test(path),
    });
    const run = (...args: string[]) => command(args, { cwd: folder.path, env: sandbox.env });

    const plan = await run('plan', 'campaign.yaml', '--refresh', '--all');
    expect(plan.code, plan.err).toBe(0);
    await expect(plan.out).toMatchFileSnapshot(`goldens/${name}.plan.txt`);

    const first = await run('apply', 'campaign.yaml', '--yes', '--publish', '--poll-interval', '10');
    expect(first.code, first.err).toBe(0);
    const bought = sandbox.ledger().length;
    const again = await run('apply', 'campaign.yaml', '--yes');
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('Nothing to do');
    expect(sandbox.ledger()).toHaveLength(bought);
  },
  60_000,
);
