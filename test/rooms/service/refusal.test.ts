import { describe, expect, test } from 'vitest';
import { isInward } from '../../../src/graph/address.ts';
import { isJobId } from '../../../src/ground/job-id.ts';
import type { Json } from '../../../src/ground/json.ts';
import { requireKind } from '../../../src/kinds/index.ts';
import { type CreateRoute, Creates, classifyCreate } from '../../../src/service/create.ts';
import { parseRetryAfter, readMessage } from '../../../src/service/fields.ts';
import type { Http, HttpAnswer } from '../../../src/service/http.ts';
import { makeKeyFinder, makeRedact } from '../../../src/service/secrets.ts';

const key = 'mb1-0123456789abcdef0123456789abcdef01234567';

function classify(
  kind: string,
  status: number,
  json: unknown,
  more: Partial<{ headers: object; request: object; isDocumented: boolean }> = {},
) {
  const { headers = {}, request = { prompt: 'a lamp' }, isDocumented } = more;
  const answer = { is: 'answer', status, headers, json } as HttpAnswer;
  const route = { path: '/x/create', ...(isDocumented !== undefined && { isDocumented }) };
  const call = { key, body: JSON.stringify(request) };
  return classifyCreate(answer, (text) => text, { kind: requireKind(kind), route, call });
}

const no = (more: object) => ({ success: false, ...more });

describe('a refusal that speaks of its key is a purchase', () => {
  test.each<[number, unknown]>([
    [422, no({ error: 'Unprocessable', code: 'IDEMPOTENCY_KEY_REUSED', message: 'no' })],
    [422, { message: 'Keys for idempotent requests can only be used with the same parameters.' }],
    [400, no({ error: 'Idempotency-Key was already used with a different body' })],
    [409, no({ code: 'idempotency_key_reused', message: 'used with another request within the last 24 hours' })],
    [409, no({ code: 'idempotency_conflict', error: 'Conflict' })],
    [412, no({ code: 'IdempotencyParameterMismatch' })],
    [403, no({ error: 'This idempotency key belongs to another request' })],
    [402, no({ error: 'insufficient credits', code: 'IDEMPOTENCY_KEY_REUSED' })],
    [404, no({ error: `no request for ${key} with these bytes` })],
    [400, no({ error: 'Invalid Idempotency-Key' })],
    [400, no({ error: 'Idempotency-Key must be unique' })],
    [400, no({ error: 'Idempotency-Key is in the wrong format, or was already used' })],
    [422, no({ code: 'KEY_REUSED' })],
    [400, no({ error: 'duplicate request' })],
    [400, no({ error: 'x', details: [{ field: 'Idempotency-Key', issue: 'mismatch' }] })],
    [422, { type: 'https://errors.example/idempotency-key-reused', title: 'Unprocessable' }],
    [200, no({ code: 'IDEMPOTENCY_KEY_REUSED' })],
    [500, no({ code: 'IDEMPOTENCY_KEY_REUSED' })],
    [422, no({ message: 'This request has already been processed' })],
    [422, no({ errors: { idempotencyKey: ['must be unique'] } })],
    [400, no({ message: 'A generation was already created for this request' })],
    [422, no({ code: 'REQUEST_MISMATCH', message: 'The body differs from the first request' })],
    [400, no({ message: 'The payload does not match the original request' })],
  ])('%s %j', (status, json) => {
    expect(classify('image', status, json).is).toBe('known');
    expect(classify('music', status, json).is).toBe('known');
  });

  const tooLong = 'Idempotency-Key has 129 characters; at most 128 are allowed.';
  test.each<[number, unknown]>([
    [400, no({ error: tooLong, code: 'idempotency_key_too_long' })],
    [400, no({ message: 'Idempotency-Key must be at most 128 characters' })],
    [400, no({ message: 'malformed Idempotency-Key' })],
    [400, no({ errors: { 'Idempotency-Key': ['is too long'] } })],
    [400, no({ message: 'resolution does not match the model', code: 'INVALID_BODY' })],
    [422, no({ message: 'Header Idempotency-Key is required' })],
  ])('but not one that only complains about its form: %s %j', (status, json) => {
    expect(classify('image', status, json)).toMatchObject({ is: 'refused', why: 'invalid' });
  });

  test('nor one that repeats the key beside other words, speaks of other keys, or quotes the request', () => {
    const prompt = 'a key already used on a door';
    for (const [status, json] of [
      [400, { error: 'prompt is empty', idempotencyKey: key }],
      [401, { error: 'the API key is already revoked' }],
      [400, { error: 'model key alpha-9 is used by nobody, use another' }],
      [400, { error: `not allowed: ${prompt}` }],
    ] as const)
      expect(classify('image', status, no(json), { request: { prompt } }).is).toBe('refused');
  });

  test('one that is still being handled is asked for again, whatever its status', () => {
    const message = 'A request with this key is still being handled.';
    const json = no({ code: 'idempotency_key_in_progress', message });
    for (const status of [409, 422, 400]) expect(classify('image', status, json).is).toBe('in-progress');
  });

  test('a kind whose creates have no key knows nothing of it', () => {
    expect(classify('video', 422, no({ code: 'IDEMPOTENCY_KEY_REUSED' })).is).toBe('refused');
  });
});

