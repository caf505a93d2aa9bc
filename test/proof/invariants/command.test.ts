import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/index.ts';
import { command, sandboxKey } from '../../rig/command.ts';
import { findLosses, remainsOf } from '../../rig/killed-run.ts';
import { finalFiles, readLockFile } from '../../rig/oracle.ts';
import { makePlace, type Place } from '../../rig/place.ts';

const events = ['--events', 'events.jsonl'];

const plain = `version: 1
name: sums
vars: { month: July, size: 1k }
tasks:
  pic:
    kind: image
    foreach: [Ilgaz, ISPARTA, "3.50"]
    with: { prompt: "{{row}} in {{vars.month}}, {{upper row}}", resolution: "{{vars.size}}", aspectRatio: "16:9" }
  song: { kind: music, with: { model: song-7.5, prompt: "calm {{vars.month}}" } }
`;

/** The same campaign as another person would write it, on another machine. */
const otherwise = `# The same, in another hand.
name: "sums"
version: 1
x-look: &look { aspectRatio: '16:9', resolution: '{{vars.size}}' }
tasks:
  song:
    with: { prompt: 'calm {{vars.month}}', model: "song-7.5" }   # first the song
    kind: music
  pic:
    with: { <<: *look, prompt: "{{row}} in {{vars.month}}, {{upper row}}" }
    foreach: ["Ilgaz", 'ISPARTA', "3.50"]
    kind: image
vars: { size: "1k", month: July }
`.replaceAll('\n', '\r\n');

describe('what is sent', () => {
  test('I5 keys and bytes are the same in another folder, time zone, locale and hand', async () => {
    const here = await makePlace(plain);
    const there = await makePlace(otherwise);
    const first = await here.apply(events, { env: { TZ: 'UTC', LANG: 'C', LC_ALL: 'C' } });
    const second = await there.apply(events, {
      env: { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
    });
    expect(first.code, first.err).toBe(0);
    expect(second.code, second.err).toBe(0);
    const sent = ({ service }: Place) =>
      service
        .ledger()
        .map(({ key, body }) => `${key} ${JSON.stringify(body)}`)
        .sort();
    expect(sent(here)).toHaveLength(4);
    expect(sent(there)).toEqual(sent(here));
  });
});

const pictures = `version: 1
name: pictures
tasks:
  pic: { kind: image, foreach: [a, b, c, d], with: { prompt: "a {{row}}", resolution: 1k } }
`;

describe('exit 0', () => {
  test('I10 means that every output has the recorded size and digest, whatever the downloads were like', async () => {
    const faults: Fault[] = [
      { on: 'file', match: 'a a', do: { type: 'truncate', bytes: 4000 } },
      { on: 'file', match: 'a b', do: { type: 'html' } },
      { on: 'file', match: 'a c', do: { type: 'status', status: 404 } },
      { on: 'file', match: 'a d', do: { type: 'reset' } },
    ];
    const place = await makePlace(pictures, { faults });
    await place.apply(events, { ends: 0 });
    expectWhole(place);
  });

  test('I10 is not said while an output is damaged: it is fetched again first', async () => {
    const place = await makePlace(pictures);
    expect((await place.apply(events)).code).toBe(0);
    const [longer, shorter, gone] = finalFiles(join(place.folder, 'output')).map(({ path }) => path);
    if (longer === undefined || shorter === undefined || gone === undefined) throw new Error('there are four files');
    appendFileSync(longer, 'x');
    writeFileSync(shorter, '');
    rmSync(gone);
    await place.apply(events, { ends: 0 });
    expectWhole(place);
  });
});

describe('the key', () => {
  test('I17 is in no output and no file, though the service says it back in every spelling', async () => {
    const base64 = Buffer.from(sandboxKey).toString('base64').replace(/=+$/, '');
    const spellings = [
      sandboxKey,
      base64,
      encodeURIComponent(sandboxKey),
      Buffer.from(sandboxKey).toString('base64url'),
    ];
    const text = `no: ${spellings.join(' and ')}`;
    const body = { success: false, error: text, code: sandboxKey, message: text };
    const failed = { success: true, data: { id: '{id}', status: 'FAILED', error: text } };
    const place = await makePlace(pictures, {
      faults: [
        { on: 'create', match: 'a a', do: { type: 'status', status: 400, body } },
        { on: 'create', match: 'a b', do: { type: 'status', status: 503, body } },
        { on: 'status', match: 'a c', times: 100, do: { type: 'answer', body: failed } },
        { on: 'status', match: 'a d', do: { type: 'status', status: 500, body } },
      ],
    });
    const shown = [await place.apply(events), await place.apply(events)];
    for (const args of [['status'], ['plan'], ['plan', '--json'], ['explain', 'pic@a']]) {
      const [name = '', ...rest] = args;
      shown.push(await command([name, 'campaign.yaml', ...rest], { cwd: place.folder, env: place.service.env }));
    }
    const said = shown.map(({ out, err }) => out + err).join('\n');
    // What the service said is there, and only the key is taken out of it.
    expect(said).toContain('no: [key]');
    const files = readdirSync(place.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    expect(files.length).toBeGreaterThan(3);
    for (const secret of spellings) {
      expect(said).not.toContain(secret);
      expect(files.filter((content) => content.includes(secret))).toEqual([]);
    }
  });
});

function expectWhole(place: Place): void {
  const lock = readLockFile(place.lock);
  expect([...lock.steps.values()].map(({ purchases: [newest] }) => newest?.outputs?.length)).toEqual([1, 1, 1, 1]);
  expect(findLosses(remainsOf(place))).toEqual([]);
}
