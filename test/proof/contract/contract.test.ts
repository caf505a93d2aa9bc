import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jwt } from '../../rooms/sandbox/rig.ts';
import { type Answer, bodyFor, createsPerMinute, documentPath, openRig, type Rig, textAt } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  expect(await validator.validate(documentPath)).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

/** Asks until it has ended, and lets time pass between. */
async function watch(operationId: string, parameters: Record<string, string>): Promise<Answer> {
  for (let look = 0; look < 100; look += 1) {
    const answer = await rig.expect(operationId, 200, { parameters });
    const status = textAt(answer, 'data.status');
    if (status === 'COMPLETED' || status === 'FAILED') return answer;
    rig.clock.now += 2000;
  }
  throw new Error(`${operationId}: no end`);
}

/** Creates until one job has been seen completed and one failed; which ones fail follows from their bodies. */
async function watchBothEnds(create: (number: number) => Promise<{ id: string; status: string }>, parameter = 'id') {
  const ids = new Map<string, string>();
  for (let number = 1; number <= 12 && ids.size < 2; number += 1) {
    const { id, status } = await create(number);
    ids.set(textAt(await watch(status, { [parameter]: id }), 'data.status'), id);
  }
  expect([...ids.keys()].sort()).toEqual(['COMPLETED', 'FAILED']);
  return { completed: ids.get('COMPLETED') ?? '', failed: ids.get('FAILED') ?? '' };
}

describe('what succeeds', () => {
  test('images, from create to both ends', async () => {
    await watchBothEnds(async (number) => {
      const created = await rig.expect('createImage', 200, {
        body: { prompt: `picture ${number}`, model: 'alpha-pro', aspectRatio: '21:9', resolution: '1k' },
        headers: { 'idempotency-key': `image-${number}` },
      });
      return { id: textAt(created, 'generation.id'), status: 'getImageStatus' };
    });
  });

  test('influencer images and thumbnails share the status of images; thumbnails are listed and deleted', async () => {
    const influencer = await rig.create('/influencer-studio/create', { prompt: 'somebody' });
    await watch('getImageStatus', { id: textAt(influencer, 'generation.id') });
    await watchBothEnds(async (number) => {
      const created = await rig.create('/thumbnails/create', { title: `title ${number}` });
      return { id: textAt(created, 'data.jobId'), status: 'getImageStatus' };
    });
    const listed = await rig.expect('listThumbnails', 200);
    const records = listed.body.data as { id: string; status: string }[];
    expect(records.map(({ status }) => status)).toContain('FAILED');
    await rig.expect('deleteThumbnail', 200, { parameters: { generationId: records[0]?.id ?? '' } });
  });

  test('music, from create to both ends, and deleted', async () => {
    const { completed } = await watchBothEnds(async (number) => {
      const created = await rig.expect('createMusic', 200, {
        body: { prompt: 'calm', lyrics: `verse ${number}`, output_format: 'flac' },
      });
      return { id: textAt(created, 'generation.id'), status: 'getMusicStatus' };
    });
    await rig.expect('deleteMusic', 200, { parameters: { generationId: completed } });
    await rig.expect('getMusicStatus', 404, { parameters: { id: completed } });
  });

  test.each([
    ['song-8', 5],
    ['song-o2', 6],
    ['song-7.6', 4],
  ])('a song of %s costs %d', async (model, credits) => {
    const created = await rig.expect('createMusic', 200, { body: { prompt: 'x', lyrics: 'la', model } });
    expect(created.body.creditsDeducted).toBe(credits);
  });

  test('videos, from create to both ends, and page by page', async () => {
    await watchBothEnds(async (number) => {
      const created = await rig.expect('createVideo', 200, { body: { prompt: `scene ${number}`, duration: 1 } });
      return { id: textAt(created, 'generation.id'), status: 'getVideoStatus' };
    });
    await rig.expect('createVideo', 200, { body: { prompt: 'not begun' } });
    const first = await rig.expect('listVideos', 200, { parameters: { limit: '1' } });
    expect(first.body.pagination).toMatchObject({ currentPage: 1, limit: 1, hasNextPage: true });
    await rig.expect('listVideos', 200, { parameters: { page: '2', limit: '100', model: 'motion-2' } });
    await rig.expect('listVideos', 200);
  });

  test('voiceovers, from create to both ends, with the voices and the history', async () => {
    const { body } = await rig.expect('listVoices', 200);
    const voices = body.voices as { id: string }[];
    await watchBothEnds(async (number) => {
      const voice = voices[number]?.id;
      const created = await rig.expect('createVoiceover', 200, { body: { text: 'Hello.', voice_id: voice } });
      return { id: textAt(created, 'generation.id'), status: 'getVoiceoverStatus' };
    });
    await rig.expect('listVoiceovers', 200, { parameters: { page: '1', limit: '5' } });
  });

  test('clippings, from create to both ends: only status and refresh bring them up to date', async () => {
    const { completed } = await watchBothEnds(async (number) => {
      const created = await rig.create('/clippings/create', { videoUrl: `https://cdn.example.com/${number}.mp4` });
      const id = textAt(created, 'data.id');
      rig.clock.now += 3_600_000;
      const plain = await rig.expect('getClipping', 200, { parameters: { clippingId: id } });
      expect(textAt(plain, 'data.status')).toBe('QUEUED');
      return { id, status: number % 2 === 0 ? 'syncClipping' : 'refreshClipping' };
    }, 'clippingId');
    for (const operation of ['getClipping', 'syncClipping', 'refreshClipping']) {
      await rig.expect(operation, 200, { parameters: { clippingId: completed } });
    }
    await rig.expect('listClippings', 200);
    await rig.expect('deleteClipping', 200, { parameters: { clippingId: completed } });
  });

  test('uploads, in one step and in three', async () => {
    await rig.expect('importUpload', 200, {
      body: { base64: 'aGVsbG8=', fileName: 'a.txt', contentType: 'text/plain' },
    });
    const signed = await rig.expect('signUpload', 200, { body: { fileName: 'logo.png' } });
    const put = await fetch(textAt(signed, 'data.uploadUrl'), {
      method: 'PUT',
      headers: { 'content-type': 'image/png' },
      body: 'bytes',
    });
    expect(put.ok).toBe(true);
    await rig.expect('completeUpload', 200, { body: { blobName: textAt(signed, 'data.blobName') } });
    await rig.expect('importUpload', 200, { body: { url: textAt(signed, 'data.publicUrl') } });
  });

  test('accounts, a post, the catalog and the two places of the document', async () => {
    const { body } = await rig.expect('listAccounts', 200);
    const [account] = body.data as { id: string }[];
    await rig.expect('createPost', 200, { body: { accountIds: [account?.id], caption: 'Hello' } });
    for (const operation of ['getCatalog', 'getDocument', 'getDocumentOfApiDocs']) await rig.expect(operation, 200);
  });
});