describe('a refusal that names a job is none', () => {
  test.each<[string, number, unknown]>([
    ['image', 400, no({ error: 'x', generation: { id: 'g1', status: 'QUEUED' } })],
    ['image', 402, no({ error: 'x', generation: { id: 'g1' } })],
    ['music', 404, no({ error: 'x', generation: { id: 'g1' } })],
    ['image', 413, no({ error: 'x', details: { generation: { id: 'g1' } } })],
    ['image', 422, no({ code: 'IDEMPOTENCY_KEY_REUSED', data: { jobId: 'g1' } })],
    ['image', 409, no({ code: 'idempotency_key_reused', jobId: 'g1' })],
    ['video', 409, no({ error: 'x', data: { id: 'g1', status: 'PROCESSING' } })],
    ['video', 422, { message: 'x', generationId: 'g1' }],
    ['video', 500, no({ generation: { id: 'g1' } })],
    ['post', 400, no({ error: 'published before', post: { id: 'g1' } })],
    ['image', 400, no({ error: 'x', details: { existingGeneration: { id: 'g1' } } })],
    ['video', 422, no({ error: 'x', details: { original_generation_id: 'g1' } })],
    ['voiceover', 400, no({ error: 'x', previousJob: { id: 'g1', model: 'speech-9' } })],
  ])('%s %s %j', (kind, status, json) => {
    expect(classify(kind, status, json)).toMatchObject({
      is: 'accepted',
      job: { jobId: 'g1' },
      doubt: expect.stringContaining('HTTP'),
    });
  });

  test('its charge and the id of its record are taken, and an id in a Location', () => {
    const json = no({ data: { id: 'r1', jobId: 'g1' }, creditsDeducted: 4 });
    expect(classify('thumbnail', 400, json)).toMatchObject({ job: { jobId: 'g1', recordId: 'r1', credits: 4 } });
    const headers = { location: '/api/v1/image/status/g%2F1' };
    expect(classify('image', 303, undefined, { headers })).toMatchObject({ is: 'accepted', job: { jobId: 'g/1' } });
  });

  test.each([
    { generation: { id: 12345 } },
    { jobId: 77 },
    { generations: [{ id: 'g1' }] },
    { generation: { id: 'g1' }, job: { id: 'g2' } },
    { jobs: [{ id: 'g1' }, { id: 'g2' }] },
  ])('one that names several, or one that nobody could look up, settles nothing: %j', (jobs) => {
    const json = no({ error: 'x', ...jobs });
    expect(classify('image', 400, json)).not.toHaveProperty('mayBe');
    expect(classify('image', 400, json).is).toBe('known');
    expect(classify('video', 422, json).is).toBe('ambiguous');
  });

  test('too many requests stay so, whatever jobs they name', () => {
    expect(classify('image', 429, no({ error: 'x', activeJobs: [{ id: 'g1' }, { id: 'g2' }] })).is).toBe('throttled');
  });

  test('a generation without an id is none', () => {
    expect(classify('image', 400, no({ error: 'x', generation: null, job: { id: null } })).is).toBe('refused');
    expect(classify('image', 400, no({ error: 'x', model: { id: 'alpha-2' }, requestId: 7 })).is).toBe('refused');
  });

  test('an id that may be of an error is only a hint', () => {
    const plain = classify('video', 400, no({ error: 'x', id: 'req-1' }));
    expect(plain).toMatchObject({ is: 'refused', mayBe: { jobId: 'req-1' } });
    const known = classify('image', 422, no({ code: 'IDEMPOTENCY_KEY_REUSED', details: { purchase: { id: 'x1' } } }));
    expect(known).toMatchObject({ is: 'known', mayBe: { jobId: 'x1' } });
    expect(classify('video', 400, no({ error: 'x', account: { id: 'a1' } }))).not.toHaveProperty('mayBe');
  });
});

