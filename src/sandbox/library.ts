import type { BlobStore, StoredBytes } from './blob-store.ts';
import { digest } from './digest.ts';
import type { Lines } from './journal.ts';
import { isObject, type JsonObject } from './wire.ts';

interface Blob {
  readonly token: string;
  readonly user: string;
  readonly fileName: string;
  /** Name that clients send to register the upload: the token and a file name that needs no URL escaping. */
  readonly blobName: string;
  readonly stored: (StoredBytes & { readonly mediaType: string }) | undefined;
  readonly assetId: string | undefined;
}

export interface Asset {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly createdAt: string;
  readonly blob: Blob & { readonly stored: StoredBytes & { readonly mediaType: string } };
}

export class Library {
  private readonly store: BlobStore;
  private readonly journal: Lines | undefined;
  private readonly blobs = new Map<string, Blob>();
  private readonly assets = new Map<string, Asset>();

  constructor(store: BlobStore, journal?: Lines) {
    this.store = store;
    this.journal = journal;
    for (const line of journal?.lines ?? []) this.take(line);
  }

  promise(user: string, fileName: string, now: number): Blob {
    const at = new Date(now).toISOString();
    const token = digest('blob', user, fileName, String(this.blobs.size), at).slice(0, 40);
    this.write({ type: 'promised', at, user, token, fileName });
    return this.get(token);
  }

  /**
   * Replaces the bytes of a blob. Returns `undefined` if the blob is already registered in the library. Rejects with
   * the error of the store.
   */
  async fill(
    blob: Blob,
    chunks: AsyncIterable<Uint8Array>,
    options: { readonly mediaType: string; readonly limitBytes: number; readonly now: number },
  ): Promise<Blob | undefined> {
    const written = await this.store.write(blob.token, chunks, options.limitBytes);
    const { place, size, etag } = written;
    const { stored: before, assetId } = this.get(blob.token);
    if (assetId !== undefined) {
      if (before?.place !== place) await this.store.remove(written);
      return undefined;
    }
    const at = new Date(options.now).toISOString();
    this.write({ type: 'stored', at, token: blob.token, mediaType: options.mediaType, place, size, etag });
    if (before !== undefined && before.place !== place) await this.store.remove(before);
    return this.get(blob.token);
  }

  register(blob: Blob, name: string, now: number): Asset | undefined {
    if (blob.stored === undefined) return undefined;
    if (blob.assetId === undefined) {
      const id = digest('asset', blob.token).slice(0, 24);
      this.write({ type: 'registered', at: new Date(now).toISOString(), id, token: blob.token, name });
    }
    return this.assets.get(this.get(blob.token).assetId ?? '');
  }

  findBlob(blobName: string): Blob | undefined {
    const blob = this.blobs.get(blobName.split('/')[0] ?? '');
    return blob?.blobName === blobName ? blob : undefined;
  }

  has(id: string): boolean {
    return this.assets.has(id);
  }

  list(user?: string): Asset[] {
    return [...this.assets.values()].filter((asset) => user === undefined || asset.user === user).reverse();
  }

  private get(token: string): Blob {
    const blob = this.blobs.get(token);
    if (blob === undefined) throw new Error(`internal error: the blob ${token} is missing`);
    return blob;
  }

  private write(line: JsonObject): void {
    this.journal?.append(line);
    this.take(line);
  }

  private take(line: JsonObject): void {
    const token = readName(line, 'token');
    switch (line.type) {
      case 'promised': {
        const fileName = readField(line, 'fileName');
        const blobName = `${token}/${simplifyName(fileName)}`;
        const user = readField(line, 'user');
        this.blobs.set(token, { token, user, fileName, blobName, stored: undefined, assetId: undefined });
        return;
      }
      case 'stored': {
        const [mediaType, place, etag] = [
          readField(line, 'mediaType'),
          readName(line, 'place'),
          readField(line, 'etag'),
        ];
        const { size } = line;
        if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) throw unreadable(line);
        this.blobs.set(token, { ...this.get(token), stored: { mediaType, place, etag, size } });
        return;
      }
      case 'registered': {
        const [id, name, createdAt] = [readField(line, 'id'), readField(line, 'name'), readField(line, 'at')];
        const blob = { ...this.get(token), assetId: id };
        const { stored } = blob;
        if (stored === undefined) throw unreadable(line);
        this.blobs.set(token, blob);
        this.assets.set(id, { id, name, createdAt, user: blob.user, blob: { ...blob, stored } });
        return;
      }
      default:
        throw unreadable(line);
    }
  }
}

function simplifyName(fileName: string): string {
  const last = fileName.split(/[/\\]/).at(-1) ?? '';
  const simple = last
    .normalize('NFC')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '');
  return simple.slice(-100) || 'file';
}

function readField(line: JsonObject, name: string): string {
  const value = isObject(line) ? line[name] : undefined;
  if (typeof value !== 'string') throw unreadable(line);
  return value;
}

/** Checks a file name from the journal, because the journal may come from an untrusted git branch. */
function readName(line: JsonObject, name: string): string {
  const value = readField(line, name);
  if (!/^[\w-]{1,200}$/.test(value)) throw unreadable(line);
  return value;
}

function unreadable(line: JsonObject): Error {
  return new Error(`uploads.jsonl contains an invalid entry: ${JSON.stringify(line).slice(0, 200)}`);
}