describe('what is refused, with the documented status and body', () => {
  // The document allows these requests.
  test.each<[string, string, object]>([
    ['a blank prompt', 'createImage', { prompt: ' ' }],
    [
      'too many reference images',
      'createImage',
      { prompt: 'x', referenceImages: Array(99).fill('https://cdn.example.com/a.png') },
    ],
    ['a blank style', 'createMusic', { prompt: ' ', lyrics: 'la' }],
    ['blank lyrics', 'createMusic', { prompt: 'x', lyrics: ' ' }],
  ])('400: %s', async (_what, operation, body) => {
    await rig.expect(operation, 400, { body });
  });

  test('400 of a video without an id', async () => {
    // Nothing after the slash would be another path; a blank is an id that is missing.
    await rig.expect('getVideoStatus', 400, { parameters: { id: ' ' } });
  });

  test('401 of every operation, for a key that is wrong', async () => {
    for (const { id, path } of rig.operations) {
      if (path.endsWith('/openapi.json')) continue;
      await rig.expect(id, 401, { token: 'sandbox_live_wrong', ...bodyFor(id) });
    }
  });

  test('402 when the credits are spent', async () => {
    const token = jwt({ sub: 'poor' });
    let answer: Answer;
    do answer = await rig.call('createVideo', { token, body: { prompt: 'x', duration: 12 } });
    while (answer.status === 200);
    expect(answer).toMatchObject({ status: 402, violations: [] });
    const rest = () => rig.call('createImage', { token, body: { prompt: 'x', resolution: '4k' } });
    do answer = await rest();
    while (answer.status === 200);
    expect(answer).toMatchObject({ status: 402, violations: [] });
    await rig.expect('createMusic', 402, { token, body: { prompt: 'x', lyrics: 'la', model: 'song-o2' } });
  });

  test('404 of what is not there, or not yours', async () => {
    const { body } = await rig.expect('listVideos', 200);
    const [video] = body.generations as { id: string }[];
    await rig.expect('getVideoStatus', 404, { token: jwt({ sub: 'stranger' }), parameters: { id: video?.id ?? '' } });
    const known = rig.operations.filter(({ path }) => path.includes('{'));
    expect(known).toHaveLength(10);
    for (const { id } of known) await rig.expect(id, 404);
    await rig.expect('completeUpload', 404, { body: { blobName: 'none' } });
  });

  test('429 when creates come too fast', async () => {
    const token = jwt({ sub: 'hasty' });
    for (let count = 0; count < createsPerMinute; count += 1) {
      await rig.expect('createImage', 400, { token, body: { prompt: ' ' } });
    }
    for (const id of ['createImage', 'createMusic', 'createVideo', 'createVoiceover', 'createPost']) {
      await rig.expect(id, 429, { token, ...bodyFor(id) });
    }
  });

  // The sandbox knows every user and has no provider that could fail, so these are played.
  test.each([
    ['createImage', 'create', [404, 500]],
    ['createMusic', 'create', [404, 500]],
    ['getVideoStatus', 'status', [500]],
    ['listVideos', 'list', [404, 500]],
    ['syncClipping', 'status', [500]],
    ['refreshClipping', 'status', [500]],
  ] as const)('the rest of %s', async (operation, on, statuses) => {
    for (const status of statuses) {
      rig.sandbox.addFaults([{ on, do: { type: 'status', status } }]);
      await rig.expect(operation, status, bodyFor(operation));
    }
  });
});

test('every operation of the document was driven, and every status that it names', () => {
  const missing = rig.operations.flatMap(({ id, path, statuses }) =>
    statuses
      .filter((status) => status !== 'default')
      // The sandbox gives its document to everybody, although the documentation asks a credential of every endpoint.
      .filter((status) => !(status === '401' && path.endsWith('/openapi.json')))
      .filter((status) => ![...rig.seen].some((pair) => pair.startsWith(`${id} ${status.replace('XX', '')}`)))
      .map((status) => `${id} ${status}`),
  );
  expect(missing).toEqual([]);
});
