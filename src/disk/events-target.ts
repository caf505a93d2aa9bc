import { accessSync, closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { UnsafeFileError } from '../contract/errors.ts';
import { messageOf } from '../ground/values.ts';
import { writeAll } from './fs/durable.ts';
import { findWayOut } from './fs/own-tree.ts';
import { lstatOrAbsent, noFollow, statPlainFile } from './fs/plain-file.ts';

const beginning = /^\{"at":"\d{4}-[^"]{1,40}","event":"[a-z-]+"/;
const beginningLength = 120;
const newFile = 'name a new file, for example events.jsonl';
/** In ms. Time at the end of a run in which a slow reader of the events can read the rest. */
const drainMs = 5000;

/** Destination of events. `end` resolves when all pending writes are done. */
export interface EventSink {
  write(text: string): void;
  end(): Promise<void>;
}

/** Thrown if events cannot be written to the target. The command prints the message after the file name. */
export class EventsTargetError extends Error {
  readonly hint: string;
  readonly isInput: boolean;
  constructor(message: string, hint: string, isInput = false) {
    super(message);
    this.name = 'EventsTargetError';
    this.hint = hint;
    this.isInput = isInput;
  }
}

/**
 * Checks the target of `--events` without changing it. The target may be an open descriptor, a device, a new file, an
 * empty file, or a file that contains events. A symbolic link is refused, because a git branch may contain it.
 * `inputs`: absolute paths of the campaign's files, which events must not overwrite. `own`: stdout and stderr of this
 * process. Throws `EventsTargetError`.
 */
export function findEventsTarget(
  path: string,
  { inputs, own }: { inputs: readonly string[]; own: { out(text: string): void; err(text: string): void } },
): { /** Creates or empties the file. Only a run that has its lock calls this. */ open(): EventSink } {
  const descriptor = descriptorOf(path);
  if (descriptor === 1) return { open: () => lasting(own.out) };
  if (descriptor === 2) return { open: () => lasting(own.err) };
  if (descriptor !== undefined) return { open: () => sinkOf(descriptor) };
  if (/\.(lock\.jsonl|ya?ml|csv)$/i.test(path) || inputs.includes(resolve(path))) {
    throw new EventsTargetError('would overwrite a file of the campaign', newFile, true);
  }
  orRefused(() => check(path));
  return { open: () => orRefused(() => openTarget(path)) };
}

function descriptorOf(path: string): number | undefined {
  const [, name] = /^\/(?:dev|proc\/self)\/(fd\/\d{1,6}|stdout|stderr)$/.exec(path) ?? [];
  if (name === undefined) return path === '-' ? 1 : undefined;
  return name === 'stdout' ? 1 : name === 'stderr' ? 2 : Number(name.slice(3));
}

function check(path: string): void {
  const folder = dirname(resolve(path));
  const wayOut = findWayOut(folder);
  if (wayOut !== undefined) throw refused(wayOut);
  const fd = openExisting(path);
  if (fd === undefined) accessSync(folder, constants.W_OK);
  else closeSync(fd);
}

function openTarget(path: string): EventSink {
  const existing = openExisting(path);
  if (existing !== undefined && fstatSync(existing).isFile()) ftruncateSync(existing);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;
  return sinkOf(existing ?? openSync(path, flags, 0o666));
}

function openExisting(path: string): number | undefined {
  const isDevice = lstatOrAbsent(path)?.isCharacterDevice() === true;
  if (!isDevice && statPlainFile(path) === undefined) return undefined;
  const fd = openSync(path, (isDevice ? constants.O_WRONLY | constants.O_NOCTTY : constants.O_RDWR) | noFollow);
  const head = Buffer.alloc(beginningLength);
  const length = fstatSync(fd).isFile() ? readSync(fd, head, 0, head.length, 0) : 0;
  if (length === 0 || beginning.test(head.toString('latin1', 0, length))) return fd;
  closeSync(fd);
  throw refused('the file already exists and is not an events file');
}

function sinkOf(fd: number): EventSink {
  const stats = orRefused(() => fstatSync(fd));
  if (stats.isFIFO() || stats.isSocket()) return streamTo(fd);
  return lasting((text) => writeAll(fd, Buffer.from(text)));
}

function lasting(write: (text: string) => void): EventSink {
  return { write, end: async () => {} };
}

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
  return new EventsTargetError(`cannot be written: ${why}`, hint);
}

function orRefused<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof EventsTargetError) throw error;
    if (error instanceof UnsafeFileError)
      throw refused(`it is ${error.what}`, `${newFile}, or pipe the events from stdout, as in --events - | jq`);
    throw new EventsTargetError(`cannot be written: ${messageOf(error)}`, 'choose a path in an existing folder');
  }
}