describe('the 404 of a service is about', () => {
  const post = { accountIds: ['acc_nope'], caption: 'hello' };
  const thing = { error: 'Not found' };
  test.each<[about: string, why: string, kind: string, json: unknown, request?: object, isDocumented?: boolean]>([
    ['the user, where it is documented', 'user', 'image', no(thing)],
    ['the user, in its own words', 'user', 'video', no({ code: 'USER_NOT_FOUND' })],
    ['the path, where it is a guess', 'no-route', 'video', no({ ...thing, code: 'NOT_FOUND' }), { prompt: 'x' }],
    ['the path, in its own words', 'no-route', 'image', no({ error: 'Route not found: POST /x/create' })],
    ['the path, with a field in it', 'no-route', 'clipping', no({ error: 'Cannot find /v1/video' }), { videoUrl: 'y' }],
    ['an account of the request', 'invalid', 'post', no({ error: 'Account acc_nope not found' }), post],
    ['a field by another word', 'invalid', 'post', no({ error: 'Channel does not exist' }), post],
    ['a field in a detail', 'invalid', 'post', no({ ...thing, details: { account_ids: ['unknown'] } }), post],
    ['a field in a text', 'invalid', 'post', no({ ...thing, details: [{ field: 'accountIds[0]' }] }), post],
    ['what cannot be found', 'invalid', 'image', no({ error: 'Cannot find account acc_nope' }), post],
    ['the path in the details', 'no-route', 'post', no({ ...thing, details: { path: '/posts' } }), post],
    ['the path, in another form', 'no-route', 'post', { statusCode: 404, message: 'account unknown' }, post],
    ['the path, beside empty words', 'no-route', 'thumbnail', no({ message: 'The resource could not be found' })],
    ['the path, in another form with a user', 'no-route', 'image', { message: 'no user' }],
    ['a value where the path is known', 'invalid', 'video', no(thing), {}, true],
    ['the path, where the document lacks it', 'no-route', 'image', no(thing), {}, false],
  ])('%s: %s', (_about, why, kind, json, request = {}, isDocumented = undefined) => {
    const seen = classify(kind, 404, json, { request, ...(isDocumented !== undefined && { isDocumented }) });
    expect(seen.is === 'refused' ? seen.why : seen.is).toBe(why);
  });
});

/** Sends creates of a kind to a service that answers by method and path; anything else breaks. */
async function create(
  kind: string,
  answers: { [operation: string]: [status: number, json: unknown] | 'broken' },
  { route, times = 1 }: { route?: CreateRoute; times?: number } = {},
) {
  const seen: string[] = [];
  const http: Http = {
    async call({ method, path }) {
      seen.push(`${method} ${path}`);
      const found = answers[`${method} ${path}`] ?? 'broken';
      if (found === 'broken') return { is: 'broken', sent: true, message: 'cut' };
      return { is: 'answer', status: found[0], headers: {}, json: found[1] as never };
    },
    close: async () => {},
  };
  const createRoutes = route && { createRoutes: { [kind]: route } };
  const creates = new Creates(http, { token: 'x', createTimeoutMs: 1000, ...createRoutes });
  const send = () => creates.send({ kind, key, body: '{"title":"x"}' });
  let answer = await send();
  for (let time = 1; time < times; time += 1) answer = await send();
  return { answer, seen };
}

