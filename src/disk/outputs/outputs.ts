import { createHash } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Download } from '../../contract/answer.ts';
import { OutputError } from '../../contract/errors.ts';
import type { Downloads, OutputFiles, Outputs, OutputTarget } from '../../contract/ports.ts';
import { Places } from '../../ground/places.ts';
import type { Output } from '../../lock/record.ts';
import { syncFile, writeAll } from '../fs/durable.ts';
import { lstatOrAbsent, noFollow, readFirstBytes } from '../fs/plain-file.ts';
import { temporaryName } from '../fs/replace.ts';
import type { KeptMeasures } from '../state/caches.ts';
import { smallBytes } from './hash-file.ts';
import { measureFile } from './measure-files.ts';
import { diskErrors, isSameFolder, prepareOutputFolder } from './output-path.ts';
import { type Kept, putInPlace, relocateOutput } from './relocate-output.ts';
import { SavedFiles } from './saved-files.ts';
import { describeBytes, isCutShort, type SniffedMedia, sniffLength, sniffMedia } from './sniff.ts';
import type { StatCache } from './stat-cache.ts';

/** Maximum size of a download in bytes, so that an endless response does not fill the disk. */
const defaultMaxBytes = 4 * 1024 ** 3;

/**
 * Creates the store of a campaign's outputs below `root`. All methods throw `OutputError` and leave no partial file.
 * `saved`: record of files that may be moved and replaced; defaults to the files that this object saves. `kept`: folder
 * to which a paid file moves when a newer file replaces it. With `beside`, the file is renamed in its folder; without
 * `kept`, it is deleted.
 */
export function createOutputs(
  root: string,
  options: { maxBytes?: number; seen?: StatCache; saved?: SavedFiles; kept?: Kept; measures?: KeptMeasures } = {},
): OutputFiles {
  const { maxBytes = defaultMaxBytes, seen, saved = new SavedFiles(), kept, measures } = options;
  // Moves files one after another, because two files that swap their names conflict.
  let lastMove: Promise<unknown> = Promise.resolve();
  return {
    save: (target, download) => saveOutput({ root, target, download, maxBytes, saved, kept, seen }),
    relocate(target, from, { remove = false } = {}) {
      const move = lastMove.then(() => relocateOutput(root, { target, from, remove, saved, kept }));
      lastMove = move.catch(() => undefined);
      return move;
    },
    measure: (output, aspects) => measureFile({ root, kept: measures }, { output, aspects }),
  };
}

const savedAtOnce = 16;

/** Downloads and saves the files of a run in this process, up to 16 at once. */
export function localOutputs(downloads: Downloads, files: OutputFiles): Outputs {
  const places = new Places(savedAtOnce);
  return {
    async fetch(target, { url }, { signal }) {
      const answer = await downloads.open(url, signal);
      if (answer.is !== 'open') return answer;
      try {
        return { is: 'saved', output: await places.use(() => files.save(target, answer.download)) };
      } catch (error) {
        if (!(error instanceof OutputError) || error.why !== 'bad-bytes') throw error;
        return { is: 'bad-bytes', message: error.message };
      }
    },
    relocate: (target, from, choices) => places.use(() => files.relocate(target, from, choices)),
    measure: (output, aspects) => files.measure(output, aspects),
  };
}

async function saveOutput(order: SaveOrder): Promise<Output> {
  const chunks = order.download.body[Symbol.asyncIterator]();
  try {
    return await saveChunks(chunks, order);
  } finally {
    // Calls `return` of the body even if nothing was read from it, because the body occupies a connection.
    await chunks.return?.();
  }
}

interface SaveOrder {
  root: string;
  target: OutputTarget;
  download: Download;
  maxBytes: number;
  saved: SavedFiles;
  kept?: Kept | undefined;
  seen?: StatCache | undefined;
}

