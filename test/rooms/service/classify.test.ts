import { describe, expect, test } from 'vitest';
import { isInward } from '../../../src/graph/address.ts';
import { isJobId } from '../../../src/ground/job-id.ts';
import { classifyCreate } from '../../../src/service/create.ts';
import { parseRetryAfter, readMessage } from '../../../src/service/fields.ts';
import type { HttpAnswer } from '../../../src/service/http.ts';
import { makeKeyFinder, makeRedact, readCredential } from '../../../src/service/secrets.ts';

const error = { success: false, error: 'no', code: 'x', message: 'no' };
const answer = (status: number, json: unknown, headers = {}): HttpAnswer =>
  ({ is: 'answer', status, headers, json }) as HttpAnswer;
const good = { success: true, generation: { id: 'j1', status: 'QUEUED' }, creditsDeducted: 3, creditsRemaining: 7 };

describe('what the answer to a create proves', () => {
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
    ['404 means: no such user', answer(404, error), 'refused user'],
    ['404 of a proxy, or of a server without that route', answer(404, undefined), 'no-route'],
    ['404 in words that are not the service’s', answer(404, { statusCode: 404, message: 'Cannot POST' }), 'no-route'],
    ['405', answer(405, undefined), 'no-route'],
    ['405 in the words of the service', answer(405, error), 'no-route'],
    ['413', answer(413, error), 'refused invalid'],
    ['422', answer(422, error), 'refused invalid'],
    ['409', answer(409, error), 'in-progress'],
    ['429', answer(429, error, { 'retry-after': '7' }), 'throttled 7000'],
    ['408', answer(408, error), 'ambiguous'],
    ['500 of the service', answer(500, error), 'ambiguous'],
    ['502', answer(502, undefined), 'ambiguous'],
    ['a redirect', answer(307, undefined), 'ambiguous'],
    ['nothing was sent', { is: 'broken', sent: false, message: '' }, 'not-sent'],
    ['cut after sending', { is: 'broken', sent: true, message: '' }, 'ambiguous'],
  ])('%s', (_name, given, expected) => {
    const seen = classifyCreate(given, (text) => text);
    const detail = seen.is === 'refused' ? ` ${seen.why}` : seen.is === 'throttled' ? ` ${seen.afterMs}` : '';
    expect(`${seen.is}${detail}`).toBe(expected);
  });
});

test.each([
  [true, 'refused'],
  [undefined, 'refused'],
  [false, 'no-route'],
])('404 in the words of the service, where its document has the operation: %s', (isDocumented, is) => {
  const route = { path: '/videos/create', ...(isDocumented !== undefined && { isDocumented }) };
  expect(classifyCreate(answer(404, error), (text) => text, { route }).is).toBe(is);
});

describe('small facts', () => {
  test('addresses that lead inwards, in every spelling of IPv6 too', () => {
    const inward = [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '2002:a00:1::',
      'not an address',
    ];
    expect(inward.filter((address) => !isInward(address))).toEqual([]);
    expect(['1.1.1.1', '93.184.216.34', '2606:4700::1111'].filter(isInward)).toEqual([]);
  });

  test('job ids', () => {
    const good = [
      'a',
      'gen_01H',
      'a/b',
      '/a//b/',
      'a?b=c',
      'a#b',
      '100%',
      'a%2Fb',
      '%zz',
      '...',
      'a..b',
      '.a',
      'a.',
      '~;v=1',
      '{id}',
    ];
    expect([...good, "$&$'", 'x'.repeat(256), '%25'.repeat(85)].filter((id) => !isJobId(id))).toEqual([]);
    const bad = ['', 'a b', 'ä', 'x'.repeat(257), 'a\n', 5 as unknown as string];
    const folders = ['.', '..', '../x', 'a/..', 'a/./b', '/..', 'a\\..\\b', '..;/x', 'a/..;v=1'];
    const hidden = [
      '%2e',
      '%2E%2e',
      '.%2e',
      '%252e',
      '%25252e%2e',
      'a%2f..%2fb',
      'a%2f%2e%2e',
      '..%5cx',
      '..%00',
      '.%0a.',
      '..%20',
    ];
    expect([...bad, ...folders, ...hidden].filter(isJobId)).toEqual([]);
  });

  test('an id that cannot be used is told: a person may find the job by it', () => {
    for (const [id, told] of [
      ['a b', '"a b"'],
      [7, '7'],
      ['%2e%2e', '"%2e%2e"'],
    ] as const) {
      const seen = classifyCreate(answer(200, { generation: { id } }), (text) => text);
      expect(seen).toEqual({
        is: 'ambiguous',
        message: `the service accepted the request without a usable job id (it says ${told})`,
      });
    }
  });

  test('an id that only looks like what signs a link is one, and one that holds the key is none', () => {
    const key = 'acme_live_S3cr3tValue123456';
    const classify = (id: string) =>
      classifyCreate(answer(200, { generation: { id, jobId: id } }), makeRedact(key), { holdsKey: makeKeyFinder(key) });
    for (const id of ['x_token=abc', '//host/job?id=7', 'sig=1', 'Bearer_abcdefgh']) {
      expect(classify(id)).toMatchObject({ is: 'accepted', job: { jobId: id } });
    }
    for (const id of [key, `x_token=${key}`, `a-${encodeURIComponent(key)}-b`]) {
      const seen = classify(id);
      expect(seen.is).toBe('ambiguous');
      expect(JSON.stringify(seen)).not.toContain('S3cr3t');
    }
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
    expect(parseRetryAfter('3')).toBe(3000);
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:10 GMT', Date.parse('2026-01-01T00:00:00Z'))).toBe(10_000);
    expect(parseRetryAfter('soon')).toBeNull();
    expect(parseRetryAfter(undefined)).toBeNull();
  });

  test('the key leaves in no spelling', () => {
    const key = 'acme_live_S3cr3t/Value+123456';
    const redact = makeRedact(key);
    const spellings = [key, encodeURIComponent(key), Buffer.from(key).toString('base64'), key.slice(0, 20)];
    for (const spelling of spellings) expect(redact(`x ${spelling} y`)).not.toContain(spelling.slice(0, 16));
    expect(readCredential(key).is).toBe('api-key');
    expect(readCredential('eyJhbGciOi.eyJzdWIi.sig').is).toBe('jwt');
  });
});
