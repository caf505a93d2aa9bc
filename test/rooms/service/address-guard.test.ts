import type { LookupAddress, lookup } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { judgeLink, makeCheckedLookup, ownHostOf, RefusedAddressError } from '../../../src/service/address-guard.ts';

const inward = { address: '10.0.0.7', family: 4 };
const four = { address: '93.184.216.34', family: 4 };
const six = { address: '2606:2800:220:1::1', family: 6 };

/** What a connection is told of a name with these addresses. */
function look(found: LookupAddress[] | Error, all: boolean): Promise<unknown[]> {
  const system = (_host: string, options: { all: true }, done: (error: Error | null, found?: unknown) => void) => {
    expect(options.all).toBe(true);
    if (found instanceof Error) done(found);
    else done(null, found);
  };
  const checked = makeCheckedLookup(system as unknown as typeof lookup);
  return new Promise((resolve) => checked('files.example', { all }, (...answer) => resolve(answer)));
}

describe('the addresses of a name', () => {
  test('are given as they are asked for', async () => {
    expect(await look([six, four], true)).toEqual([null, [six, four]]);
    expect(await look([six, four], false)).toEqual([null, six.address, 6]);
  });

  test.each([
    ['one inward', [inward], 'the link https://files.example leads to an address that is not public'],
    ['the first inward', [inward, four], 'the link https://files.example leads to an address that is not public'],
    ['the last inward', [four, six, inward], 'the link https://files.example leads to an address that is not public'],
    ['none', [], 'files.example has no address'],
  ])('are refused: %s', async (_name, found, message) => {
    for (const all of [true, false]) {
      const [error, address] = await look(found, all);
      expect(error).toBeInstanceOf(RefusedAddressError);
      expect([(error as Error).message, address]).toEqual([message, '']);
    }
  });

  test('that cannot be found now are no refusal', async () => {
    const error = new Error('EAI_AGAIN');
    expect(await look(error, true)).toEqual([error, '']);
  });
});

describe('a link', () => {
  test.each([
    ['nonsense', 'the link is not a URL'],
    ['https://user@cdn.example/x', 'the link to cdn.example carries a login'],
    ['https://:pass@cdn.example/x', 'the link to cdn.example carries a login'],
    ['http://cdn.example:81/x', 'the link http://cdn.example:81 is not https'],
    ['https://[::1]:9/x', 'the link https://[::1]:9 leads to an address that is not public'],
  ])('to %s is refused: %s', (text, message) => {
    expect(judgeLink(text, undefined)).toEqual({ is: 'refused', message });
    const own = /login|URL/.test(message) ? '' : '; only public https links and links to localhost are followed';
    expect(judgeLink(text, 'localhost')).toEqual({ is: 'refused', message: `${message}${own}` });
  });

  test.each([
    ['https://cdn.example/x', false],
    ['https://1.1.1.1/x', false],
    ['http://localhost:81/x', true],
    ['https://localhost/x', true],
  ])('to %s may be followed; to the own host: %s', (text, isOwn) => {
    expect(judgeLink(text, 'localhost')).toMatchObject({ is: 'allowed', isOwn, url: new URL(text) });
  });
});

test.each([
  ['http://127.0.0.1:9/api/v1', '127.0.0.1'],
  ['http://localhost/api/v1', 'localhost'],
  ['https://api.example/api/v1', undefined],
])('the own host of %s is %s', (baseUrl, host) => {
  expect(ownHostOf(baseUrl)).toBe(host);
});
