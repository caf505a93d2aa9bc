import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext, test } from 'vitest';
import type { RunEvent } from '../../src/contract/event.ts';
import type { Fault } from '../../src/sandbox/index.ts';
import { readLines } from '../rig/command.ts';
import type { Ended } from '../rig/program.ts';
import { firstAccount, serviceHere } from '../rig/service-here.ts';
import { applyWords, ClusterPlace } from './rig/place.ts';

/** Every kind, with takes, a canary, a retry and parts of a video whose number nobody knows before. */
const manifest = `version: 1
name: launch
budget: { credits: 900 }
vars: { account: none }
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  hero:
    kind: image
    foreach: [lamp, rug, vase]
    canary: 1
    takes: 2
    with: { prompt: "A {{row}} with this logo", resolution: 1k, aspectRatio: "16:9", referenceImages: ["{{tasks.logo.url}}"] }
  host: { kind: influencer, with: { prompt: "A presenter with the lamp" } }
  bed: { kind: music, retry: { attempts: 2 }, with: { model: song-7.5, prompt: calm, output_format: wav } }
  voice: { kind: voiceover, with: { text: "A lamp like no other.", voice_id: Alice, output_format: wav } }
  film: { kind: video, with: { prompt: "A slow push in", duration: 2 } }
  cuts: { kind: clipping, with: { videoUrl: "{{tasks.film.url}}", maxClips: 1 } }
  cover:
    kind: thumbnail
    foreach: "{{tasks.cuts.clips}}"
    maxItems: 4
    with: { title: "Part {{row.number}}", image: "{{tasks.film.thumbnailUrl}}" }
  share:
    kind: post
    foreach: "{{tasks.cuts.clips}}"
    maxItems: 4
    with: { accountIds: ["{{vars.account}}"], caption: "Part {{row.number}}", media: ["{{row.url}}", "{{tasks.cover.url}}"] }
`;

const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55', 'hex');

const failed = {
  success: true,
  data: { id: '{id}', status: 'FAILED', error: 'out of tune', createdAt: '2026-01-01T00:00:00Z' },
};

/** The first song fails, and is bought again; an answer about a picture is lost. */
const faults: Fault[] = [
  { on: 'status', kind: 'music', do: { type: 'answer', body: failed } },
  { on: 'create', match: 'A rug', do: { type: 'reset', booked: true } },
];

interface End extends Ended {
  /** Of its lock, but for what the service makes up. */
  lock: unknown[];
  outcomes: Record<string, string>;
  kinds: string[];
  spent: number;
  summary: string[];
}

/** One whole run in a folder of its own, against a service of its own. */
async function launch(
  onTestFinished: TestContext['onTestFinished'],
  run: (place: ClusterPlace, about: { env: NodeJS.ProcessEnv; args: string[] }) => Promise<Ended>,
): Promise<End> {
  const place = await ClusterPlace.make(onTestFinished);
  const service = await serviceHere({
    speed: 100,
    credits: 5000,
    faults,
    filesDir: join(tmpdir(), 'mediabatch-test-files'),
  });
  onTestFinished(() => service.close());
  place.write('campaign.yaml', manifest);
  writeFileSync(place.path('logo.png'), png);
  const args = ['--publish', '--var', `account=${await firstAccount(service)}`, '--events', 'events.jsonl'];
  const ran = await run(place, { env: service.env, args });
  const events = readLines<RunEvent>(place.path('events.jsonl'));
  // A file of ours goes up before anything is submitted.
  const finished = events.flatMap((event) =>
    event.event === 'step-finished' && event.address !== 'logo' ? [event] : [],
  );
  return {
    ...ran,
    lock: readLines<object>(place.path('campaign.lock.jsonl')).slice(1).map(withoutInventions),
    outcomes: Object.fromEntries(finished.map(({ address, outcome }) => [address, outcome] as const).sort()),
    kinds: service.ledger().map(({ kind }) => kind),
    spent: service.ledger().reduce((sum, { credits }) => sum + credits, 0),
    summary: ran.err
      .split('\n')
      .filter((line) => /^(saved|credits|estimate)|\d+ of \d+ done/.test(line))
      .map((line) => line.replaceAll(/\d+:\d\d/g, 'TIME')),
  };
}

const inventions = ['jobId', 'recordId', 'url', 'sha256', 'bytes', 'since', 'send', 'account', 'fence', 'key', 'error'];

function withoutInventions(line: object): unknown {
  return JSON.parse(JSON.stringify(line, (name, value: unknown) => (inventions.includes(name) ? undefined : value)));
}

test('a campaign of every kind comes to the same on three workers as in one process, posts last', async ({
  onTestFinished,
}) => {
  const local = await launch(onTestFinished, (place, { env, args }) =>
    place.run([...applyWords, ...args], { env: { ...env, MEDIABATCH_ENGINE: '' } }),
  );
  expect(local.code, local.err).toBe(0);
  const engine = await launch(onTestFinished, async (place, { env, args }) => {
    const workers = [1, 2, 3].map(() => place.worker([], { env }));
    const ran = await place.submit([...args, '--store', place.store], { env }).ended;
    for (const worker of workers) worker.signal('SIGTERM');
    const ends = await Promise.all(workers.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    return ran;
  });
  expect(engine.code, engine.err).toBe(local.code);
  expect(engine.outcomes).toEqual(local.outcomes);
  expect(engine.lock).toEqual(local.lock);
  expect(engine.spent).toBe(local.spent);
  expect(engine.kinds.toSorted()).toEqual(local.kinds.toSorted());
  expect(engine.summary).toEqual(local.summary);
  const firstPost = engine.kinds.indexOf('post');
  expect(firstPost).toBeGreaterThan(0);
  expect(new Set(engine.kinds.slice(firstPost))).toEqual(new Set(['post']));
  expect(new Set(engine.kinds).size).toBe(8);
  expect(engine.kinds.filter((kind) => kind === 'music')).toHaveLength(2);
});
