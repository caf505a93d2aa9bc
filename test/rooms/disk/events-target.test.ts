import { closeSync, mkdirSync, openSync, readFileSync, readSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EventsTargetError, findEventsTarget } from '../../../src/disk/events-target.ts';
import { makeFolder, makePipe } from '../../rig/folder.ts';

const event = '{"at":"2026-11-22T12:00:00.000Z","event":"run-started"}\n';
const own = { out: () => {}, err: () => {} };

function find(path: string, inputs: string[] = []) {
  return findEventsTarget(path, { inputs, own });
}

function refusal(work: () => unknown): { message: string; hint: string; isInput: boolean } {
  try {
    work();
  } catch (error) {
    if (!(error instanceof EventsTargetError)) throw error;
    const { message, hint, isInput } = error;
    return { message, hint, isInput };
  }
  throw new Error('it was not refused');
}

describe('a file of events', () => {
  test.each([
    ['that is new', undefined],
    ['that is empty', ''],
    ['of an earlier run', event + event],
  ])('%s is left as it is until it is opened, and then holds the new ones', async (_name, before) => {
    const path = join(makeFolder(), 'events.jsonl');
    if (before !== undefined) writeFileSync(path, before);
    const target = find(path);
    if (before !== undefined) expect(readFileSync(path, 'utf8')).toBe(before);
    const sink = target.open();
    sink.write('one ü\n');
    sink.write('two\n');
    await sink.end();
    expect(readFileSync(path, 'utf8')).toBe('one ü\ntwo\n');
  });

  test.each([
    'something else',
    '{"at":"2026-11-22T12:00:00.000Z","events":"x"}',
    ` ${event}`,
    '{"event":"x","at":"2026"}',
    '{"at":"2026-11-22","event":"Run"}',
  ])('is none that begins with %j', (text) => {
    const path = join(makeFolder(), 'events.jsonl');
    writeFileSync(path, text);
    expect(refusal(() => find(path))).toEqual({
      message: 'cannot be written: the file already exists and is not an events file',
      hint: 'name a new file, for example events.jsonl',
      isInput: false,
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('that became another one since it was looked at is left alone', () => {
    const path = join(makeFolder(), 'events.jsonl');
    const ofNew = find(path);
    writeFileSync(path, 'notes');
    expect(refusal(() => ofNew.open()).message).toContain('is not an events file');
    writeFileSync(path, event);
    const ofEarlier = find(path);
    writeFileSync(path, 'notes');
    expect(refusal(() => ofEarlier.open()).message).toContain('is not an events file');
    expect(readFileSync(path, 'utf8')).toBe('notes');
  });
});

describe('what is no place for events', () => {
  test.each(['campaign.lock.jsonl', 'campaign.yaml', 'campaign.YML', 'rows.csv'])('%s, by its name', (name) => {
    const seen = refusal(() => find(join(makeFolder(), name)));
    expect(seen).toMatchObject({ message: 'would overwrite a file of the campaign', isInput: true });
  });

  test('a file that the campaign reads', () => {
    const path = join(makeFolder(), 'data.jsonl');
    expect(refusal(() => find(path, [path])).isInput).toBe(true);
    expect(find(path, [`${path}.other`])).toBeDefined();
  });

  test('a link, a folder, a socket', async () => {
    const folder = makeFolder();
    const path = (name: string) => join(folder, name);
    writeFileSync(path('events.jsonl'), event);
    symlinkSync('events.jsonl', path('link'));
    mkdirSync(path('folder'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path('socket'), resolve));
    onTestFinished(() => void server.close());
    expect(refusal(() => find(path('link'))).message).toBe('cannot be written: it is a symbolic link');
    expect(refusal(() => find(path('folder'))).message).toBe('cannot be written: it is a folder');
    expect(refusal(() => find(path('socket'))).message).toBe('cannot be written: it is a device or a pipe');
  });

  test('a folder that is not there, and a name below a file', () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(refusal(() => find(join(folder, 'none', 'events.jsonl')))).toMatchObject({
      message: expect.stringContaining('cannot be written: ENOENT'),
      hint: 'choose a path in an existing folder',
    });
    expect(refusal(() => find(join(folder, 'file', 'events.jsonl'))).message).toContain('cannot be written');
  });
});

describe('a stream', () => {
  test.each([
    ['-', 'out'],
    ['/dev/stdout', 'out'],
    ['/dev/fd/1', 'out'],
    ['/proc/self/fd/1', 'out'],
    ['/dev/stderr', 'err'],
    ['/dev/fd/2', 'err'],
  ])('%s is the own %s', async (path, name) => {
    const said: [string, string][] = [];
    const out = (text: string) => said.push(['out', text]);
    const err = (text: string) => said.push(['err', text]);
    const sink = findEventsTarget(path, { inputs: [], own: { out, err } }).open();
    sink.write('one\n');
    await sink.end();
    expect(said).toEqual([[name, 'one\n']]);
  });

  test.runIf(process.platform !== 'win32')('by its number is written to, whatever stands there', async () => {
    const path = join(makeFolder(), 'any');
    const fd = openSync(path, 'w');
    onTestFinished(() => closeSync(fd));
    const sink = find(`/dev/fd/${fd}`).open();
    sink.write('one\n');
    await sink.end();
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    expect(refusal(() => find('/dev/fd/999999').open()).message).toContain('cannot be written: EBADF');
  });

  test.runIf(process.platform !== 'win32')('may be a device', async () => {
    const sink = find('/dev/null').open();
    sink.write('one\n');
    await sink.end();
  });

  test.runIf(process.platform !== 'win32')('to a reader gets it all, and one that goes away is let go', async () => {
    const path = join(makeFolder(), 'pipe');
    makePipe(path);
    expect(refusal(() => find(path))).toMatchObject({
      message: 'cannot be written: it is a device or a pipe',
      hint: expect.stringContaining('--events - |'),
    });
    const reader = openSync(path, 'r+');
    const sink = find(`/dev/fd/${openSync(path, 'w')}`).open();
    sink.write('one\n');
    sink.write('two\n');
    await sink.end();
    const read = Buffer.alloc(8);
    readSync(reader, read);
    expect(String(read)).toBe('one\ntwo\n');
    closeSync(reader);
    sink.write('too late\n');
    await sink.end();
  });
});
