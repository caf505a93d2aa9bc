import { Validator } from '@seriousme/openapi-schema-validator';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiDocument } from '../../rig/api-document.ts';
import { runs } from '../../rig/runs.ts';
import { goodBodies, idOf, type KindName, kindNames, openRig, paths, readDocument } from './rig.ts';

describe('the document', () => {
  test('is valid, and one that is not would be seen', async () => {
    const document = await readDocument();
    expect(await new Validator().validate(structuredClone({ ...document }))).toMatchObject({ valid: true });
    const broken = structuredClone({ ...document, paths: { nothing: { get: { responses: 7 } } } });
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  test('everything it names is served, with a status that it names; nothing but open operations without a key', async () => {
    const { operations } = new ApiDocument(await readDocument());
    for (const { method, path, statuses, security = [] } of operations) {
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      const options = method === 'POST' ? { body: {} } : {};
      const answer = await openRig().call(method, url, options);
      expect(answer.text).not.toContain('The sandbox has no endpoint');
      expect(answer.status).not.toBe(405);
      expect(statuses).toContain(String(answer.status));
      const isOpen = security.length === 0;
      if (!isOpen) expect(security).toEqual([{ bearerAuth: [] }]);
      expect([path, (await openRig().call(method, url, { ...options, token: '' })).status === 401]).toEqual([
        path,
        !isOpen,
      ]);
    }
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  });
});

/** That each answer fits the document is held by the rig, for every answer of every test. */
describe('document and service agree', () => {
  test('on jobs in every state', async () => {
    const rig = openRig({ failRate: 0.5, credits: 100_000 });
    const seen = new Map<string, Set<unknown>>();
    for (const kind of kindNames) {
      const states = new Set<unknown>();
      seen.set(kind, states);
      for (let index = 0; index < 8; index += 1) {
        const body = Object.entries(goodBodies[kind]).map(([name, value]) =>
          ['prompt', 'text', 'title'].includes(name) ? [name, `${value} ${index}`] : [name, value],
        );
        const id = idOf(await rig.create(kind, Object.fromEntries(body)));
        for (const waitMs of [0, 1_900, 2_000, 10_000, 14_000, 70_000]) {
          rig.clock.now += waitMs;
          states.add((await rig.status(kind, id)).status);
        }
      }
    }
    const all = new Set(['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED']);
    expect(seen).toEqual(new Map(kindNames.map((kind) => [kind, all])));
    for (const list of ['videos/all', 'voiceovers/all', 'thumbnails', 'clippings/all']) {
      expect((await rig.call('GET', `/api/v1/${list}`)).status).toBe(200);
    }
  });

  const text = fc.oneof(fc.constantFrom('', ' ', 'x', 'é🎵', 'x'.repeat(1024), 'x'.repeat(1025), 'x'.repeat(3001)));
  const anything = fc.oneof(fc.constant(null), fc.integer(), fc.boolean(), fc.constant([]), fc.constant({}));
  const oftenThis = (value: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: anything });

  const url = fc.constantFrom('https://cdn.example.com/a.png', 'https://cdn.example.com/b.mp4');
  const urls = (most: number) =>
    fc.integer({ min: 0, max: most }).map((length) => Array(length).fill('https://a.example/b'));
  const count = fc.oneof(fc.integer({ min: -1, max: 14 }), fc.constantFrom(2.5, 1e9));
  const words = (all: string) => fc.constantFrom(...all.split(' '));
  const formats = words('mp3 wav flac ogg');

  test.each<[KindName, string, { [field: string]: fc.Arbitrary<unknown> }, string[]?]>([
    [
      'image',
      'ImageCreate',
      {
        ...{ prompt: text, referenceImages: urls(18), unknown: anything },
        model: words('alpha-2 alpha-pro beta-v5-lite gamma-image-1.5 gamma-image-2 no'),
        aspectRatio: fc.constantFrom('auto', '1:1', '16:9', '9:16', '21:9', '1:8', '7:5', ''),
        resolution: fc.constantFrom('1k', '2k', '8k', '1024x1536', ''),
        quality: words('basic high best'),
      },
    ],
    [
      'music',
      'MusicCreate',
      { prompt: text, lyrics: text, model: words('auto song-9 song-o2 song-7.6 song-7.5 no'), output_format: formats },
    ],
    [
      'video',
      'VideoCreate',
      {
        ...{ prompt: text, duration: count, image: url },
        model: words('motion-2 motion-2-fast no'),
        ratio: words('16:9 9:16 1:1 4:5 3:2'),
      },
      ['prompt'],
    ],
    [
      'voiceover',
      'VoiceoverCreate',
      {
        text: fc.oneof(text, fc.constantFrom('x'.repeat(5000), 'x'.repeat(5001))),
        voice_id: fc.constantFrom('Aria', 'Bill', 'River', 'aria', ''),
        ...{ model: words('speech-2 speech-2-lite no'), output_format: formats },
      },
      ['text', 'voice_id'],
    ],
    ['clipping', 'ClippingCreate', { videoUrl: url, maxClips: count, ratio: words('9:16 1:1 4:5') }],
    [
      'thumbnail',
      'ThumbnailCreate',
      {
        title: fc.oneof(text, fc.constantFrom('é'.repeat(200), 'x'.repeat(201))),
        ...{ description: text, image: url, link: text, ratio: words('16:9 4:5') },
      },
      ['title'],
    ],
    [
      'influencer',
      'InfluencerCreate',
      {
        ...{ prompt: text, referenceImages: urls(10) },
        ...{ model: words('persona-1 no'), aspectRatio: words('1:1 4:5 21:9') },
      },
      ['prompt'],
    ],
  ])('on which bodies are valid: %s', async (kind, schema, fields, requiredKeys = []) => {
    const mostly = Object.entries(fields).map(([name, value]) => [name, oftenThis(value)] as const);
    const bodies = fc.record(Object.fromEntries(mostly), { requiredKeys });
    const document = new ApiDocument(await readDocument());
    const rig = openRig({ credits: 10_000_000 });
    const verdicts = new Set<number>();
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status, text: answer } = await rig.call('POST', `/api/v1/${paths[kind].create}`, { body });
        const problems = document.problems({ $ref: `#/components/schemas/${schema}` }, body);
        verdicts.add(status);
        expect(status, `${problems} · ${answer}`).toBe(problems.length === 0 ? 200 : 400);
      }),
      { numRuns: runs(300) },
    );
    expect(verdicts).toEqual(new Set([200, 400]));
  });
});