describe('a path that is a guess', () => {
  const gone: [number, unknown] = [404, no({ error: 'Not found', code: 'NOT_FOUND' })];
  const made: [number, unknown] = [200, { success: true, data: { id: 'r', jobId: 'j' } }];

  test('is followed by the next one after a 404, and remembered', async () => {
    const answers = { 'POST /thumbnails/create': gone, 'POST /thumbnails': made };
    const { answer, seen } = await create('thumbnail', answers, { times: 2 });
    expect(answer).toMatchObject({ is: 'accepted', job: { jobId: 'j' } });
    expect(seen).toEqual(['POST /thumbnails/create', 'POST /thumbnails', 'POST /thumbnails']);
  });

  test('that none has is told with all of them', async () => {
    const { answer } = await create('thumbnail', { 'POST /thumbnails/create': gone, 'POST /thumbnails': [405, {}] });
    expect(answer).toEqual({
      is: 'no-route',
      message: 'the service has no POST /thumbnails/create or POST /thumbnails (HTTP 405: no message) [MB1511]',
    });
  });

  test.each<[string, [number, unknown] | 'broken', string]>([
    ['a lost answer', 'broken', 'ambiguous'],
    ['a page', [200, undefined], 'ambiguous'],
    ['a refusal', [400, no({ error: 'x' })], 'refused'],
    ['a 404 of something in the request', [404, no({ error: 'title not found' })], 'refused'],
    ['a 404 whose details name a field', [404, no({ error: 'Not found', details: { field: 'title' } })], 'refused'],
    ['an empty account', [402, no({ error: 'x' })], 'refused'],
  ])('is not followed by another after %s', async (_name, first, is) => {
    const { answer, seen } = await create('thumbnail', { 'POST /thumbnails/create': first, 'POST /thumbnails': made });
    expect(answer.is).toBe(is);
    expect(seen).toEqual(['POST /thumbnails/create']);
  });

  test('is none where the service documents it', async () => {
    const route = { path: '/thumbnails/create', isDocumented: true };
    const answers = { 'POST /thumbnails/create': gone, 'POST /thumbnails': made };
    const { answer, seen } = await create('thumbnail', answers, { route });
    expect([answer.is, seen.length]).toEqual(['refused', 1]);
  });
});

describe('an id that may be of a job', () => {
  const refusal: [number, unknown] = [400, no({ error: 'x', id: 'j1' })];

  test('is one if its status says so', async () => {
    const { answer } = await create('video', {
      'POST /videos/create': refusal,
      'GET /video/status/j1': [200, { success: true, data: { id: 'j1', status: 'QUEUED' } }],
    });
    expect(answer).toMatchObject({ is: 'accepted', job: { jobId: 'j1' }, doubt: 'HTTP 400: x' });
  });

  test.each<[string, [number, unknown] | 'broken']>([
    ['nobody knows it', [404, no({ error: 'x' })]],
    ['the status is of another', [200, { data: { id: 'j2', status: 'QUEUED' } }]],
  ])('is none if %s', async (_name, status) => {
    const { answer } = await create('video', { 'POST /videos/create': refusal, 'GET /video/status/j1': status });
    expect(answer).toMatchObject({ is: 'refused', mayBe: { jobId: 'j1' } });
  });
});

const error = { success: false, error: 'no', code: 'x', message: 'no' };
const answer = (status: number, json: unknown, headers = {}): HttpAnswer =>
  ({ is: 'answer', status, headers, json }) as HttpAnswer;
