import { describe, expect, it, test } from 'vitest';
import { checkRequest } from '../../../src/graph/check/check-request.ts';
import type { Json } from '../../../src/ground/json.ts';
import { kinds, requireKind } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/read-catalog.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';

const documentOf = (path: string, schema: { [name: string]: Json }) =>
  readServiceDocument(
    { paths: { [path]: { post: { requestBody: { content: { 'application/json': { schema } } } } } } },
    kinds,
  ).listing;

const images = (models: { [model: string]: Json }, properties: { [field: string]: Json } = {}) =>
  documentOf('/image-generations/create', { properties, 'x-models': models });

/** Codes of a request, each with its field. */
function codesOf(kind: string, request: { [field: string]: Json }, listings: Parameters<typeof checkRequest>[2]) {
  return checkRequest(requireKind(kind), request, listings).map(({ code, at: [field] }) => `${code} ${field}`);
}

describe('a name that this version does not know', () => {
  const omega = images({ 'omega-9': { resolution: ['8k'], aspectRatio: ['1:1'] }, 'alpha-2': { resolution: ['8k'] } });
  const wide = images({}, { aspectRatio: { enum: ['32:9'] }, model: { enum: ['omega-9'] } });
  const voices = documentOf('/voiceovers/create', { properties: { text: {}, voice_id: { enum: ['Nova'] } } });
  const formats = documentOf('/music-generations/create', { properties: { output_format: { enum: ['ogg'] } } });
  const catalog = readCatalogListing({ image: [{ key: 'omega-9', allowed: { resolution: ['8k'] } }] }, kinds);

  it.each<[string, string, { [field: string]: Json }, object, string[]]>([
    ['a model of the document', 'image', { model: 'omega-9' }, omega, ['MB1507 model']],
    ['a model of a list of values', 'image', { model: 'omega-9' }, wide, ['MB1507 model']],
    ['a model of the catalog', 'image', { model: 'omega-9' }, catalog, ['MB1507 model']],
    ['a model of nobody', 'image', { model: 'omega-8' }, omega, ['MB1503 model']],
    ['a size that is new for its model', 'image', { resolution: '8k' }, omega, ['MB1507 resolution']],
    ['a size of another model', 'image', { model: 'alpha-pro', resolution: '8k' }, omega, ['MB1503 resolution']],
    ['a ratio that is listed for no model', 'image', { aspectRatio: '32:9' }, wide, ['MB1503 aspectRatio']],
    ['a size of a new model', 'image', { model: 'omega-9', resolution: '8k' }, omega, ['MB1507 model']],
    ['a voice', 'voiceover', { text: 'a', voice_id: 'Nova' }, voices, ['MB1507 voice_id']],
    ['a voice of nobody', 'voiceover', { text: 'a', voice_id: 'Nora' }, voices, ['MB1503 voice_id']],
    ['a format', 'music', { model: 'song-7.5', output_format: 'ogg' }, formats, ['MB1507 output_format']],
    ['a name that every object has', 'image', { model: 'constructor' }, omega, ['MB1503 model']],
  ])('%s', (_name, kind, request, listing, codes) => {
    const listings = [listing as typeof omega];
    expect(codesOf(kind, { prompt: 'p', ...request }, { listings }).filter((code) => code !== 'MB1501 prompt')).toEqual(
      codes,
    );
    expect(codesOf(kind, { prompt: 'p', ...request }, {}).join()).toContain('MB1503');
  });

  test('passes no other rule by being listed', () => {
    expect(codesOf('image', { model: 'omega-9', referenceImages: ['http://x'] }, { listings: [omega] })).toEqual([
      'MB1505 referenceImages',
      'MB1507 model',
      'MB1502 prompt',
    ]);
  });

  it.each<[string, Json]>([
    ['words for lists', { 'omega-9': { resolution: '8k', aspectRatio: { '8k': 1 } }, 'alpha-2': '8k' }],
    ['lists in the wrong place', { 'alpha-2': { sizes: ['8k'] }, resolution: ['8k'] }],
    ['no map at all', ['alpha-2', '8k']],
  ])('is not let in by %s', (_name, models) => {
    const listings = [documentOf('/image-generations/create', { 'x-models': models })];
    expect(codesOf('image', { prompt: 'p', resolution: '8k' }, { listings })).toEqual(['MB1503 resolution']);
  });
});
