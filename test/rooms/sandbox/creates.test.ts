import { describe, expect, test } from 'vitest';
import { openRig } from './rig.ts';

describe('an image is accepted', () => {
  test.each([
    ['defaults', {}, 'alpha-2', 3],
    ['1k', { resolution: '1k' }, 'alpha-2', 2],
    ['4k', { resolution: '4k' }, 'alpha-2', 5],
    ['an unknown resolution falls back', { resolution: '8k' }, 'alpha-2', 3],
    ['alpha-pro', { model: 'alpha-pro', aspectRatio: '21:9', resolution: '4k' }, 'alpha-pro', 9],
    ['auto', { aspectRatio: 'auto' }, 'alpha-2', 3],
    ['1:8', { aspectRatio: '1:8' }, 'alpha-2', 3],
    ['alias with a tier', { model: 'beta-v5-lite', resolution: 'high', aspectRatio: '21:9' }, 'beta-5.0-pro', 3],
    ['target of an alias', { model: 'beta-5.0-pro', quality: 'basic' }, 'beta-5.0-pro', 3],
    ['alias with exact sizes', { model: 'gamma-image-1.5', resolution: '1536x1024' }, 'gamma-image-2', 3],
    ['gamma-image-2', { model: 'gamma-image-2', resolution: '4k', aspectRatio: '3:4' }, 'gamma-image-2', 7],
    ['unknown fields are ignored', { seed: 7, negativePrompt: null }, 'alpha-2', 3],
  ])('%s', async (_name, fields, model, credits) => {
    const rig = openRig();
    const { status, body } = await rig.createImage({ prompt: 'a lamp', ...fields });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      generation: {
        id: expect.stringMatching(/^\w{16,}$/),
        status: 'QUEUED',
        model,
        mode: 'text-to-image',
        modelId: expect.any(String),
      },
      model,
      creditsDeducted: credits,
      creditsRemaining: 1000 - credits,
    });
    expect(rig.sandbox.ledger()).toMatchObject([{ kind: 'image', credits, balance: 1000 - credits }]);
  });
});

describe('an image is refused', () => {
  test.each([
    ['a prompt that is no text', { prompt: 7 }, 'prompt must be a string'],
    ['an unknown model', { prompt: 'x', model: 'alpha-3' }, 'model must be one of alpha-2'],
    ['a ratio for exact sizes', { prompt: 'x', model: 'gamma-image-1.5', aspectRatio: '1:1' }, 'set by resolution'],
    ['too many references', { prompt: 'x', referenceImages: Array(15).fill('https://a.example/b') }, 'at most 14'],
    ['a reference that is no text', { prompt: 'x', referenceImages: [1] }, 'referenceImages[0] must be a string'],
    ...[
      'http://cdn.example.com/a.png',
      'https://localhost/a.png',
      'https://10.0.0.1/a.png',
      'https://192.168.1.1/a.png',
      'https://169.254.169.254/a.png',
      'https://2130706433/a.png',
      'https://[::1]/a.png',
      'https://[::ffff:10.0.0.1]/a.png',
      'https://printer.local/a.png',
      'https://user:secret@cdn.example.com/a.png',
      'http://sandbox.test/files/0123/image.png',
      'a.png',
    ].map((url): [string, object, string] => [url, { prompt: 'x', referenceImages: [url] }, 'public https URL']),
  ])('%s', async (_name, fields, message) => {
    const rig = openRig();
    const { status, body } = await rig.createImage(fields);
    expect({ status, ...body }).toEqual({
      status: 400,
      success: false,
      error: 'Bad Request',
      code: 'validation_error',
      message: expect.stringContaining(message),
    });
    expect(rig.sandbox.ledger()).toEqual([]);
    expect(rig.sandbox.balance()).toBe(1000);
  });
});

describe('the body', () => {
  const path = '/api/v1/image-generations/create';
  test.each([
    ['is no JSON', '{"prompt":', {}, 400, 'invalid_json'],
    ['is a list', '[]', {}, 400, 'validation_error'],
    ['is null', 'null', {}, 400, 'validation_error'],
    ['is announced as text', '{"prompt":"x"}', { 'content-type': 'text/plain' }, 400, 'invalid_content_type'],
    ['is too large', `{"prompt":"${'x'.repeat(10 * 1024 * 1024)}"}`, {}, 413, 'body_too_large'],
  ])('%s', async (_name, body, headers, status, code) => {
    const answer = await openRig().call('POST', path, { body, headers });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ success: false, code });
  });
});

describe('credits', () => {
  test('too many creates: 429 until the window has passed', async () => {
    const rig = openRig({ rateLimit: { creates: 2, perMs: 10_000 } });
    const create = async () => (await rig.createImage({ prompt: 'x' })).status;
    expect([await create(), await create()]).toEqual([200, 200]);
    rig.clock.now += 6_500;
    const refused = await rig.createImage({ prompt: 'x' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '4']);
    rig.clock.now += 3_500;
    expect([await create(), await create(), await create()]).toEqual([200, 200, 429]);
    expect(rig.sandbox.ledger()).toHaveLength(4);
  });
});