const good = { success: true, generation: { id: 'j1', status: 'QUEUED' }, creditsDeducted: 3, creditsRemaining: 7 };

test.each<[string, HttpAnswer, string]>([
  ['a job', answer(200, good), 'accepted'],
  ['a job, 201', answer(201, good), 'accepted'],
  ['a job without credits', answer(200, { generation: { id: 'j1' } }), 'accepted'],
  ['200 and a page', answer(200, undefined), 'ambiguous'],
  ['200 without an id', answer(200, { success: true, generation: {} }), 'ambiguous'],
  ['200 with an id that is a path', answer(200, { generation: { id: '..' } }), 'ambiguous'],
  ['200 with an id with spaces', answer(200, { generation: { id: 'a b' } }), 'ambiguous'],
  ['200 with a number as id', answer(200, { generation: { id: 7 } }), 'ambiguous'],
  ['400 of the service', answer(400, error), 'refused invalid'],
  ['400 of a proxy', answer(400, undefined), 'ambiguous'],
  ['401 of the service', answer(401, error), 'refused auth'],
  ['401 of a proxy', answer(401, { message: 'login' }), 'ambiguous'],
  ['402', answer(402, error), 'refused credits'],
  ['404 means: no such user', answer(404, no({ error: 'Not found' })), 'refused user'],
  ['404 of a proxy, or of a server without that route', answer(404, undefined), 'no-route'],
  ['404 in words that are not the service’s', answer(404, { statusCode: 404, message: 'Cannot POST' }), 'no-route'],
  ['405', answer(405, undefined), 'no-route'],
  ['405 in the words of the service', answer(405, error), 'no-route'],
  ['413', answer(413, error), 'refused invalid'],
  ['413 of a proxy', answer(413, undefined), 'refused invalid'],
  ['422', answer(422, error), 'refused invalid'],
  ['409', answer(409, error), 'in-progress'],
  ['429', answer(429, error, { 'retry-after': '7' }), 'throttled 7000'],
  ['408', answer(408, error), 'ambiguous'],
  ['500 of the service', answer(500, error), 'ambiguous'],
  ['502', answer(502, undefined), 'ambiguous'],
  ['a redirect', answer(307, undefined), 'ambiguous'],
  ['nothing was sent', { is: 'broken', sent: false, message: '' }, 'not-sent'],
  ['cut after sending', { is: 'broken', sent: true, message: '' }, 'ambiguous'],
])('what the answer to a create proves: %s', (_name, given, expected) => {
  const seen = classifyCreate(given, (text) => text);
  const detail = seen.is === 'refused' ? ` ${seen.why}` : seen.is === 'throttled' ? ` ${seen.afterMs}` : '';
  expect(`${seen.is}${detail}`).toBe(expected);
});

