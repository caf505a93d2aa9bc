import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../../rig/command.ts';
import { countWritesOf, dyingAt } from '../../rig/killed-run.ts';
import { makePlace } from '../../rig/place.ts';

const manifest = `version: 1
name: culled
tasks:
  hero: { kind: image, takes: 3, gate: { choose: 1 }, with: { prompt: a lamp, resolution: 1k } }
  logo: { kind: image, gate: approve, with: { prompt: a logo, resolution: 1k } }
  card: { kind: image, with: { prompt: a card, resolution: 1k, referenceImages: ["{{tasks.hero.url}}", "{{tasks.logo.url}}"] } }
`;

const picks = {
  mediabatch: 'picks',
  version: 1,
  by: 'Ada',
  verdicts: [
    { address: 'hero/2', is: 'rejected', note: 'dark' },
    { address: 'hero/3', is: 'picked' },
    { address: 'logo', is: 'rejected' },
  ],
};

test.each([
  ['pick, in the place of another', ['pick', 'campaign.yaml', 'hero/1', '--note', 'calm']],
  ['reject', ['reject', 'campaign.yaml', 'hero', 'logo']],
  ['unpick', ['pick', 'campaign.yaml', 'hero', 'logo', '--undo']],
  ['pick --from', ['pick', 'campaign.yaml', '--from', 'picks.json']],
])(
  'killed with SIGKILL at every write of %s: the lock says what it said, or all that was meant',
  async (_name, words) => {
    const place = await makePlace(manifest);
    expect((await place.apply()).code).toBe(5);
    writeFileSync(place.path('picks.json'), JSON.stringify(picks));
    const run = (args: string[], options: Pick<Parameters<typeof command>[1], 'env' | 'preload'> = {}) =>
      command(args, { cwd: place.folder, ...options, env: { ...place.service.env, ...options.env } });
    expect((await run(['pick', 'campaign.yaml', 'hero/2', 'logo'])).code).toBe(0);
    const before = readFileSync(place.lock, 'utf8');
    const { ended, writes } = await countWritesOf((options) => run(words, options));
    expect(ended.code, ended.err).toBe(0);
    const after = readFileSync(place.lock, 'utf8');
    expect(after).not.toBe(before);
    const seen = new Set<string>();
    for (let write = 1; write <= writes; write += 1) {
      for (const when of ['before', 'after'] as const) {
        // As git brings it: what was written here last is no question then.
        rmSync(place.path('.mediabatch/campaign.lock.jsonl.written'), { force: true });
        writeFileSync(place.lock, before);
        const killed = await run(words, dyingAt({ write, when }));
        expect(killed.signal, `write ${write}`).toBe('SIGKILL');
        const left = readFileSync(place.lock, 'utf8');
        expect([before, after], `${when} write ${write}`).toContain(left);
        seen.add(left);
        const again = await run(words);
        expect(again.code, again.err).toBe(0);
        expect(readFileSync(place.lock, 'utf8')).toBe(after);
      }
    }
    expect(seen).toEqual(new Set([before, after]));
    expect(place.service.ledger()).toHaveLength(4);
  },
  200_000,
);
