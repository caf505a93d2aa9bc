import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Fault, readFaults } from '../../../src/sandbox/index.ts';
import { makeFolder } from '../../rig/folder.ts';
import { dataOf, goodBodies, kindNames, openRig } from './rig.ts';

const body = { prompt: 'a lamp', resolution: '1k' };

describe('without a socket', () => {
  test('a reset rejects, a cut body errors', async () => {
    const rig = openRig({
      speed: Number.POSITIVE_INFINITY,
      faults: [
        { on: 'status', do: { type: 'reset' } },
        { on: 'file', do: { type: 'truncate', bytes: 10 } },
      ],
    });
    const id = await rig.imageId(body);
    await expect(rig.call('GET', `/api/v1/image/status/${id}`)).rejects.toThrow('reset');
    const response = await rig.sandbox.fetch(new Request(await rig.outputUrl('image', id)));
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(1000);
    await expect(response.arrayBuffer()).rejects.toThrow('before the body ended');
  });

  test('a status, with its own body and headers', async () => {
    const rig = openRig({
      faults: [
        { on: 'create', do: { type: 'status', status: 503 } },
        { on: 'create', nth: 2, do: { type: 'status', status: 429, body: { a: 1 }, headers: { 'Retry-After': '7' } } },
        { on: 'create', nth: 3, do: { type: 'status', status: 500, body: 'oops', booked: true } },
      ],
    });
    const first = await rig.createImage(body);
    expect([first.status, first.body.success]).toEqual([503, false]);
    const second = await rig.createImage(body);
    expect([second.status, second.headers.get('retry-after'), second.body]).toEqual([429, '7', { a: 1 }]);
    expect(rig.sandbox.ledger()).toEqual([]);
    const third = await rig.createImage(body);
    expect([third.status, third.text]).toEqual([500, 'oops']);
    expect(third.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(rig.sandbox.ledger()).toHaveLength(1);
  });

  test('another answer, with the id of the job filled in', async () => {
    const strange = { success: true, data: { id: '{id}', status: 'RENDERING' } };
    const rig = openRig({ faults: [{ on: 'status', do: { type: 'answer', body: strange } }] });
    const id = await rig.imageId(body);
    expect(dataOf((await rig.call('GET', `/api/v1/image/status/${id}`)).body)).toEqual({ id, status: 'RENDERING' });
    expect(dataOf((await rig.call('GET', `/api/v1/image/status/${id}`)).body)).toMatchObject({ status: 'QUEUED' });
  });

  test('a delay keeps the key in hand until the request is handled', async () => {
    const rig = openRig({ faults: [{ on: 'create', do: { type: 'delay', ms: 300 } }] });
    const first = rig.createImage(body, { key: 'k' });
    await expect.poll(() => rig.sandbox.requests().length).toBe(1);
    expect((await rig.createImage(body, { key: 'k' })).body.code).toBe('idempotency_key_in_progress');
    const { status } = await first;
    expect(status).toBe(200);
  });

  test('a request that is refused anyway keeps its honest answer and its fault', async () => {
    const rig = openRig({ faults: [{ on: 'create', times: 2, do: { type: 'reset', booked: true } }] });
    expect((await rig.createImage({})).status).toBe(400);
    await expect(rig.createImage(body)).rejects.toThrow();
    expect((await rig.createImage(body)).status).toBe(200);
    expect(rig.sandbox.ledger()).toHaveLength(2);
  });

  test.each<[string, Partial<Fault>, string]>([
    ['nth', { nth: 3 }, '..x...'],
    ['times', { times: 2 }, 'xx....'],
    ['nth and times', { nth: 2, times: 3 }, '.xxx..'],
    ['kind', { kind: 'music' }, '.x....'],
    ['match', { match: 'blue', times: 9 }, '..x.x.'],
    ['kind, match and nth', { kind: 'image', match: 'blue', nth: 2 }, '....x.'],
    ['another place', { on: 'status' }, '......'],
  ])('%s chooses the requests', async (_name, choice, expected) => {
    const rig = openRig();
    rig.sandbox.addFaults([{ on: 'create', do: { type: 'status', status: 500 }, ...choice }]);
    const song = { prompt: 'calm', model: 'song-7.5' };
    const answers = [
      await rig.createImage({ prompt: 'red' }),
      await rig.createMusic(song),
      await rig.createImage({ prompt: 'blue' }),
      await rig.createMusic(song),
      await rig.createImage({ prompt: 'light blue' }),
      await rig.createImage({ prompt: 'green' }),
    ];
    expect(answers.map(({ status }) => (status === 500 ? 'x' : '.')).join('')).toBe(expected);
  });
});

describe('each place of the service', () => {
  const fail = { type: 'status', status: 500 } as const;
  const upload = { base64: 'AAAA', fileName: 'a.png' };

  test.each<[Fault['on'], string, string, string, object | undefined]>([
    ['list', 'video', 'GET', '/api/v1/videos/all?page=2', undefined],
    ['list', 'clipping', 'GET', '/api/v1/clippings/all', undefined],
    ['list', 'upload', 'GET', '/api/v1/uploads', undefined],
    ['list', 'voice', 'GET', '/api/v1/voiceovers/voices', undefined],
    ['list', 'account', 'GET', '/api/v1/accounts', undefined],
    ['list', 'model', 'GET', '/api/v1/catalog', undefined],
    ['upload', 'upload', 'POST', '/api/v1/uploads', upload],
    ['upload', 'upload', 'POST', '/api/v1/uploads/signed-url', { fileName: 'a' }],
    ['upload', 'upload', 'POST', '/api/v1/uploads/complete', { blobName: 'a' }],
    ['put', 'upload', 'PUT', '/storage/upload/0/a', undefined],
    ['post', 'post', 'POST', '/api/v1/posts', { accountIds: [] }],
    ['status', 'clipping', 'GET', '/api/v1/clippings/x', undefined],
    ['status', 'clipping', 'GET', '/api/v1/clippings/refresh/x', undefined],
    ['create', 'video', 'POST', '/api/v1/videos/create', { prompt: 'x' }],
  ])('%s of %s: %s %s', async (on, kind, method, path, given) => {
    const rig = openRig({ faults: [{ on, kind, do: fail }] });
    const options = given === undefined ? {} : { body: given };
    expect((await rig.call(method, path, options)).status).toBe(500);
    expect((await rig.call(method, path, options)).status).not.toBe(500);
    rig.sandbox.addFaults([{ on, kind: 'other', do: fail }]);
    expect((await rig.call(method, path, options)).status).not.toBe(500);
  });

  test.each(kindNames)('%s: a booked create whose answer is lost', async (kind) => {
    const rig = openRig({ faults: [{ on: 'create', kind, do: { type: 'reset', booked: true } }] });
    await expect(rig.create(kind, goodBodies[kind])).rejects.toThrow('reset');
    expect(rig.sandbox.ledger()).toMatchObject([{ kind }]);
  });
});

describe('a file of faults', () => {
  const read = (content: unknown) => {
    const path = join(makeFolder(), 'faults.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return readFaults(path);
  };

  test('is read', () => {
    const faults: Fault[] = [{ on: 'create', kind: 'image', nth: 2, do: { type: 'reset', booked: true } }];
    expect(read(faults)).toEqual(faults);
  });

  test.each([
    ['no JSON', '[', 'faults.json: '],
    ['no list', {}, 'expected a list of faults'],
    ['no object', [7], 'fault 1: expected an object'],
    ['an unknown place', [{ on: 'poll', do: { type: 'reset' } }], 'on must be one of create, status, list'],
    ['an unknown field', [{ on: 'file', when: 1, do: { type: 'reset' } }], 'when is not a field of a fault'],
    ['an unknown action', [{ on: 'file', do: { type: 'explode' } }], 'do.type must be one of status, reset'],
    ['a misspelt field', [{ on: 'file', do: { type: 'reset', boked: true } }], 'do.boked is not a field'],
    ['a missing number', [{ on: 'file', do: { type: 'truncate' } }], 'do.bytes must be a number'],
    ['a bad count', [{ on: 'file', nth: 0, do: { type: 'reset' } }], 'nth must be a number from 1 on'],
    ['a missing body', [{ on: 'status', do: { type: 'answer' } }], 'do.body is missing'],
    ['a bad match', [{ on: 'status', match: 1, do: { type: 'reset' } }], 'match must be a string'],
  ])('%s: says so', (_name, content, message) => {
    expect(() => read(content)).toThrow(message);
  });
});
