import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { shown } from '../../../src/lock/check-line.ts';
import { good, header, read } from './records.ts';

const output = { path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png' };
const { jobId: _jobId, ...bought } = good;
const intent = { ...bought, state: 'intent', send: 's1' };

function without(field: string, from: object = good): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => name !== field));
}

/** What a reader is told of this one line, without the file's name. */
function told(line: object): string {
  const { diagnostics } = read(`${header}${JSON.stringify(line)}\n`);
  return diagnostics.map(({ message }) => message.replace('campaign.lock.jsonl:2: the line ', '')).join('; ') || 'fine';
}

function nested(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

const about = { fingerprint: '1:aa', job: 'job-1' };

describe('a line is refused, with the reason,', () => {
  const cases: [string, object, string][] = [
    ['no fingerprint', without('fingerprint'), 'has no "fingerprint"'],
    ['no generation', without('generation'), 'has no "generation"'],
    [
      'an address of a number',
      { ...good, address: 7 },
      'has an "address" that is not a text of 1 to 4096 characters without control characters: 7',
    ],
    [
      'an empty address',
      { ...good, address: '' },
      'has an "address" that is not a text of 1 to 4096 characters without control characters: ""',
    ],
    [
      'a long address',
      { ...good, address: 'a'.repeat(4097) },
      'has an "address" that is not a text of 1 to 4096 characters without control characters: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…',
    ],
    [
      'a delete character',
      { ...good, address: 'a\u007f' },
      'has an "address" that is not a text of 1 to 4096 characters without control characters: "a\\u007f"',
    ],
    [
      'a C1 control character',
      { ...good, address: 'a\u009b' },
      'has an "address" that is not a text of 1 to 4096 characters without control characters: "a\\u009b"',
    ],
    [
      'a unit separator',
      { ...good, address: 'a\u001f' },
      'has an "address" that is not a text of 1 to 4096 characters without control characters: "a\\u001f"',
    ],
    ['a kind of two words', { ...good, kind: 'image x' }, 'has a "kind" that is not a kind of generation: "image x"'],
    [
      'a digest with a space at the end',
      { ...good, fingerprint: '1:a ' },
      'has a "fingerprint" that is not a digest of at most 256 characters: "1:a "',
    ],
    [
      'a digest with a space at the front',
      { ...good, fingerprint: ' 1:a' },
      'has a "fingerprint" that is not a digest of at most 256 characters: " 1:a"',
    ],
    [
      'a long digest',
      { ...good, fingerprint: 'a'.repeat(257) },
      'has a "fingerprint" that is not a digest of at most 256 characters: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…',
    ],
    [
      'a key that ends in a tab',
      { ...good, key: 'k\t' },
      'has a "key" that is not 1 to 128 characters of printable ASCII: "k\\t"',
    ],
    [
      'a key that begins with one',
      { ...good, key: '\tk' },
      'has a "key" that is not 1 to 128 characters of printable ASCII: "\\tk"',
    ],
    [
      'a huge count',
      { ...good, generation: 1_000_000_001 },
      'has a "generation" that is not a whole number from 1 to 1000000000: 1000000001',
    ],
    [
      'a count in quotes',
      { ...good, attempt: '1' },
      'has an "attempt" that is not a whole number from 1 to 1000000000: "1"',
    ],
    ['credits in quotes', { ...good, credits: '3' }, 'has "credits" that are not a whole number from 0 up: "3"'],
    ['half a credit', { ...good, credits: 0.5 }, 'has "credits" that are not a whole number from 0 up: 0.5'],
    [
      'a state that nobody knows',
      { ...good, state: 'x' },
      'has a "state" that is not one of intent, unresolved, refused, running, lost, failed, done: "x"',
    ],
    ['the job id .', { ...good, jobId: '.' }, 'has a "jobId" that is not an id of the service: "."'],
    [
      'an error that is a list',
      { ...good, error: [] },
      'has an "error" that is not a text of 1 to 4096 characters: []',
    ],
    [
      'a long error',
      { ...good, error: 'e'.repeat(4097) },
      'has an "error" that is not a text of 1 to 4096 characters: "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee…',
    ],
    [
      'words around a time',
      { ...intent, since: 'at 2030-01-01T00:00:00Z' },
      'has a "since" that is not a time like 2030-01-31T08:00:00.000Z: "at 2030-01-01T00:00:00Z"',
    ],
    [
      'words after a time',
      { ...intent, since: '2030-01-01T00:00:00Z.' },
      'has a "since" that is not a time like 2030-01-31T08:00:00.000Z: "2030-01-01T00:00:00Z."',
    ],
    [
      'a 13th month',
      { ...intent, since: '2030-13-01T00:00:00Z' },
      'has a "since" that is not a time like 2030-01-31T08:00:00.000Z: "2030-13-01T00:00:00Z"',
    ],
    [
      'a fence that is a folder',
      { ...intent, fence: '..' },
      'has a "fence" that is not an id of the service, or empty: ".."',
    ],
    ['outputs that are none', { ...good, outputs: 'a.png' }, 'has "outputs" that are not a list: "a.png"'],
    [
      'an output that is a text',
      { ...good, outputs: ['a.png'] },
      'has something in "outputs" that is not an object: "a.png"',
    ],
    ['an output that is a list', { ...good, outputs: [[]] }, 'has something in "outputs" that is not an object: []'],
    ['an output that is null', { ...good, outputs: [null] }, 'has something in "outputs" that is not an object: null'],
    ['an output without a path', { ...good, outputs: [without('path', output)] }, 'has no "path"'],
    [
      'a long digest of a file',
      { ...good, outputs: [{ ...output, sha256: '0'.repeat(65) }] },
      'has a "sha256" that is not 64 hexadecimal digits: "00000000000000000000000000000000000000000000000000000000000000000"',
    ],
    [
      'capital digits',
      { ...good, outputs: [{ ...output, sha256: 'A'.repeat(64) }] },
      `has a "sha256" that is not 64 hexadecimal digits: "${'A'.repeat(64)}"`,
    ],
    [
      'a type with a space before it',
      { ...good, outputs: [{ ...output, type: ' image/png' }] },
      'has a "type" that is not a media type: " image/png"',
    ],
    [
      'a type with a space after it',
      { ...good, outputs: [{ ...output, type: 'image/png ' }] },
      'has a "type" that is not a media type: "image/png "',
    ],
    [
      'minus one byte',
      { ...good, outputs: [{ ...output, bytes: -1 }] },
      'has "bytes" that are not a whole number from 0 up: -1',
    ],
    ['an address of a file that is none', { ...good, url: 'cdn' }, 'has a "url" that is not a web address: "cdn"'],
    ['an address that is a number', { ...good, url: 7 }, 'has a "url" that is not a web address: 7'],
    [
      'an address with a line end',
      { ...good, url: 'https://a.example/\n' },
      'has a "url" that is not a web address: "https://a.example/\\n"',
    ],
    [
      'an address with a space before it',
      { ...good, url: ' https://a.example/' },
      'has a "url" that is not a web address: " https://a.example/"',
    ],
    [
      'a file on this machine',
      { ...good, url: 'file:///etc/passwd' },
      'has a "url" that is not a web address: "file:///etc/passwd"',
    ],
    [
      'a user in an address',
      { ...good, url: 'https://u@a.example/' },
      'has a "url" that is not a web address: "https://u@a.example/"',
    ],
    [
      'a password in an address',
      { ...good, url: 'https://:p@a.example/' },
      'has a "url" that is not a web address: "https://:p@a.example/"',
    ],
    ['null as a request', { ...good, request: null }, 'has a "request" that is not an object: null'],
    ['a text as a request', { ...good, request: 'x' }, 'has a "request" that is not an object: "x"'],
    [
      'a request of 66 levels',
      { ...good, request: nested(66) },
      'has a "request" that is nested deeper than 64 levels',
    ],
    ['earlier that is no list', { ...good, earlier: {} }, 'has an "earlier" that is not a list: {}'],
    ['decisions that are a text', { ...good, decisions: 'pin' }, 'has "decisions" that are not an object: "pin"'],
    ['a pin that is true', { ...good, decisions: { pin: true } }, 'has a "pin" that is not an object: true'],
    [
      'a pin of revision 0',
      { ...good, decisions: { pin: { revision: 0 } } },
      'has a "revision" that is not a whole number from 1 to 1000000000: 0',
    ],
    [
      'a pin of no digest',
      { ...good, decisions: { pin: { revision: 1, fingerprint: 'a b' } } },
      'has a "fingerprint" that is not a digest of at most 256 characters: "a b"',
    ],
    [
      'a verdict that is a text',
      { ...good, decisions: { verdicts: 'picked' } },
      'has "verdicts" that are not a list: "picked"',
    ],
    [
      'a verdict that is no verdict',
      { ...good, decisions: { verdicts: [{ ...about, is: 'fine', revision: 1 }] } },
      'has an "is" that is not one of picked, rejected: "fine"',
    ],
    [
      'a verdict with a control character',
      { ...good, decisions: { verdicts: [{ ...about, is: 'picked', note: 'a\u001bb', revision: 1 }] } },
      'has a "note" that is not a text of 1 to 500 characters without control characters: "a\\u001bb"',
    ],
    ['one acceptance', { ...good, decisions: { accepted: {} } }, 'has an "accepted" that is not a list: {}'],
    [
      'an acceptance of nothing',
      { ...good, decisions: { accepted: [{ fingerprint: 'a', revision: 1 }] } },
      'has no "wanted"',
    ],
    [
      'an acceptance of revision 0',
      { ...good, decisions: { accepted: [{ wanted: 'b', fingerprint: 'a', revision: 0 }] } },
      'has a "revision" that is not a whole number from 1 to 1000000000: 0',
    ],
    ['one decided send', { ...good, decisions: { sends: 's1' } }, 'has "sends" that are not a list: "s1"'],
    [
      'a decided send of no form',
      { ...good, decisions: { sends: ['s1', 's 2'] } },
      'has something in "sends" that is not the id of a send, of at most 64 characters: "s 2"',
    ],
    ['one closed send', { ...good, closes: {} }, 'has "closes" that are not a list: {}'],
    [
      'a closed send that is a number',
      { ...good, closes: [7] },
      'has something in "closes" that is not the id of a send, of at most 64 characters: 7',
    ],
    [
      'an empty id of a send',
      { ...good, closes: [''] },
      'has something in "closes" that is not the id of a send, of at most 64 characters: ""',
    ],
    [
      'a long id of a closed send',
      { ...good, closes: ['s'.repeat(65)] },
      `has something in "closes" that is not the id of a send, of at most 64 characters: "${'s'.repeat(65)}"`,
    ],
    [
      'a send that is a number',
      { ...intent, send: 7 },
      'has a "send" that is not the id of a send, of at most 64 characters: 7',
    ],
    [
      'a send with a space before it',
      { ...intent, send: ' s' },
      'has a "send" that is not the id of a send, of at most 64 characters: " s"',
    ],
    [
      'a send with a line end',
      { ...intent, send: 's\n' },
      'has a "send" that is not the id of a send, of at most 64 characters: "s\\n"',
    ],
    [
      'a long id of a send',
      { ...intent, send: 's'.repeat(65) },
      'has a "send" that is not the id of a send, of at most 64 characters: "sssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"',
    ],
    [
      'a digest of two words',
      { ...intent, digest: 'a b' },
      'has a "digest" that is not a digest of at most 256 characters: "a b"',
    ],
    [
      'an account of two words',
      { ...intent, account: 'a b' },
      'has an "account" that is not a digest of at most 256 characters: "a b"',
    ],
    [
      'an earlier purchase of no kind',
      { ...good, earlier: [{ ...good, kind: 'an image' }] },
      'has a "kind" that is not a kind of generation: "an image"',
    ],
    ['a mark that is false', { ...good, forgotten: false }, 'has a "forgotten" that is not true: false'],
    ['a mark in words', { ...intent, writtenOff: 'yes' }, 'has a "writtenOff" that is not true: "yes"'],
    [
      'a field of a send of no form, also where there is a job',
      { ...good, fence: '..' },
      'has a "fence" that is not an id of the service, or empty: ".."',
    ],
    [
      'more bytes than are exact',
      { ...good, outputs: [{ ...output, bytes: 2 ** 53 }] },
      'has "bytes" that are not a whole number from 0 up: 9007199254740992',
    ],
    ['a take of 0', { ...good, take: 0 }, 'has a "take" that is not a whole number from 1 to 1000000000: 0'],
  ];

  it.each(cases)('%s', (_name, line, reason) => {
    expect(told(line)).toBe(reason);
  });
});

describe('a line is taken', () => {
  const cases: [string, object][] = [
    ['with an address as long as it may be', { ...good, address: 'a'.repeat(4096) }],
    ['with a space and the first letter above the control characters', { ...good, address: 'a \u00a0~' }],
    ['with an error of any kind', { ...good, state: 'failed', error: 'nö\u0007' }],
    ['with an id as long as it may be', { ...good, jobId: 'j'.repeat(256), recordId: 'r'.repeat(256) }],
    ['with the largest count', { ...good, generation: 1_000_000_000 }],
    ['with credits of 0', { ...good, credits: 0 }],
    ['with a key with a space in it', { ...good, key: 'a key~' }],
    ['with a time without a fraction', { ...intent, since: '2030-01-01T00:00:00Z' }],
    ['with an empty fence', { ...intent, fence: '', resent: true }],
    ['with a web address of either protocol', { ...good, url: 'http://127.0.0.1:1/x' }],
    ['with a drive-like name inside a folder', { ...good, outputs: [{ ...output, path: 'a/C:x.png' }] }],
    ['with no outputs and an empty file', { ...good, outputs: [{ ...output, bytes: 0 }] }],
    ['with a request of 64 levels', { ...good, request: nested(64) }],
    ['with fields of a job where there is none', { ...intent, recordId: 'rec', url: 'https://a.example/' }],
    ['with a fence where there is a job', { ...good, fence: 'job-0' }],
    [
      'with fields of a send where there is a job',
      { ...good, send: 's1', account: 'a1', digest: 'd1', writtenOff: true, resent: true },
    ],
    ['with a file of 3 GB', { ...good, outputs: [{ ...output, bytes: 3 * 1024 ** 3 }] }],
    ['with fields of a newer version', { ...good, colour: 'red', outputs: [{ ...output, colour: 'red' }] }],
    ['with an id of a send as long as it may be', { ...intent, send: `-${'9'.repeat(63)}`, account: 'a1' }],
    ['with no send that is closed, or decided about', { ...good, closes: [], decisions: { sends: [] } }],
    ['with decisions of a newer version', { ...good, decisions: { gate: 7 } }],
  ];

  it.each(cases)('%s', (_name, line) => {
    expect(told(line)).toBe('fine');
  });

  it('without the fields of a job where there is none', () => {
    const [step] = read(
      `${header}${JSON.stringify({ ...intent, recordId: 'rec', url: 'https://a.example/' })}\n`,
    ).lock.steps.values();
    expect(step?.purchases).toEqual([without('kind', without('address', intent))]);
  });

  it('without the fields of a send where there is a job', () => {
    const [one] = read(
      `${header}${JSON.stringify({ ...good, send: 's1', account: 'a1', resent: true })}\n`,
    ).lock.steps.values();
    expect(one?.purchases).toEqual([without('kind', without('address', good))]);
  });

  it('with the fields that are not known put aside', () => {
    const outputs = [{ ...output, colour: 'red' }];
    const pin = { revision: 1, colour: 'red' };
    const [one] = read(
      `${header}${JSON.stringify({ ...good, colour: 'red', outputs, decisions: { pin, colour: 'red' } })}\n`,
    ).lock.steps.values();
    const unknown = { unknownFields: { colour: 'red' } };
    const known = without('kind', without('address', good));
    expect(one?.purchases).toEqual([{ ...known, outputs: [{ ...output, ...unknown }], ...unknown }]);
    expect(one?.decisions).toEqual({ pin: { revision: 1, ...unknown }, ...unknown });
  });
});

describe('a value that is shown in a message', () => {
  it.each([
    ['nothing', undefined, 'nothing'],
    ['a text', 'a', '"a"'],
    ['what is not plain ASCII', 'ü\u009b😀', '"\\u00fc\\u009b\\ud83d\\ude00"'],
    ['80 characters', 'a'.repeat(78), `"${'a'.repeat(78)}"`],
    ['more than 80', 'a'.repeat(79), `"${'a'.repeat(78)}…`],
  ])('%s', (_name, value, expected) => {
    expect(shown(value)).toBe(expected);
  });
});
