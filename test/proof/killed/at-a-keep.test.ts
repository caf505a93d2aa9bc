import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { root } from '../../rig/command.ts';
import { findLosses, remainsOf } from '../../rig/killed-run.ts';
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
    expect(operations).toBeGreaterThan(4);
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
