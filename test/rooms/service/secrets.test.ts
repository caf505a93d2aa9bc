import { describe, expect, test } from 'vitest';
import { accountName, makeRedact, readCredential } from '../../../src/service/secrets.ts';

const key = 'acme_live_s3cr"t/+ key~';

describe('the credential in a text', () => {
  test.each([
    key,
    encodeURIComponent(key),
    JSON.stringify(key).slice(1, -1),
    Buffer.from(key).toString('base64'),
    Buffer.from(key).toString('base64').replace(/=+$/, ''),
    Buffer.from(key).toString('base64url'),
    key.slice(0, 16),
  ])('is taken out as %s, wherever it stands', (spelling) => {
    const seen = makeRedact(key)(`<${spelling}> and ${spelling}`);
    expect(seen).not.toContain(spelling);
    expect(seen.replace(/=/g, '')).toBe('<[key]> and [key]');
  });

  test('is taken out whole where it stands whole', () => {
    expect(makeRedact(key)(`${key}${key}x`)).toBe('[key][key]x');
  });

  test('is none where there is none, or one that is a word', () => {
    expect(makeRedact(undefined)('text')).toBe('text');
    expect(makeRedact('sevenxx')('a sevenxx')).toBe('a sevenxx');
    expect(makeRedact('eightxxx')('an eightxxx')).toBe('an [key]');
  });
});

describe('what signs a link in a text', () => {
  test.each([
    ['GET https://cdn.x/a.png?X-Amz-Signature=S1&Expires=1: 403', 'GET https://cdn.x/a.png?… 403'],
    ['//cdn.x/a.png?sig=S1', '//cdn.x/a.png?…'],
    ['https://cdn.x/a#access_token=S1', 'https://cdn.x/a?…'],
    ['https%3A%2F%2Fcdn.x%2Fa.png%3Fsig%3DS1', 'https%3A%2F%2Fcdn.x%2Fa.png%3F…'],
    ['https://user:S1@cdn.x/a', 'https://cdn.x/a'],
    ['a.png?X-Goog-Signature=S1&x=1', 'a.png?X-Goog-Signature=…&x=1'],
    ['Authorization: Bearer S1S1S1S1', 'Authorization: Bearer …'],
  ])('is taken out, whoever it belongs to: %s', (text, seen) => {
    expect(makeRedact(undefined)(text)).toBe(seen);
    expect(makeRedact(key)(seen)).toBe(seen);
  });
});

test.each([
  ['acme_live_x', 'api-key'],
  ['a-b9_live_x', 'api-key'],
  ['_live_x', 'jwt'],
  ['eyJ.acme_live_x', 'jwt'],
  ['acme_test_x', 'jwt'],
])('%s is an %s', (token, is) => {
  expect(readCredential(token)).toEqual({ is, token });
});

describe('who signs in', () => {
  const jwt = (payload: unknown) => `h.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.s`;

  test.each([
    [jwt({ iss: 'https://id', sub: 'me', exp: 1 }), '["https://id","me"]'],
    [jwt({ sub: 'me' }), '["","me"]'],
    [jwt({ iss: 7, sub: 'me' }), '["","me"]'],
  ])('is the same person with each token', (token, name) => {
    expect(accountName(token)).toBe(name);
  });

  test.each([
    key,
    jwt({ iss: 'https://id' }),
    jwt({ sub: 7 }),
    jwt(null),
    'h.no json.s',
    'opaque',
    'a_live_.eyJzdWIiOiJ4In0.s',
  ])('is the credential itself: %s', (token) => {
    expect(accountName(token)).toBe(token);
  });
});
