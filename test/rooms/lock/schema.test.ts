import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Schema, withoutNotes } from '../../../schemas/schema.ts';
import type { Json } from '../../../src/ground/json.ts';
import { shown } from '../../../src/lock/check-line.ts';
import { joinParts, lineOf } from '../../../src/lock/join.ts';
import type { LockLine, Purchase } from '../../../src/lock/record.ts';
import { writeLine, writeLock } from '../../../src/lock/write.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { undescribed } from '../../rig/undescribed.ts';
import { golden, good, header, lock, purchase, read } from './records.ts';

const recordOfRun = purchase.map((one) => joinParts('hero', [{ kind: 'image', purchases: [one] }]));

const open = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8')) as Schema;
const schema = open('lock.schema.json') as { $defs: Record<string, { properties: object }> };
const validate = new Ajv2020({ allErrors: true, strictRequired: false }).compile(schema);
const purchaseFields = Object.keys(schema.$defs.purchase?.properties ?? {});
const lineFields = ['address', ...purchaseFields, 'decisions', 'earlier', 'closes'];

/** A purchase that has every field that its state may have. */
const output = { path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png', edited: true as const };
const told = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k', take: 1, request: { prompt: 'x' } };
const full: { send: Purchase; refusal: Purchase; job: Purchase } = {
  send: {
    ...{ ...told, kind: 'music', state: 'unresolved', send: 's1', account: 'a1', digest: 'd1', fence: 'job-0' },
    ...{ since: '2030-01-01T00:00:00Z', resent: true, keyKnown: true, writtenOff: true, forgotten: true, error: 'no' },
  },
  refusal: { ...told, kind: 'music', state: 'refused', decided: true, error: 'no' },
  job: {
    ...{ ...told, kind: 'music', state: 'done', jobId: 'job-1', credits: 3, outputs: [output], revision: 2 },
    ...{ recordId: 'rec', url: 'https://a.example/', forgotten: true },
  },
};
const fullLine: LockLine = {
  ...{ ...full.send, address: 'hero', kind: 'image', earlier: [full.job, full.refusal, full.send], closes: ['s2'] },
  decisions: {
    pin: { fingerprint: '1:aa', revision: 1 },
    accepted: [{ wanted: '1:bb', fingerprint: '1:aa', revision: 1 }],
    verdicts: [{ fingerprint: '1:aa', job: 'job-1', is: 'picked', note: 'the warm one', revision: 1 }],
    sends: ['s3'],
  },
};

/** What a schema cannot say, and the reader does: ids that mean folders, days that are none, logins, depth. */
const crossing = /"(jobId|recordId)" that is not an id|"fence" that is not an id|"since"|"url"|"request"/;

describe('the schema', () => {
  forAll([lock], 50)('accepts every line that is written', (value) => {
    for (const line of `${writeLock(value)}${golden}`.trimEnd().split('\n')) {
      expect(validate(JSON.parse(line)), `${line} ${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });

  forAll([recordOfRun], 50)('accepts every line of a run', (record) => {
    for (const closes of [{}, { closes: ['s1', 's2'] }]) {
      const line = writeLine({ ...lineOf(record), ...closes } as LockLine);
      expect(validate(JSON.parse(line)), `${line} ${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });

  it('is what the reader goes by, for lines with any mistake', () => {
    const odd = fc.oneof(
      fc.constantFrom<Json>('', 'a b', '..', '.', 'x', 7, 0, -1, 0.5, 1e9 + 1, 2 ** 53, null, true, false),
      fc.constantFrom<Json>([], {}, [7], [{}], 'done', 'intent', 'job-1', 'a\u007f', '2030-13-01T00:00:00Z'),
      fc.constantFrom<Json>('é'.repeat(300), 'a'.repeat(65), 'a'.repeat(129), 'a'.repeat(257), 'a'.repeat(4097)),
    );
    const lines: Json[] = [fullLine, { ...fullLine, ...full.job }, good].map((line) =>
      JSON.parse(JSON.stringify(line)),
    );
    const seen = { right: 0, wrong: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...lines), fc.nat(), odd, fc.boolean(), (line, at, value, drops) => {
        const mutated = mutate(line, { at, value, drops });
        const { diagnostics } = read(`${header}${JSON.stringify(mutated)}\n`);
        const said = diagnostics.find(({ code }) => code === 'MB2001')?.message;
        const isRight = validate(mutated);
        seen[isRight ? 'right' : 'wrong'] += 1;
        if (isRight && said !== undefined) expect(said).toMatch(crossing);
        else expect(said === undefined, `${JSON.stringify(mutated)}: ${said}`).toBe(isRight);
      }),
      { numRuns: runs(3000) },
    );
    expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(runs(3000) / 10);
  });

  it('has the fields of a line in the order in which they are written, and a line has all of them', () => {
    const written = JSON.parse(writeLine(fullLine)) as LockLine;
    expect(validate(written), JSON.stringify(validate.errors)).toBe(true);
    expect(Object.keys(written)).toEqual(lineFields.filter((field) => field in fullLine));
    expect(written).toEqual(fullLine);
    const [job, ...others] = written.earlier ?? [];
    expect(Object.keys(job ?? {})).toEqual(purchaseFields.filter((field) => field in full.job));
    expect(new Set([job, ...others].flatMap((one) => Object.keys(one ?? {})))).toEqual(new Set(purchaseFields));
  });

  it('has no field that a join loses', () => {
    for (const { kind, ...one } of Object.values(full)) {
      const again = joinParts('hero', [
        { kind: 'image', purchases: [one] },
        { kind: 'image', purchases: [one] },
      ]);
      expect(again.purchases).toEqual([one]);
    }
  });

  it('is made from the base, and nothing of our own notes is published', () => {
    expect(schema, 'run `npm run generate` and commit the schema').toEqual(withoutNotes(open('lock.base.json')));
  });

  it('describes every property', () => {
    expect(undescribed(schema, /\/(if|then)\//)).toEqual([]);
  });
});

/** The same line with one value replaced, or taken out. */
function mutate(line: Json, how: { at: number; value: Json; drops: boolean }): Json {
  const copy = structuredClone(line);
  const places: [parent: { [key: string]: Json }, key: string][] = [];
  const walk = (parent: Json) => {
    if (typeof parent !== 'object' || parent === null) return;
    for (const [key, item] of Object.entries(parent)) {
      places.push([parent as { [key: string]: Json }, key]);
      walk(item);
    }
  };
  walk(copy);
  const [parent, key] = places[how.at % places.length] ?? [];
  if (parent === undefined || key === undefined) throw new Error('nothing to change');
  if (how.drops && !Array.isArray(parent)) delete parent[key];
  else parent[key] = how.value;
  return copy;
}

describe('line rules', () => {
  const output = { path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png' };
  const { jobId: _jobId, ...bought } = good;
  const intent = { ...bought, state: 'intent', send: 's1' };

  function without(field: string, from: object = good): object {
    return Object.fromEntries(Object.entries(from).filter(([name]) => name !== field));
  }

  /** What a reader is told of this one line, without the file's name. */
  function told(line: object): string {
    const { diagnostics } = read(`${header}${JSON.stringify(line)}\n`);
    return (
      diagnostics.map(({ message }) => message.replace('campaign.lock.jsonl:2: the line ', '')).join('; ') || 'fine'
    );
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

  describe('a line is refused, with the reason and the value,', () => {
    const long = (count: number, letter = 'a') => letter.repeat(count);
    const rules: [what: string, line: (value: Json) => object, values: Json[]][] = [
      [
        'an "address" that is not a string of 1 to 4096 characters without control characters',
        field('address'),
        [7, '', long(4097), 'a\u007f', 'a\u009b', 'a\u001f'],
      ],
      ['a "kind" that is not a kind of generation', field('kind'), ['image x', '../x']],
      [
        'a "fingerprint" that is not a digest of at most 256 characters',
        field('fingerprint'),
        ['1:a ', ' 1:a', long(257)],
      ],
      ['a "key" that is not 1 to 128 characters of printable ASCII', field('key'), ['k\t', '\tk', long(129, 'k'), 'ü']],
      ['a "generation" that is not a whole number from 1 to 1000000000', field('generation'), [0, 1_000_000_001]],
      ['"credits" that are not a whole number from 0 up', field('credits'), ['3', 0.5, -1]],
      [
        'a "state" that is not one of intent, unresolved, refused, running, lost, failed, done',
        field('state'),
        ['x', 'constructor'],
      ],
      ['a "jobId" that is not an id that the service assigned', field('jobId'), ['.', '..', 'a b', long(257), 7]],
      ['an "error" that is not a string of 1 to 4096 characters', field('error'), [[], long(4097, 'e')]],
      [
        'a "since" that is not a time like 2030-01-31T08:00:00.000Z',
        field('since', intent),
        ['at 2030-01-01T00:00:00Z', '2030-01-01T00:00:00Z.', '2030-13-01T00:00:00Z'],
      ],
      ['a "fence" that is not an id that the service assigned, or empty', field('fence', intent), ['..']],
      // Also where there is a job.
      ['a "fence" that is not an id that the service assigned, or empty', field('fence'), ['..']],
      ['"outputs" that are not a list', field('outputs'), ['a.png']],
      ['an item of "outputs" that is not an object', (one) => ({ ...good, outputs: [one] }), ['a.png', [], null]],
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
      [
        'an "is" that is not one of picked, rejected',
        (is) => ({ ...good, decisions: { verdicts: [{ ...about, is, revision: 1 }] } }),
        ['fine'],
      ],
      [
        'a "note" that is not a string of 1 to 500 characters without control characters',
        (note) => ({ ...good, decisions: { verdicts: [{ ...about, is: 'picked', note, revision: 1 }] } }),
        ['a\u001bb'],
      ],
      ['"closes" that are not a list', field('closes'), [{}]],
      [
        'an item of "closes" that is not the id of a create request, of at most 64 characters',
        (one) => ({ ...good, closes: [one] }),
        [7, '', long(65, 's')],
      ],
      [
        'a "send" that is not the id of a create request, of at most 64 characters',
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
      ['no "path"', { ...good, outputs: [without('path', output)] }],
      ['no "wanted"', { ...good, decisions: { accepted: [{ fingerprint: 'a', revision: 1 }] } }],
      ['a "request" that is nested deeper than 64 levels', { ...good, request: nested(66) }],
    ])('%s', (what, line) => {
      expect(told(line)).toBe(`has ${what}`);
    });
  });

  describe('a line is taken', () => {
    const cases: [string, object][] = [
      ['with a space and the first letter above the control characters', { ...good, address: 'a \u00a0~' }],
      ['with an error of any kind', { ...good, state: 'failed', error: 'nö\u0007' }],
      ['with an empty fence', { ...intent, fence: '', resent: true }],
      ['with a web address of either protocol', { ...good, url: 'http://127.0.0.1:1/x' }],
      ['with a drive-like name inside a folder', { ...good, outputs: [{ ...output, path: 'a/C:x.png' }] }],
      ['with a request of 64 levels', { ...good, request: nested(64) }],
      [
        'with fields of a send where there is a job',
        { ...good, send: 's1', account: 'a1', digest: 'd1', writtenOff: true, resent: true },
      ],
      ['with fields of a newer version', { ...good, colour: 'red', outputs: [{ ...output, colour: 'red' }] }],
      ['with an id of a send as long as it may be', { ...intent, send: `-${'9'.repeat(63)}`, account: 'a1' }],
      ['with no send that is closed, or decided about', { ...good, closes: [], decisions: { sends: [] } }],
      ['with decisions of a newer version', { ...good, decisions: { gate: 7 } }],
    ];

    it.each(cases)('%s', (_name, line) => {
      expect(told(line)).toBe('fine');
    });

    const recordOf = (line: object) => [...read(`${header}${JSON.stringify(line)}\n`).lock.steps.values()][0];
    const known = without('kind', without('address', good));

    it('without the fields of a job where there is none', () => {
      const step = recordOf({ ...intent, recordId: 'rec', url: 'https://a.example/' });
      expect(step?.purchases).toEqual([without('kind', without('address', intent))]);
    });

    it('without the fields of a send where there is a job', () => {
      expect(recordOf({ ...good, send: 's1', account: 'a1', resent: true })?.purchases).toEqual([known]);
    });

    it('with the fields that are not known put aside', () => {
      const outputs = [{ ...output, colour: 'red' }];
      const pin = { revision: 1, colour: 'red' };
      const one = recordOf({ ...good, colour: 'red', outputs, decisions: { pin, colour: 'red' } });
      const unknown = { unknownFields: { colour: 'red' } };
      expect(one?.purchases).toEqual([{ ...known, outputs: [{ ...output, ...unknown }], ...unknown }]);
      expect(one?.decisions).toEqual({ pin: { revision: 1, ...unknown }, ...unknown });
    });
  });

  it.each([
    ['nothing', undefined, 'nothing'],
    ['what is not plain ASCII', 'ü\u009b😀', '"\\u00fc\\u009b\\ud83d\\ude00"'],
    ['more than 80', 'a'.repeat(79), `"${'a'.repeat(78)}…`],
  ])('a value that is shown in a message: %s', (_name, value, expected) => {
    expect(shown(value)).toBe(expected);
  });
});
