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
const field =
  (name: string, of: object = good) =>
  (value: Json) => ({ ...of, [name]: value });
const outputField = (name: string) => (value: Json) => ({ ...good, outputs: [{ ...output, [name]: value }] });
const decision = (name: string) => (value: Json) => ({ ...good, decisions: { [name]: value } });

describe('a line is refused, with the reason and the value,', () => {
  const long = (count: number, letter = 'a') => letter.repeat(count);
  const rules: [what: string, line: (value: Json) => object, values: Json[]][] = [
    [
      'an "address" that is not a text of 1 to 4096 characters without control characters',
      field('address'),
      [7, '', long(4097), 'a\u007f', 'a\u009b', 'a\u001f'],
    ],
    ['a "kind" that is not a kind of generation', field('kind'), ['image x', '../x']],
    ['a "kind" that is not a kind of generation', (kind) => ({ ...good, earlier: [{ ...good, kind }] }), ['an image']],
    [
      'a "fingerprint" that is not a digest of at most 256 characters',
      field('fingerprint'),
      ['1:a ', ' 1:a', long(257)],
    ],
    ['a "digest" that is not a digest of at most 256 characters', field('digest', intent), ['a b']],
    ['an "account" that is not a digest of at most 256 characters', field('account', intent), ['a b']],
    ['a "key" that is not 1 to 128 characters of printable ASCII', field('key'), ['k\t', '\tk', long(129, 'k'), 'ü']],
    ['a "generation" that is not a whole number from 1 to 1000000000', field('generation'), [0, 1_000_000_001]],
    ['an "attempt" that is not a whole number from 1 to 1000000000', field('attempt'), ['1', 1.5]],
    ['a "take" that is not a whole number from 1 to 1000000000', field('take'), [0]],
    ['"credits" that are not a whole number from 0 up', field('credits'), ['3', 0.5, -1]],
    [
      'a "state" that is not one of intent, unresolved, refused, running, lost, failed, done',
      field('state'),
      ['x', 'constructor'],
    ],
    ['a "jobId" that is not an id of the service', field('jobId'), ['.', '..', 'a b', long(257), 7]],
    ['an "error" that is not a text of 1 to 4096 characters', field('error'), [[], long(4097, 'e')]],
    [
      'a "since" that is not a time like 2030-01-31T08:00:00.000Z',
      field('since', intent),
      ['at 2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z.', '2030-13-01T00:00:00Z'],
    ],
    ['a "fence" that is not an id of the service, or empty', field('fence', intent), ['..']],
    // Also where there is a job.
    ['a "fence" that is not an id of the service, or empty', field('fence'), ['..']],
    ['"outputs" that are not a list', field('outputs'), ['a.png']],
    ['something in "outputs" that is not an object', (one) => ({ ...good, outputs: [one] }), ['a.png', [], null]],
    ['a "sha256" that is not 64 hexadecimal digits', outputField('sha256'), ['00', long(65, '0'), long(64, 'A')]],
    ['a "type" that is not a media type', outputField('type'), [' image/png', 'image/png ']],
    ['"bytes" that are not a whole number from 0 up', outputField('bytes'), [-1, 2 ** 53]],
    [
      'a "url" that is not a web address',
      field('url'),
      [
        ...['cdn', 7, 'https://a.example/\n', ' https://a.example/'],
        ...['file:///etc/passwd', 'https://u@a.example/', 'https://:p@a.example/'],
      ],
    ],
    ['a "request" that is not an object', field('request'), [null, 'x', []]],
    ['an "earlier" that is not a list', field('earlier'), [{}]],
    ['something in "earlier" that is not an object', (one) => ({ ...good, earlier: [one] }), [7]],
    ['"decisions" that are not an object', field('decisions'), ['pin']],
    ['a "pin" that is not an object', decision('pin'), [true]],
    [
      'a "revision" that is not a whole number from 1 to 1000000000',
      (revision) => ({ ...good, decisions: { pin: { revision } } }),
      [0],
    ],
    [
      'a "fingerprint" that is not a digest of at most 256 characters',
      (fingerprint) => ({ ...good, decisions: { pin: { revision: 1, fingerprint } } }),
      ['a b'],
    ],
    ['"verdicts" that are not a list', decision('verdicts'), ['picked']],
    [
      'an "is" that is not one of picked, rejected',
      (is) => ({ ...good, decisions: { verdicts: [{ ...about, is, revision: 1 }] } }),
      ['fine'],
    ],
    [
      'a "note" that is not a text of 1 to 500 characters without control characters',
      (note) => ({ ...good, decisions: { verdicts: [{ ...about, is: 'picked', note, revision: 1 }] } }),
      ['a\u001bb'],
    ],
    ['an "accepted" that is not a list', decision('accepted'), [{}]],
    [
      'a "revision" that is not a whole number from 1 to 1000000000',
      (revision) => ({ ...good, decisions: { accepted: [{ wanted: 'b', fingerprint: 'a', revision }] } }),
      [0],
    ],
    ['"sends" that are not a list', decision('sends'), ['s1']],
    [
      'something in "sends" that is not the id of a send, of at most 64 characters',
      (one) => ({ ...good, decisions: { sends: ['s1', one] } }),
      ['s 2'],
    ],
    ['"closes" that are not a list', field('closes'), [{}]],
    [
      'something in "closes" that is not the id of a send, of at most 64 characters',
      (one) => ({ ...good, closes: [one] }),
      [7, '', long(65, 's')],
    ],
    [
      'a "send" that is not the id of a send, of at most 64 characters',
      field('send', intent),
      [7, ' s', 's\n', long(65, 's')],
    ],
    ['a "forgotten" that is not true', field('forgotten'), [false]],
    ['a "writtenOff" that is not true', field('writtenOff', intent), ['yes']],
  ];

  it.each(rules.flatMap(([what, line, values]) => values.map((value) => ({ what, value, line }))))(
    '$what: $value',
    ({ what, value, line }) => {
      expect(told(line(value))).toBe(`has ${what}: ${shown(value)}`);
    },
  );

  it.each([
    ['no "fingerprint"', without('fingerprint')],
    ['no "generation"', without('generation')],
    ['no "path"', { ...good, outputs: [without('path', output)] }],
    ['no "wanted"', { ...good, decisions: { accepted: [{ fingerprint: 'a', revision: 1 }] } }],
    ['a "request" that is nested deeper than 64 levels', { ...good, request: nested(66) }],
  ])('%s', (what, line) => {
    expect(told(line)).toBe(`has ${what}`);
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
