import { describe, expect, test } from 'vitest';
import { accountOf } from '../../../src/cluster/account-id.ts';
import { checkEngineUrl, showEngine } from '../../../src/cluster/database/engine-url.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';

describe('an account', () => {
  const token = 'booking_live_one';
  const baseUrl = 'https://api.example.com/v1';

  test('is a key at an address', () => {
    const id = accountOf({ token, baseUrl });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(accountOf({ token, baseUrl: `${baseUrl}/` })).toBe(id);
    expect(accountOf({ token: 'booking_live_two', baseUrl })).not.toBe(id);
    expect(accountOf({ token, baseUrl: 'https://api.example.com/v2' })).not.toBe(id);
  });

  test('is the same however its address is spelled', () => {
    for (const spelling of ['https://API.example.com:443/v1/', 'https://api.example.com./v1//', `${baseUrl}?a=1`])
      expect(accountOf({ token, baseUrl: spelling }), spelling).toBe(accountOf({ token, baseUrl }));
  });

  test('stays one person’s while tokens are renewed', () => {
    const signedIn = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
    const me = accountOf({ token: signedIn({ iss: 'a', sub: 'me', exp: 1 }), baseUrl });
    expect(accountOf({ token: signedIn({ iss: 'a', sub: 'me', exp: 2 }), baseUrl })).toBe(me);
    expect(accountOf({ token: signedIn({ iss: 'a', sub: 'you', exp: 1 }), baseUrl })).not.toBe(me);
  });
});

describe('a seal', () => {
  const seal = makeSeal('booking_live_one');

  test('opens what it sealed, also nothing and every letter', () => {
    for (const text of ['', 'https://a.example/x?sig=1', 'ä — 画'.repeat(5000)]) {
      expect(seal.open(seal.seal(text))).toBe(text);
    }
  });

  test('never looks the same twice, and shows nothing of the text', () => {
    const text = 'https://a.example/x?sig=1';
    expect(seal.seal(text).equals(seal.seal(text))).toBe(false);
    expect(seal.seal(text).toString('latin1')).not.toContain('a.example');
  });

  test('tells another key and each damaged byte', () => {
    const sealed = seal.seal('a link');
    expect(makeSeal('booking_live_two').open(sealed)).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      const damaged = Buffer.from(sealed);
      damaged.writeUInt8((damaged.readUInt8(at) + 1) % 256, at);
      expect(seal.open(damaged)).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(seal.open(sealed.subarray(0, length))).toBeUndefined();
    }
  });
});

describe('the address of an engine', () => {
  test.each([
    ['postgres://me:pass-word@db.example:5432/media', 'postgres://me@db.example:5432/media'],
    ['postgresql://db.example/media?password=pass-word&sslmode=require', 'postgresql://db.example/media'],
    ['postgres://me:p%40ss-word@[::1]/media#pass-word', 'postgres://me@[::1]/media'],
    ['postgres://:pass-word@db.example/', 'postgres://db.example/'],
    ['postgres://me:pass-word@db.example:port/media', 'the engine'],
  ])('is shown without what signs in: %s', (given, shown) => {
    expect(showEngine(given)).toBe(shown);
  });

  test.each([
    '',
    'mysql://me:pass-word@db.example/media',
    'me:pass-word@db.example',
    'postgres://me:pass-word@db.example:port/x',
  ])('is refused, and not told with its password: %s', (given) => {
    let error: unknown;
    try {
      checkEngineUrl(given);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ failure: { code: 'MB3705' } });
    expect(JSON.stringify(error) + String(error)).not.toContain('pass-word');
  });
});
