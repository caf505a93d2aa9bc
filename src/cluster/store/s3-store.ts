import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Download } from '../../contract/answer.ts';
import type { Clock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import { diskErrors } from '../../disk/fs/disk-errors.ts';
import { checkOutputPath } from '../../disk/outputs/output-path.ts';
import { createOutputs } from '../../disk/outputs/outputs.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect } from '../../plan/outputs/expectation.ts';
import { Bucket, BucketError } from './s3.ts';
import {
  missing,
  placeOfMark,
  readMarker,
  type Store,
  type StoreFiles,
  unusable,
  writeMarker,
} from './store-marker.ts';

/** Parses `s3://bucket/prefix`; undefined for another form. */
export function parseS3(name: string): { bucket: string; prefix: string } | undefined {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(name);
  const [, bucket = '', path = ''] = found ?? [];
  const parts = path.split('/').filter((part) => part !== '');
  if (found === null) return undefined;
  if (parts.some((part) => part === '.' || part === '..')) return undefined;
  return { bucket, prefix: parts.map((part) => `${part}/`).join('') };
}

export async function openS3Store(
  name: string,
  { makes, env, clock }: { makes: boolean; env: NodeJS.Dict<string>; clock: Clock },
): Promise<Store> {
  const place = parseS3(name);
  if (place === undefined) throw unusable(name, 'is not an address of the form s3://BUCKET/PREFIX');
  const { prefix } = place;
  const bucket = await Bucket.open(place.bucket, { env, clock });
  try {
    const marker = `${prefix}.mediabatch/store.json`;
    const id = (await findMarker(name, bucket, marker)) ?? (makes ? await makeMarker(name, bucket, marker) : undefined);
    if (id === undefined) throw missing(name);
    return {
      id,
      name,
      filesOf: (campaign) => new BucketFiles(bucket, `${prefix}${campaign}/`, name),
      async readMark(run) {
        const body = await bucket.get(`${prefix}${placeOfMark(run)}`);
        return body && (await buffer(body)).toString('utf8');
      },
      writeMark: (run, text) =>
        bucket.putBytes(`${prefix}${placeOfMark(run)}`, Buffer.from(text), { type: 'application/json' }),
    };
  } catch (error) {
    throw error instanceof BucketError ? unusable(name, `cannot be read or written: ${error.message}`) : error;
  }
}

async function findMarker(name: string, bucket: Bucket, key: string): Promise<string | undefined> {
  const body = await bucket.get(key);
  return body && readMarker(name, await buffer(body));
}

/**
 * Writes a marker and returns the id that is stored afterwards: another process may have written one at the same
 * moment.
 */
async function makeMarker(name: string, bucket: Bucket, key: string): Promise<string | undefined> {
  const bytes = writeMarker(randomBytes(8).toString('hex'));
  try {
    await bucket.putBytes(key, bytes, { type: 'application/json', isNew: true });
  } catch (error) {
    // 412, 409: another process was faster. 501: this storage does not support conditional writes.
    if (!(error instanceof BucketError) || ![409, 412, 501].includes(error.status)) throw error;
    if (error.status === 501) await bucket.putBytes(key, bytes, { type: 'application/json' });
  }
  return findMarker(name, bucket, key);
}

/**
 * Files of a store in a bucket. They are received and checked in a local folder; only complete ones are uploaded, under
 * their final names.
 */
class BucketFiles implements StoreFiles {
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #name: string;

  constructor(bucket: Bucket, prefix: string, name: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#name = name;
  }

  save(target: OutputTarget, download: Download): Promise<Output> {
    return this.#inFolder(
      async (folder) => {
        const output = await createOutputs(folder).save(target, download);
        await this.#put(target, output, join(folder, output.path));
        return output;
      },
      async () => void (await download.body[Symbol.asyncIterator]().return?.()),
    );
  }

  /** Copies an output to a new name. The old object stays, because other runs may use it. */
  async relocate(target: OutputTarget, from: Output): Promise<Output | undefined> {
    const path = `${target.save}${extname(from.path)}`;
    const [source, to] = [this.#keyOf(from.path), this.#keyOf(path)];
    return this.#orOutputError(path, async () => {
      const found = await this.#bucket.head(source);
      if (found?.bytes !== from.bytes || found.sha256 !== from.sha256) return undefined;
      if (await this.#makeRoom(target, { ...from, path })) await this.#bucket.copy(source, to);
      return { ...from, path };
    });
  }

  measure(output: Output, aspects: readonly Aspect[]) {
    return this.#inFolder(async (folder) => {
      const body = await this.read(output);
      if (body === undefined) return undefined;
      const save = output.path.slice(0, -extname(output.path).length);
      const media = output.type.split('/')[0] as OutputTarget['media'];
      const target: OutputTarget = { address: '', save, media, replaces: [], asIs: true, notice: () => {} };
      const files = createOutputs(folder);
      return files.measure(await files.save(target, { body, bytes: output.bytes }), aspects);
    });
  }

  read({ path }: Output): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#orOutputError(path, () => this.#bucket.get(this.#keyOf(path)));
  }

  async #put(target: OutputTarget, output: Output, path: string): Promise<void> {
    await this.#orOutputError(output.path, async () => {
      if (await this.#makeRoom(target, output))
        await this.#bucket.putFile(this.#keyOf(output.path), { ...output, path });
    });
  }

  /**
   * Copies an existing object to another name before it is overwritten, with a notice if the target may not replace it.
   * Resolves with `false` if the object already has the same bytes.
   */
  async #makeRoom(target: OutputTarget, { path, bytes, sha256 }: Output): Promise<boolean> {
    const old = await this.#bucket.head(this.#keyOf(path));
    if (old === undefined) return true;
    if (old.sha256 === sha256 && old.bytes === bytes) return false;
    const extension = extname(path);
    const mark = (old.sha256 ?? old.tag.replace(/[^0-9a-z]/gi, '')).slice(0, 8);
    const aside = `${path.slice(0, -extension.length)}.changed-${mark}${extension}`;
    await this.#bucket.copy(this.#keyOf(path), this.#keyOf(aside));
    const isRecorded = old.sha256 !== undefined && target.replaces.includes(old.sha256);
    if (isRecorded) return true;
    target.notice(`${this.#name}: ${path} was not made by this step or was changed since; it is kept as ${aside}`);
    return true;
  }

  #keyOf(path: string): string {
    checkOutputPath(path);
    return `${this.#prefix}${path}`;
  }

  /**
   * Runs the work in a temporary folder. `onNone`: called when the folder cannot be created, so the work does not
   * begin.
   */
  async #inFolder<T>(work: (folder: string) => Promise<T>, onNone?: () => Promise<void>): Promise<T> {
    let folder: string | undefined;
    try {
      folder = await diskErrors(tmpdir(), () => mkdtemp(join(tmpdir(), 'mediabatch-')));
      return await work(folder);
    } finally {
      if (folder === undefined) await onNone?.();
      else await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** Converts an error of the storage into a disk error, so that nothing is bought whose files could not be saved. */
  async #orOutputError<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BucketError)) throw error;
      throw new OutputError('disk', `${this.#name}: cannot reach ${path}: ${error.message}`, { cause: error });
    }
  }
}
