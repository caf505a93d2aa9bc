import { describe, expect, it } from 'vitest';
import type { Position } from '../../../src/ground/diagnostic.ts';
import { writeHeader } from '../../../src/lock/write.ts';
import { good, header, read } from './records.ts';

const line = `${JSON.stringify(good)}\n`;
const job = (jobId: string, facts: object = {}) => `${JSON.stringify({ ...good, jobId, ...facts })}\n`;

/** Each as text: code, severity, place with its offsets, message; then its hints. */
function told(text: string | Buffer): string[] {
  const at = ({ line: row, column, offset }: Position) => `${row}:${column} (${offset})`;
  return read(text).diagnostics.flatMap(({ code, severity, message, place, hint = [] }) => [
    `${code} ${severity}${place === undefined ? '' : ` ${at(place.start)} to ${at(place.end)}`}: ${message}`,
    ...[hint].flat().map((one) => (typeof one === 'string' ? one : `${one.to}: ${JSON.stringify(one.run)}`)),
  ]);
}

describe('what a reader is told about a file, to the letter:', () => {
  it('a damaged line, with its place in characters', () => {
    expect(told(`${header}${line.replace('hero@de', 'ü')}{"x\n`)).toMatchInlineSnapshot(`
      [
        "MB2001 error 3:1 (222) to 3:4 (225): campaign.lock.jsonl:3: the line is not JSON: "{\\"x"",
        "Nothing was sent; to restore the file: {"shell":["git","restore","campaign.lock.jsonl"]}",
        "or repair this line by hand",
      ]
    `);
  });

  it('no header', () => {
    expect(told(line)).toMatchInlineSnapshot(`
      [
        "MB2001 error 1:1 (0) to 1:1 (0): campaign.lock.jsonl:1: the file has records but no header line, so its version is not known",
        "Nothing was sent; to restore the file: {"shell":["git","restore","campaign.lock.jsonl"]}",
        "or insert {"mediabatch":"lock","version":2} as the first line of the file",
      ]
    `);
  });

  it('two services, whichever comes first', () => {
    const two = (a: string, b: string) =>
      `${writeHeader({ version: 2, service: a })}${line}${'\n'.repeat(8)}${writeHeader({ version: 2, service: b })}`;
    expect(told(two('b2', 'a1'))).toMatchInlineSnapshot(`
      [
        "MB2003 error 1:1 (0) to 1:1 (0): campaign.lock.jsonl mixes records of different services (header lines 1 and 11)",
        "Nothing was sent. If the records belong to one service with a new address, add --service-moved",
        "if the records belong to different services, use a separate lock for each service: --lock FILE",
        "to see the lock of a branch, for example: {"shell":["git","show","main:./campaign.lock.jsonl"]}",
      ]
    `);
    expect(read(two('b2', 'a1')).lock.service).toBe('a1');
    expect(read(two('a1', 'b2')).lock.service).toBe('a1');
  });

  it('a newer version', () => {
    expect(
      told(`${line}{"mediabatch":"lock","version":3}\n{"mediabatch":"lock","version":4}\n`),
    ).toMatchInlineSnapshot(`
      [
        "MB2002 error 2:1 (194) to 2:34 (227): campaign.lock.jsonl was made by a newer mediabatch: the lock has version 3, and this mediabatch reads up to version 2",
        "Nothing was sent and the file was not touched. Update mediabatch to the version that wrote the file",
      ]
    `);
  });

  it('a torn end', () => {
    expect(told(`${header}${line}{"address":"he`)).toMatchInlineSnapshot(`
      [
        "MB2004 warning 3:1 (228) to 3:1 (228): campaign.lock.jsonl ends in an incomplete line (line 3), as after an interrupted write; its 14 bytes are ignored",
        "A run was probably interrupted while it wrote. No request is sent before its line is complete, so nothing is lost",
      ]
    `);
  });

  it('one conflict marker, and three', () => {
    const messages = [`${header}${line}=======\n`, `${header}<<<<<<< a\n${line}=======\n>>>>>>> b\n`].map(told);
    expect(messages).toMatchInlineSnapshot(`
      [
        [
          "MB2004 warning 3:1 (228) to 3:8 (235): campaign.lock.jsonl holds merge conflict markers (line 3); the records of both sides are used",
          "No purchase is lost. The next run removes the markers; "*.lock.jsonl merge=union" in .gitattributes avoids conflicts",
        ],
        [
          "MB2004 warning 2:1 (34) to 2:10 (43): campaign.lock.jsonl holds merge conflict markers (line 2 and 2 more); the records of both sides are used",
          "No purchase is lost. The next run removes the markers; "*.lock.jsonl merge=union" in .gitattributes avoids conflicts",
        ],
      ]
    `);
  });

  it('two jobs of one purchase, and seven', () => {
    const two = told(header + job('job-1') + job('job-2', { credits: 1, state: 'failed' }));
    const seven = told(header + [1, 2, 3, 4, 5, 6, 7].map((n) => job(`job-${n}`, { credits: n })).join(''));
    expect([...two, ...seven]).toMatchInlineSnapshot(`
      [
        "MB2006 warning: hero@de was paid for twice in campaign.lock.jsonl: job-1 (done, charge unknown) and job-2 (failed, 1 credit)",
        "The lock keeps all jobs of the step, and the first job is used. Nothing more is paid for this step",
        "MB2006 warning: hero@de was paid for 7 times in campaign.lock.jsonl: job-1 (done, 1 credit) and job-2 (done, 2 credits) and job-3 (done, 3 credits) and job-4 (done, 4 credits) and job-5 (done, 5 credits) and 2 more",
        "The lock keeps all jobs of the step, and the first job is used. Nothing more is paid for this step",
      ]
    `);
    const five = read(header + [1, 2, 3, 4, 5].map((n) => job(`job-${n}`)).join('')).diagnostics;
    expect(five[0]?.message).toMatch(/^hero@de was paid for 5 times in .* and job-5 \(done, charge unknown\)$/);
  });

  it('nothing of two jobs of one purchase after a redo, a pin, or when they are forgotten', () => {
    const again = told(header + job('job-1') + job('job-2') + job('job-3', { generation: 2 }));
    const fingerprint = (JSON.parse(job('job-1')) as { fingerprint: string }).fingerprint;
    const pinned = told(header + job('job-1', { decisions: { pin: { fingerprint, revision: 1 } } }) + job('job-2'));
    const forgotten = told(header + job('job-1', { forgotten: true }) + job('job-2'));
    expect([again, pinned, forgotten]).toEqual([[], [], []]);
  });

  it('nothing of two jobs of different purchases', () => {
    expect(
      read(header + job('job-1') + job('job-2', { generation: 2 }) + job('job-3', { fingerprint: '1:cd' })).diagnostics,
    ).toEqual([]);
  });
});

