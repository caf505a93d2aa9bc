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

  test('of a token is known by its first twelve characters', () => {
    const redact = makeRedact('abcdefghijklmnopqrstuvwxyz');
    expect(redact('abcdefghijkl!')).toBe('[key]!');
    expect(redact('abcdefghijk!')).toBe('abcdefghijk!');
  });

  test('is none where there is none, or one that is a word', () => {
    expect(makeRedact(undefined)('text')).toBe('text');
    expect(makeRedact('sevenxx')('a sevenxx')).toBe('a sevenxx');
    expect(makeRedact('eightxxx')('an eightxxx')).toBe('an [key]');
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