async function saveChunks(
  chunks: AsyncIterator<Uint8Array>,
  { root, target, download, maxBytes, saved, kept, seen }: SaveOrder,
): Promise<Output> {
  const { fd, folder, temporary } = await createTemporary(root, target.save);
  const base = join(folder, basename(target.save));
  try {
    let received: Received;
    try {
      received = await receive(fd, chunks, { announced: download.bytes, maxBytes, path: base });
      await diskErrors(base, () => syncFile(fd));
    } finally {
      closeSync(fd);
    }
    const found = await checkReceived(target, download, { ...received, temporary });
    const { sha256, bytes } = received;
    const full = `${base}${found.extension}`;
    const path = `${target.save}${found.extension}`;
    await diskErrors(base, () => putInPlace(temporary, full, { name: path, sha256, target, saved, kept }));
    // The digest of a small file is not cached, because hashing the file is as quick as writing the cache.
    const stats = bytes < smallBytes ? undefined : lstatOrAbsent(full);
    if (stats !== undefined) seen?.noteOwn(path, stats, sha256);
    return { path, sha256, bytes, type: found.type };
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

async function createTemporary(root: string, save: string): Promise<{ fd: number; folder: string; temporary: string }> {
  const { folder } = await diskErrors(save, () => prepareOutputFolder(root, save));
  const temporary = join(folder, temporaryName('part')); // I11
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;
  const fd = await diskErrors(temporary, () => openSync(temporary, flags, 0o666));
  if (isSameFolder(folder)) return { fd, folder, temporary };
  closeSync(fd);
  await unlink(temporary).catch(() => undefined);
  throw new OutputError('path', `${folder} was replaced while a file was saved there`);
}

interface Received {
  sha256: string;
  bytes: number;
  head: Uint8Array;
  tail: Uint8Array;
}

async function receive(
  fd: number,
  chunks: AsyncIterator<Uint8Array>,
  { announced, maxBytes, path }: { announced: number | undefined; maxBytes: number; path: string },
): Promise<Received> {
  if (announced !== undefined && announced > maxBytes) throw tooLarge(maxBytes);
  const hash = createHash('sha256');
  let bytes = 0;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  for (;;) {
    const chunk = await nextChunk(chunks);
    if (chunk === undefined) return { sha256: hash.digest('hex'), bytes, head, tail };
    bytes += chunk.length;
    if (announced !== undefined && bytes > announced) {
      throw new OutputError('bad-bytes', `the download has more than the announced ${announced} bytes`);
    }
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    await diskErrors(path, () => writeAll(fd, chunk));
    hash.update(chunk);
    if (head.length < sniffLength) head = Buffer.concat([head, chunk.subarray(0, sniffLength - head.length)]);
    tail = Buffer.concat([tail, chunk.subarray(-sniffLength)]).subarray(-sniffLength);
  }
}

async function nextChunk(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    const next = await chunks.next();
    return next.done === true ? undefined : next.value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OutputError('bad-bytes', `the download was interrupted: ${why}`, { cause: error });
  }
}

async function checkReceived(
  target: OutputTarget,
  download: Download,
  received: Received & { temporary: string },
): Promise<SniffedMedia> {
  const { bytes, head, tail } = received;
  if (download.bytes !== undefined && bytes !== download.bytes) {
    throw new OutputError('bad-bytes', `the download ended after ${bytes} of ${download.bytes} bytes`);
  }
  const found = sniffMedia(head);
  if (target.asIs && bytes > 0)
    return found ?? { media: target.media, type: 'application/octet-stream', extension: '.bin' };
  if (found === undefined) {
    throw new OutputError('bad-bytes', `the download is ${describeBytes(head)}, not ${articled(target.media)} file`);
  }
  if (found.media !== target.media) {
    throw new OutputError('bad-bytes', `the download is ${found.type}, not ${articled(target.media)} file`);
  }
  const read = (at: number) => readFirstBytes(received.temporary, sniffLength, at) ?? Buffer.alloc(0);
  // The response header may state a length that is too short, so the end of the file is checked, too.
  // I10
  if (isCutShort(found.type, { tail, bytes, read }) && !(await hasEndWithin(found.type, received))) {
    throw new OutputError(
      'bad-bytes',
      `the download ended after ${bytes} bytes, before the end of the ${found.type} file`,
    );
  }
  return found;
}

const mostPictureBytes = 256 * 1024 ** 2;

/** Returns whether the file is a complete picture followed by other bytes, as cameras and phones write it. */
async function hasEndWithin(
  type: string,
  { temporary, bytes }: { temporary: string; bytes: number },
): Promise<boolean> {
  const isPicture = ['image/png', 'image/jpeg', 'image/gif'].includes(type);
  return isPicture && bytes <= mostPictureBytes && hasPictureEnd(type, await readFile(temporary));
}

function tooLarge(maxBytes: number): OutputError {
  return new OutputError('bad-bytes', `the download is larger than ${maxBytes} bytes, the maximum`);
}

function articled(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}

/** Returns whether a picture has an end marker. Ignores the end markers of previews embedded in the picture. */
export function hasPictureEnd(type: string, bytes: Buffer): boolean {
  try {
    if (type === 'image/png') return hasPngEnd(bytes);
    if (type === 'image/jpeg') return hasJpegEnd(bytes);
    return type === 'image/gif' && hasGifEnd(bytes);
  } catch (error) {
    // A length that the file states leads beyond its end.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function hasPngEnd(bytes: Buffer): boolean {
  for (let at = 8; ; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return at + 12 <= bytes.length;
  }
}

function hasJpegEnd(bytes: Buffer): boolean {
  for (let at = 2; ; ) {
    const marker = bytes.readUInt16BE(at) - 0xff00;
    if (marker < 0) return false;
    if (marker === 0xd9) return true;
    if (marker === 0xff) at += 1;
    else if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else {
      at += 2 + bytes.readUInt16BE(at + 2);
      if (marker === 0xda) at = endOfScan(bytes, at);
    }
  }
}

function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes.readUInt8(at + 1);
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}

function hasGifEnd(bytes: Buffer): boolean {
  const colors = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  for (let at = 13 + colors(bytes.readUInt8(10)); ; ) {
    const block = bytes.readUInt8(at);
    if (block === 0x3b) return true;
    if (block === 0x21) at += 2;
    else if (block === 0x2c) at += 11 + colors(bytes.readUInt8(at + 9));
    else return false;
    while (bytes.readUInt8(at) !== 0) at += 1 + bytes.readUInt8(at);
    at += 1;
  }
}