describe('a header is refused, with the reason,', () => {
  it.each([
    ['a version in quotes', '"version":"1"', 'has a "version" that is not a whole number of at least 1: "1"'],
    ['a version before the first release', '"version":1', 'has version 1, which no release of mediabatch has written'],
    ['a service that is a number', '"version":2,"service":7', 'has a "service" that is not a digest: 7'],
    ['a space before a service', '"version":2,"service":" a"', 'has a "service" that is not a digest: " a"'],
  ])('%s', (_name, fields, reason) => {
    const { diagnostics } = read(`{"mediabatch":"lock",${fields}}\n`);
    expect(diagnostics.map(({ message }) => message)).toEqual([`campaign.lock.jsonl:1: the line ${reason}`]);
  });

  it('but the file is not said to have none', () => {
    expect(read(`{"mediabatch":"lock","version":0}\n${line}`).diagnostics).toHaveLength(1);
  });
});

describe('the end of a file', () => {
  const end = Buffer.byteLength(header + line);

  it.each<[string, string, number | undefined]>([
    ['zero bytes behind a whole line', `${header}${line}\0\0\0`, end],
    ['zero bytes behind a line without its LF', `${header}${line.trimEnd()}\0`, end - 1],
    ['half a line and zero bytes', `${header}${line}{"a\0\0`, end],
    ['a byte order mark in half a line', `${header}${line}{"a":"\ufeff`, end],
    ['a marker', `${header}${line}=======`, undefined],
    ['spaces', `${header}${line}   `, undefined],
    ['a mark and a whole line', `${header}\ufeff${line.trimEnd()}`, undefined],
    ['nothing but zero bytes', '\0\0', 0],
  ])('%s', (_name, text, tornAt) => {
    const reading = read(text);
    expect(reading.tornTailAt).toBe(tornAt);
    expect(reading.lock.steps.size).toBe(text.startsWith('\0') ? 0 : 1);
    expect(reading.needsRewrite).toBe(true);
  });

  it.each([
    ['a word behind a conflict marker of six', '<<<<<< a'],
    ['a marker that does not begin the line', ' <<<<<<< a'],
    ['a comment', `# ${line.trimEnd()}`],
    ['half a line with spaces between its parts', '{ "address": "he'],
    ['half a line behind spaces', '  {"address":"he'],
    ['half a line and a whole one', `{"address":"he${line.trimEnd()}`],
    ['two lines in one', `${line.trimEnd()}${line.trimEnd()}`],
    ['a line without its start', line.trimEnd().slice(1)],
    ['a comma behind a line', `${line.trimEnd()},`],
    ['zero bytes behind a word', 'x\0\0'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22])],
  ])('%s is nothing that a run leaves: damage, and nothing is cut', (_name, last) => {
    const reading = read(Buffer.concat([Buffer.from(header + line), Buffer.from(last)]));
    expect(reading.diagnostics.map(({ code, severity }) => `${code} ${severity}`)).toContain('MB2001 error');
    expect(reading.diagnostics[0]?.place?.start.line).toBe(3);
    expect(reading.tornTailAt).toBeUndefined();
  });
});
