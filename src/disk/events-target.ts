import { accessSync, closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, type Stats } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { messageOf } from '../ground/values.ts';
import { writeAll } from './fs/durable.ts';
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

/**
 * Examines the target of `--events`, without changing it. An existing file is accepted only if it is empty or contains
 * events; never a link, whose destination a branch may have chosen. `inputs`: files of the campaign, as absolute paths.
 * `own`: the streams of this process. Throws `EventsTargetError`.
 */
export function findEventsTarget(
  path: string,
  { inputs, own }: { inputs: readonly string[]; own: { out(text: string): void; err(text: string): void } },
): { /** Creates the file, or empties an existing one. Only for a run that holds its lock. */ open(): EventSink } {
  const descriptor = descriptorOf(path);
  if (descriptor === 1) return { open: () => lasting(own.out) };
  if (descriptor === 2) return { open: () => lasting(own.err) };
  if (descriptor !== undefined) return { open: () => sinkOf(descriptor) };
  if (/\.(lock\.jsonl|ya?ml|csv)$/i.test(path) || inputs.includes(resolve(path))) {
    throw new EventsTargetError('would overwrite a file of the campaign', newFile, true);
  }
  orRefused(() => check(path));
  return { open: () => sinkOf(orRefused(() => openTarget(path))) };
}

/** Returns the descriptor that a path means. `/dev/fd/3` and similar links were chosen by the user. */
function descriptorOf(path: string): number | undefined {
  const [, name] = /^\/(?:dev|proc\/self)\/(fd\/\d{1,6}|stdout|stderr)$/.exec(path) ?? [];
  if (name === undefined) return path === '-' ? 1 : undefined;
  return name === 'stdout' ? 1 : name === 'stderr' ? 2 : Number(name.slice(3));
}

function check(path: string): void {
  const folder = dirname(resolve(path));
  const wayOut = findWayOut(folder);
  if (wayOut !== undefined) throw refused(wayOut);
  const stats = lstatOrAbsent(path);
  const what = stats && whatIsWrong(stats);
  if (what !== undefined) throw refused(what);
  if (stats === undefined) accessSync(folder, constants.W_OK);
  else if (stats.isFile()) closeSync(openChecked(path, constants.O_RDONLY));
}

/** Opens without waiting for a pipe's reader. The content of an existing file is checked again. */
function openTarget(path: string): number {
  const found = lstatOrAbsent(path);
  if (found !== undefined && !found.isFile()) return openChecked(path, constants.O_WRONLY);
  const created = found === undefined ? constants.O_CREAT | constants.O_EXCL : 0;
  const fd = openChecked(path, constants.O_RDWR | created);
  ftruncateSync(fd);
  return fd;
}

function openChecked(path: string, flags: number): number {
  const fd = openSync(path, flags | noFollow | (constants.O_NOCTTY ?? 0), 0o666);
  try {
    const stats = fstatSync(fd);
    const what = whatIsWrong(stats);
    if (what !== undefined) throw refused(what);
    if (stats.isFile()) checkContent(fd);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
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
  const stats = orRefused(() => fstatSync(fd));
  if (stats.isFIFO() || stats.isSocket()) return streamTo(fd);
  return lasting((text) => writeAll(fd, Buffer.from(text)));
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

function orRefused<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof EventsTargetError) throw error;
    if (isErrno(error, 'ENXIO')) throw refused('nobody reads that pipe', 'start its reader first');
    throw new EventsTargetError(`cannot be written: ${messageOf(error)}`, 'choose a path in an existing folder');
  }
}
