import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../rig/command.ts';
import { exampleNames, openExample } from '../rig/examples.ts';

test.each(exampleNames())(
  '%s: runs green, and then there is nothing to do',
  async (name) => {
    const { run, sandbox, folder } = await openExample(name);
    const apply = () => run('apply', 'campaign.yaml', '--yes', '--publish', '--poll-interval', '10');
    let first = await apply();
    // Gate after gate the first that there is to see is picked.
    for (let gates = 0; first.code === 5 && gates < 5; gates++) {
      const status = await run('status', 'campaign.yaml', '--json');
      const open: { toSee: string[] }[] = JSON.parse(status.out).gates;
      const picked = await run('pick', 'campaign.yaml', ...open.flatMap(({ toSee }) => toSee.slice(0, 1)));
      expect(picked.code, picked.err).toBe(0);
      first = await apply();
    }
    expect(first.code, first.err).toBe(0);
    const bought = sandbox.ledger().length;
    const again = await run('apply', 'campaign.yaml', '--yes');
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('Nothing to do');
    expect(sandbox.ledger()).toHaveLength(bought);

    const { files } = JSON.parse((await run('outputs', '--json')).out) as { files: { path: string; sha256: string }[] };
    for (const { path, sha256 } of files) {
      expect(
        createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex'),
        path,
      ).toBe(sha256);
    }
    const sources = readdirSync(join(root, 'examples', name), { recursive: true, encoding: 'utf8' });
    const made = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.(png|jpg|webp|gif|mp3|wav|mp4|webm)$/.test(path) && !path.startsWith('.') && !sources.includes(path),
    );
    expect(files.map(({ path }) => path).sort(), 'each file once, and none that is not there').toEqual(made.sort());
    const { rows } = JSON.parse((await run('status', '--json')).out) as { rows: { file?: string; files?: string[] }[] };
    const named = rows.flatMap(({ file, files: all }) => all ?? (file === undefined ? [] : [file]));
    expect(named.sort()).toEqual(made);
  },
  60_000,
);
