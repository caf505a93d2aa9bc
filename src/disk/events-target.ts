import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { findWayOut } from './fs/own-tree.ts';
import { isErrno, lstatOrAbsent, noFollow } from './fs/plain-file.ts';

/** First bytes of every event file. */
const beginning = /^\{"at":"\d{4}-[^"]{1,40}","event":"[a-z-]+"/;
const beginningLength = 120;
const newFile = 'give a new file, for example events.jsonl';
/** Time in ms that a slow reader has to read the rest after the run is over. */
const drainMs = 5000;

/** Destination of an event stream's lines. Closing it waits for pending writes. */
export interface EventSink {
  write(text: string): void;
  end(): Promise<void>;
}

/** Thrown if events cannot be written to the target; the message continues a sentence after its file name. */
export class EventsTargetError extends Error {
  readonly hint: string;
  /** Whether the target is a file of the campaign: the user named the wrong file. */
  readonly isInput: boolean;
  constructor(message: string, hint: string, isInput = false) {
    super(message);
    this.name = 'EventsTargetError';
    this.hint = hint;
    this.isInput = isInput;
  }
}

interface EventsTarget {
  /** Creates the file, or empties an existing one. Only for a run that holds its lock. */
  open(): EventSink;
}

/**
 * Examines the target of `--events`, without changing it. An existing file is accepted only if it is empty or contains
 * events; never a link, whose destination a branch may have chosen. `inputs`: files of the campaign, as absolute paths.
 * `own`: the streams of this process. Throws `EventsTargetError`.
 */
export function findEventsTarget(
  path: string,
  { inputs, own }: { inputs: readonly string[]; own: { out(text: string): void; err(text: string): void } },
): EventsTarget {
  const descriptor = descriptorOf(path);
  if (descriptor === 1) return { open: () => lasting(own.out) };
  if (descriptor === 2) return { open: () => lasting(own.err) };
  if (descriptor !== undefined) return { open: () => sinkOf(descriptor) };
  if (/\.(lock\.jsonl|ya?ml|csv)$/i.test(path) || inputs.includes(resolve(path))) {
    throw new EventsTargetError('would overwrite a file of the campaign', newFile, true);
  }
  check(path);
  return { open: () => sinkOf(openTarget(path)) };
}

/** Returns the descriptor that a path means. `/dev/fd/3` and similar links were chosen by the user. */
function descriptorOf(path: string): number | undefined {
  const [, name] = /^\/(?:dev|proc\/self)\/(fd\/\d{1,6}|stdout|stderr)$/.exec(path) ?? [];
  if (name === undefined) return path === '-' ? 1 : undefined;
  return name === 'stdout' ? 1 : name === 'stderr' ? 2 : Number(name.slice(3));
}

function check(path: string): void {
  const wayOut = findWayOut(dirname(resolve(path)));
  if (wayOut !== undefined) throw refused(wayOut);
  const stats = lookAt(path);
  if (stats === undefined) {
    checkFolder(path);
    return;
  }
  const what = whatIsWrong(stats);
  if (what !== undefined) throw refused(what);
  if (!stats.isFile()) return;
  const fd = openFor(path, constants.O_RDONLY);
  try {
    checkContent(fd);
  } finally {
    closeSync(fd);
  }
}

function checkFolder(path: string): void {
  try {
    accessSync(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw cannotWrite(error);
  }
}

/** Opens without waiting for a pipe's reader. The opened file is checked again. */
function openTarget(path: string): number {
  const found = lookAt(path);
  const created = found === undefined ? constants.O_CREAT | constants.O_EXCL : 0;
  const isFile = found === undefined || found.isFile();
  const fd = openFor(path, (isFile ? constants.O_RDWR : constants.O_WRONLY) | created);
  try {
    const stats = fstatSync(fd);
    const what = whatIsWrong(stats);
    if (what !== undefined) throw refused(what);
    if (stats.isFile()) {
      checkContent(fd);
      ftruncateSync(fd);
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openFor(path: string, flags: number): number {
  try {
    return openSync(path, flags | noFollow | (constants.O_NOCTTY ?? 0), 0o666);
  } catch (error) {
    if (isErrno(error, 'ENXIO')) throw refused('nobody reads that pipe', 'start its reader first');
    throw cannotWrite(error);
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatOrAbsent(path);
  } catch (error) {
    throw cannotWrite(error);
  }
}

function whatIsWrong(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a symbolic link';
  if (stats.isDirectory()) return 'it is a folder';
  if (stats.isBlockDevice()) return 'it is a disk';
  return stats.isSocket() ? 'it is a socket' : undefined;
}

function checkContent(fd: number): void {
  const head = Buffer.alloc(beginningLength);
  const length = readSync(fd, head, 0, head.length, 0);
  if (length > 0 && !beginning.test(head.toString('latin1', 0, length))) {
    throw refused('the file exists already, and holds no events');
  }
}

function sinkOf(fd: number): EventSink {
  let stats: Stats;
  try {
    stats = fstatSync(fd);
  } catch (error) {
    throw cannotWrite(error);
  }
  if (stats.isFIFO() || stats.isSocket()) return streamTo(fd);
  return lasting((text) => {
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
  });
}

function lasting(write: (text: string) => void): EventSink {
  return { write, end: async () => {} };
}

/** Writes to a pipe. A slow or missing reader delays nothing, because work done meanwhile is paid for. */
function streamTo(fd: number): EventSink {
  const stream = new Socket({ fd, readable: false, writable: true });
  stream.on('error', () => stream.destroy());
  stream.unref();
  return {
    write(text) {
      if (!stream.destroyed) stream.write(text);
    },
    end: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => stream.destroy(), drainMs);
        stream.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
        if (stream.closed) resolve();
        else stream.end();
      }),
  };
}

function refused(why: string, hint = newFile): EventsTargetError {
  return new EventsTargetError(`is not written: ${why}`, hint);
}

function cannotWrite(error: unknown): EventsTargetError {
  const message = error instanceof Error ? error.message : String(error);
  return new EventsTargetError(`cannot be written: ${message}`, 'choose a path in an existing folder');
}
