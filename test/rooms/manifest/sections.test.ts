import { describe, expect, it } from 'vitest';
import { image, parse } from './load.ts';
import { testShapeMistakes } from './mistakes.ts';

/** A manifest with one further section in its first line. */
const section = (line: string) => `${line}\n${image('prompt: x')}`;

it('selectors and prices are read as they are written', () => {
  const text = [
    'selectors: { launch: "tag:launch kind:video", a-1_b: hero }',
    'prices:',
    '  video: 30',
    '  image: 0',
    '  image/alpha-pro: 6',
    '  image/alpha-2/resolution=4k: 8',
    '  image/resolution=1k: 2',
    '  music/song-9: 5',
    '  video/some-model/duration=8/prompt~256: 40',
    image('prompt: x'),
  ].join('\n');
  const { manifest, diagnostics } = parse(text);
  expect(diagnostics).toEqual([]);
  expect({ ...manifest?.selectors }).toEqual({ launch: 'tag:launch kind:video', 'a-1_b': 'hero' });
  expect({ ...manifest?.prices }).toEqual({
    video: 30,
    image: 0,
    'image/alpha-pro': 6,
    'image/alpha-2/resolution=4k': 8,
    'image/resolution=1k': 2,
    'music/song-9': 5,
    'video/some-model/duration=8/prompt~256': 40,
  });
});

describe('prices', () => {
  testShapeMistakes([
    ['one number', section('prices: 5'), 'MB1103 1:9', 'prices: { video: 30'],
    ['a kind with a typing mistake', section('prices: { vidoe: 5 }'), 'MB1101 1:11', 'did you mean `video`'],
    ['a kind that every object has', section('prices: { constructor: 5 }'), 'MB1101 1:11'],
    ['the name of a task', section('prices: { hero: 5 }'), 'MB1101 1:11', 'kinds: image'],
    [
      'a model with a typing mistake',
      section('prices: { image/aplha-2: 5 }'),
      'MB1101 1:11',
      'did you mean `image/alpha-2`',
    ],
    [
      'a field that does not matter',
      section('prices: { image/aspectRatio=1:1: 5 }'),
      'MB1101 1:11',
      'does not depend on it',
      'resolution',
    ],
    [
      'a field where only the model matters',
      section('prices: { music/output_format=wav: 5 }'),
      'MB1101 1:11',
      'write music, or music/ and a model',
    ],
    ['two models', section('prices: { image/alpha-2/alpha-pro: 5 }'), 'MB1103 1:11', 'image/alpha-2/resolution=4k'],
    ['a field without a value', section('prices: { image/resolution=: 5 }'), 'MB1103 1:11'],
    { name: 'an empty part', text: section('prices: { image//resolution=4k: 5 }'), found: ['MB1103 1:11'] },
    ['a kind that takes no credits', section('prices: { upload: 5 }'), 'MB1103 1:11', 'takes no credits'],
    ['half a credit', section('prices: { video: 2.5 }'), 'MB1103 1:18', 'a whole number'],
    ['a credit less than none', section('prices: { video: -1 }'), 'MB1103 1:18'],
    ['credits in words', section('prices: { video: 5 credits }'), 'MB1103 1:18'],
    ['a typing mistake', section('price: { video: 5 }'), 'MB1101 1:1', 'did you mean `prices`'],
  ]);
});
