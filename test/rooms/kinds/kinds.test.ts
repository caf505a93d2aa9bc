import { expect, it } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import type { Kind } from '../../../src/kinds/kind.ts';
import { documentedCredits, priceClass } from '../../../src/kinds/price.ts';

function kind(name: string): Kind {
  const found = kinds[name];
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

const modelsOf = (name: string) => kind(name).model?.models ?? {};

const imageTable: [model: string, resolutions: string, ratios: string, aliasOf?: string][] = [
  ['alpha-2', '1k 2k 4k', 'auto 1:1 16:9 9:16 4:3 3:4 3:2 2:3 4:5 5:4 21:9 1:4 4:1 1:8 8:1'],
  ['alpha-pro', '1k 2k 4k', '1:1 2:3 3:4 4:5 3:2 4:3 5:4 16:9 21:9'],
  ['beta-v5-lite', '', '1:1 4:3 3:4 16:9 9:16 2:3 3:2 21:9', 'beta-5.0-pro'],
  ['gamma-image-1.5', '1024x1024 1024x1536 1536x1024', '', 'gamma-image-2'],
  ['gamma-image-2', '1k 2k 4k', 'auto 1:1 9:16 16:9 4:3 3:4'],
];

it('image models are those that are documented; that under beta-v5-lite has its values and tiers', () => {
  expect(Object.keys(modelsOf('image')).sort()).toEqual([...imageTable.map(([model]) => model), 'beta-5.0-pro'].sort());
  const { 'beta-5.0-pro': real, 'beta-v5-lite': alias } = modelsOf('image');
  expect([real?.allows, real?.tiers]).toEqual([alias?.allows, ['basic', 'high']]);
  expect(alias?.tiers).toEqual(['basic', 'high']);
});

const musicTable: [model: string, credits: number, lyrics: boolean][] = [
  ['auto', 5, true],
  ['song-9', 5, true],
  ['song-8', 5, true],
  ['song-o2', 6, true],
  ['song-7.6', 4, true],
  ['song-7.5', 4, false],
];

it.each(musicTable)('%s costs what is documented', (model, credits, lyrics) => {
  const facts = modelsOf('music')[model];
  expect(facts?.credits).toBe(credits);
  expect(facts?.requires?.includes('lyrics') ?? false).toBe(lyrics);
});

it('fields, limits and defaults are those that are documented', () => {
  expect(Object.keys(modelsOf('music'))).toEqual(musicTable.map(([model]) => model));
  expect(Object.keys(kind('image').fields)).toEqual([
    'prompt',
    'model',
    'aspectRatio',
    'resolution',
    'referenceImages',
  ]);
  expect(kind('music').fields).toMatchObject({
    prompt: { required: true, maxLength: 1024 },
    lyrics: { maxLength: 3000 },
    output_format: { values: ['mp3', 'wav', 'flac'], default: 'mp3' },
  });
  expect([kind('image').model?.default, kind('music').model?.default]).toEqual(['alpha-2', 'auto']);
  expect(kind('image')).toMatchObject({
    create: { paths: ['/image-generations/create'], documented: true },
    status: { path: '/image/status/{id}' },
    recovery: 'replay',
  });
  expect(kind('music')).toMatchObject({
    create: { paths: ['/music-generations/create'], documented: true },
    status: { path: '/music/status/{id}' },
    remove: { path: '/music-generations/{id}', by: 'job' },
    recovery: 'replay',
  });
});

it.each([
  ['voiceover', '/voiceovers/status/{id}', '/voiceovers/all', undefined],
  ['video', '/video/status/{id}', '/videos/all', undefined],
  ['clipping', '/clippings/status/{id}', '/clippings/all', '/clippings/{id}'],
  ['thumbnail', '/image/status/{id}', '/thumbnails', '/thumbnails/{id}'],
  ['influencer', '/image/status/{id}', undefined, undefined],
  ['upload', undefined, undefined, undefined],
  ['post', undefined, undefined, undefined],
])('%s is called at the documented paths', (name, status, list, remove) => {
  expect([kind(name).status?.path, kind(name).list?.path, kind(name).remove?.path]).toEqual([status, list, remove]);
  // Replay is documented for images and music only.
  expect(kind(name).recovery).not.toBe('replay');
});

it('names of every object are no kinds', () => {
  expect(kinds.constructor).toBeUndefined();
  expect(kinds.toString).toBeUndefined();
});

it.each([
  ['image', {}, 'image/alpha-2/resolution=2k', undefined],
  ['image', { model: 'alpha-2', resolution: '4k' }, 'image/alpha-2/resolution=4k', undefined],
  ['image', { model: 'gamma-image-1.5' }, 'image/gamma-image-1.5', undefined],
  [
    'image',
    { model: 'gamma-image-1.5', resolution: '1024x1024' },
    'image/gamma-image-1.5/resolution=1024x1024',
    undefined,
  ],
  ['image', { model: 'beta-v5-lite', aspectRatio: '1:1' }, 'image/beta-v5-lite', undefined],
  ['image', { model: 'beta-5.0-pro' }, 'image/beta-5.0-pro', undefined],
  ['music', {}, 'music/auto', 5],
  ['music', { model: 'song-o2', lyrics: 'x' }, 'music/song-o2', 6],
  ['music', { model: 'constructor' }, 'music/constructor', undefined],
  ['upload', { file: 'a.png' }, 'upload', 0],
  ['post', { caption: 'x' }, 'post', 0],
  [
    'video',
    { prompt: 'a', duration: 5, ratio: '16:9', model: 'motion-2' },
    'video/motion-2/duration=5/prompt~16/ratio=16:9',
    undefined,
  ],
  ['video', { prompt: 'a', image: 'https://a.example/x.png' }, 'video/prompt~16', undefined],
  ['voiceover', { text: 'x'.repeat(200), voice_id: 'Aria', output_format: 'wav' }, 'voiceover/text~256', undefined],
] as const)('%s %j is priced as %s', (name, request, priced, credits) => {
  expect(priceClass(kind(name), request)).toBe(priced);
  expect(documentedCredits(kind(name), request)).toBe(credits);
});
