import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { countWrites, dyingAt, findLosses, remainsOf } from '../../rig/killed-run.ts';
import { makePlace, type Place } from '../../rig/place.ts';

/** 6 steps: pictures, one that refers to another, songs. */
const manifest = `version: 1
name: crash
tasks:
  pic: { kind: image, foreach: [a, b, c, d], with: { prompt: "a {{row}}", resolution: 1k } }
  over: { kind: image, with: { prompt: over, resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] }, from: { pic: { key: a } } }
  song: { kind: music, with: { model: song-7.5, prompt: "{{row}}", output_format: wav }, foreach: [k] }
`;

const sideOf = (write: number) => (write % 2 === 0 ? 'before' : 'after');

/** Each trial has a service of its own, and with it another port; all else must be equal to the byte. */
function lockWithoutAddress({ lock }: Place): string {
  return readFileSync(lock, 'utf8').replace(/"service":"[0-9a-f]+"/, '"service":"…"');
}

/** Two at a time: as many as there are processors. */
async function inPairs<T>(points: readonly number[], act: (point: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let start = 0; start < points.length; start += 2) {
    results.push(...(await Promise.all(points.slice(start, start + 2).map(act))));
  }
  return results;
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('killed with SIGKILL at every write of the lock', () => {
  test('running again books 6 creates and ends in the same bytes', async () => {
    const whole = await makePlace(manifest);
    const { ended, writes } = await countWrites((options) => whole.apply([], options));
    expect(ended.code, ended.err).toBe(0);
    expect(whole.service.ledger()).toHaveLength(6);
    expect(writes).toBeGreaterThan(6);
    const expected = lockWithoutAddress(whole);
    const kills = await inPairs(range(1, writes), async (write) => {
      const place = await makePlace(manifest);
      const first = await place.apply([], dyingAt({ write, when: sideOf(write) }));
      // Groups of lines differ from run to run, so the last points may lie behind the end.
      if (first.signal !== 'SIGKILL') expect(first.code, first.err).toBe(0);
      expect(findLosses(remainsOf(place)), `write ${write}`).toEqual([]);
      await place.apply([], { ends: 0 });
      expect(place.service.ledger()).toHaveLength(6);
      expect(findLosses(remainsOf(place)), `write ${write}`).toEqual([]);
      expect(lockWithoutAddress(place)).toBe(expected);
      await place.remove();
      return first.signal === 'SIGKILL';
    });
    expect(kills.filter(Boolean).length).toBeGreaterThan(writes / 2);
  }, 400_000);

  test('of a kind that cannot be asked again, the next run finds what was made', async () => {
    const known = '  known: { kind: voiceover, with: { text: first words, voice_id: Aria } }\n';
    const asked = '  asked: { kind: voiceover, with: { text: other words, voice_id: Aria } }\n';
    const kills = await inPairs(range(1, 7), async (write) => {
      // The list of the kind has shown what it gives back.
      const place = await makePlace(`version: 1\nname: recovery\ntasks:\n${known}`);
      expect((await place.apply()).code).toBe(0);
      place.write(`version: 1\nname: recovery\ntasks:\n${known}${asked}`);
      const first = await place.apply([], dyingAt({ write, when: 'before' }));
      const again = await place.apply();
      expect(again.code, `write ${write}: ${again.err}`).toBe(0);
      expect(findLosses(remainsOf(place)), `write ${write}`).toEqual([]);
      expect(place.service.ledger()).toHaveLength(2);
      return first.signal === 'SIGKILL';
    });
    expect(kills.filter(Boolean).length).toBeGreaterThan(4);
  }, 120_000);

  test('control: without intents on disk the same check fails', async () => {
    let losses: string[] = [];
    for (let write = 4; write < 24 && losses.length === 0; write += 1) {
      const place = await makePlace(manifest);
      await place.apply([], dyingAt({ write, when: 'before', dropsIntents: true }));
      losses = findLosses(remainsOf(place));
      await place.remove();
    }
    expect(losses).not.toEqual([]);
  });
});