describe('small facts', () => {
  test('addresses that lead inwards, in every spelling of IPv6 too', () => {
    const four =
      '127.0.0.1 10.1.2.3 172.31.0.1 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255'.split(
        ' ',
      );
    const six = '::1 :: fe80::1 fc00::1 ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1::'.split(' ');
    const inward = [...four, ...six, 'not an address'];
    expect(inward.filter((address) => !isInward(address))).toEqual([]);
    expect(['1.1.1.1', '93.184.216.34', '2606:4700::1111'].filter(isInward)).toEqual([]);
  });

  test('job ids', () => {
    const good = 'a gen_01H a/b /a//b/ a?b=c a#b 100% a%2Fb %zz ... a..b .a a. ~;v=1 {id}'.split(' ');
    expect([...good, "$&$'", 'x'.repeat(256), '%25'.repeat(85)].filter((id) => !isJobId(id))).toEqual([]);
    const bad = ['', 'a b', 'ä', 'x'.repeat(257), 'a\n', 5 as unknown as string];
    const folders = ['.', '..', '../x', 'a/..', 'a/./b', '/..', 'a\\..\\b', '..;/x', 'a/..;v=1'];
    const hidden = '%2e %2E%2e .%2e %252e %25252e%2e a%2f..%2fb a%2f%2e%2e ..%5cx ..%00 .%0a. ..%20'.split(' ');
    expect([...bad, ...folders, ...hidden].filter(isJobId)).toEqual([]);
  });

  test('an id that cannot be used is told: a person may find the job by it', () => {
    for (const id of ['a b', 7, '%2e%2e']) {
      const message = `the service accepted the request without a usable job id (found ${JSON.stringify(id)})`;
      expect(classifyCreate(answer(200, { generation: { id } }), (text) => text)).toEqual({ is: 'ambiguous', message });
    }
  });

  test('200 with `success: false` and no id says that the request may have been charged', () => {
    const seen = classifyCreate(answer(200, no({ message: 'try later' })), (text) => text, {
      kind: requireKind('video'),
    });
    const message = expect.stringMatching(/`success: false` and no job id, so .* charged \(HTTP 200: try later\)$/);
    expect(seen).toEqual({ is: 'ambiguous', message });
  });

  test('an id that only looks like what signs a link is one, and one that holds the key is none', () => {
    const key = 'acme_live_S3cr3tValue123456';
    const classify = (jobId: string, id = jobId) =>
      classifyCreate(answer(200, { generation: { id, jobId } }), makeRedact(key), { holdsKey: makeKeyFinder(key) });
    for (const id of ['x_token=abc', '//host/job?id=7', 'sig=1', 'Bearer_abcdefgh']) {
      expect(classify(id)).toMatchObject({ is: 'accepted', job: { jobId: id } });
    }
    for (const id of [key, `x_token=${key}`, `a-${encodeURIComponent(key)}-b`]) {
      const seen = classify(id);
      expect(seen.is).toBe('ambiguous');
      expect(JSON.stringify(seen)).not.toContain('S3cr3t');
    }
    expect(classify('job-1', key)).toEqual({ is: 'accepted', job: { jobId: 'job-1', credits: null, balance: null } });
  });

  test.each<[string, Json]>([
    ['[{"loc":["body","prompt"],"msg":"too long"}]', { detail: [{ loc: ['body', 'prompt'], msg: 'too long' }] }],
    ['{"reason":"nsfw"}', { error: { reason: 'nsfw' }, detail: [] }],
    ['too long', { error: { message: 'too long' }, details: { field: 'prompt' } }],
    ['no message', { errors: [] }],
  ])('a reason that is an object or a list is shown: %s', (text, json) => {
    expect(readMessage({ success: false, ...(json as object) }, 422, (said) => said)).toBe(`HTTP 422: ${text}`);
  });

  test('a sentence of the service is told up to a length, and whole without the key', () => {
    const redact = (text: string) => text.replaceAll('secret', '[key]');
    const long = `${'x'.repeat(495)}secret${'x'.repeat(5000)}`;
    const code = `${'y'.repeat(58)}secret`;
    expect(readMessage({ success: false, message: long, code }, 400, redact)).toBe(
      `HTTP 400: ${'x'.repeat(495)}[key] [${'y'.repeat(58)}[k]`,
    );
    const model = { success: true, generation: { id: 'j1' }, model: `${'z'.repeat(98)}secret` };
    expect(classifyCreate(answer(200, model), redact)).toMatchObject({ is: 'accepted', model: `${'z'.repeat(98)}[k` });
  });

  test('Retry-After in seconds and as a date', () => {
    expect(parseRetryAfter({ 'retry-after': '3' })).toBe(3000);
    expect(parseRetryAfter({ 'retry-after': '1.5' })).toBe(1500);
    const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
    // The clock of the server decides.
    expect(parseRetryAfter({ date, 'retry-after': date.replace(':00 GMT', ':10 GMT') })).toBe(10_000);
    expect(parseRetryAfter({ 'retry-after': date })).toBe(0);
    expect(parseRetryAfter({ 'retry-after': '-5' })).toBe(0);
    for (const value of ['soon', 'Infinity', '1e999', undefined])
      expect(parseRetryAfter({ 'retry-after': value })).toBeUndefined();
  });
});
