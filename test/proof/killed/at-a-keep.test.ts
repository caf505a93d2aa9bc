import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { command, expectExit, root } from '../../rig/command.ts';
import { countWrites, dyingAt, findLosses, remainsOf } from '../../rig/killed-run.ts';
import { makePlace, type Place, pictures } from '../../rig/place.ts';

const preload = pathToFileURL(join(root, 'test/rig/die-at-keep.mjs')).href;
const oak = pictures('oak');
const elm = oak.replace('prompt: "{{row}}"', 'prompt: "elm"');

/** The bytes of all files of the campaign that are images, wherever they lie. */
function imagesIn({ path }: Place): Buffer[] {
  const folders = [path('out'), path('.mediabatch/kept')].filter((folder) => existsSync(folder));
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.png'))
      .map((name) => readFileSync(join(folder, name))),
  );
}

/** A campaign whose picture is bought and then changed. */
async function changed(): Promise<{ place: Place; old: Buffer }> {
  const place = await makePlace(oak);
  expect((await place.apply()).code).toBe(0);
  const old = readFileSync(place.path('out/oak.png'));
  place.write(elm);
  return { place, old };
}

describe('killed with SIGKILL at every step between an old output and the one that replaces it', () => {
  test('the old one is there, the next run has both, and going back buys nothing', async () => {
    const whole = await changed();
    const ended = await whole.place.apply([], { env: { REPORT_COUNT: '1' }, preload });
    const operations = Number(/operations: (\d+)/.exec(ended.err)?.[1]);
    // The old file gets a second name and its name among kept files, loses the first, and is replaced.
    expect(operations).toBeGreaterThanOrEqual(4);
    for (let at = 1; at <= operations; at += 1) {
      const { place, old } = await changed();
      const killed = await place.apply([], { env: { KILL_AT: String(at) }, preload });
      expect(killed.signal, `operation ${at}: ${killed.err}`).toBe('SIGKILL');
      expect(
        imagesIn(place).some((bytes) => bytes.equals(old)),
        `operation ${at}`,
      ).toBe(true);
      expect((await place.apply()).code, `operation ${at}`).toBe(0);
      expect(findLosses(remainsOf(place))).toEqual([]);
      expect(imagesIn(place)).toHaveLength(2);
      place.write(oak);
      expect((await place.apply()).code).toBe(0);
      expect(readFileSync(place.path('out/oak.png')).equals(old), `operation ${at}`).toBe(true);
      expect(place.service.ledger()).toHaveLength(2);
      await place.remove();
    }
  }, 200_000);

  test('control: when the old one is not kept, the same check fails', async () => {
    const { place, old } = await changed();
    expect((await place.apply([], { env: { DROP_LINKS: '1' }, preload })).code).toBe(0);
    expect(imagesIn(place).some((bytes) => bytes.equals(old))).toBe(false);
  });
});

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
    const { ended, writes } = await countWrites((options) => run(words, options));
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
        await expectExit(0, run(words));
        expect(readFileSync(place.lock, 'utf8')).toBe(after);
      }
    }
    expect(seen).toEqual(new Set([before, after]));
    expect(place.service.ledger()).toHaveLength(4);
  },
  200_000,
);
