import { dirname, extname, join, normalize } from 'node:path/posix';
import { maxManifestBytes } from '../../manifest/yaml/source.ts';
import { type ListedFiles, selectFiles } from '../fs/list-files.ts';
import { asText, type FileBytes, type FileText, maxDataBytes, maxWorkbookBytes } from '../inputs.ts';
import { type Digest, digestOf } from '../outputs/hash-file.ts';
import { askGit, gitRefusal, runGit } from './git-command.ts';

const mostPointerBytes = 1024;
const mostLinkBytes = 4096;

/** Maximum size in bytes of an upload file in a commit. git prints it as a whole, so it is read into memory. */
const mostHashedBytes = 512 * 1024 ** 2;
/** Size in bytes up to which hashing a file is faster than starting git. */
const smallBytes = 256 * 1024;
/** Maximum number of small files of the same folder that are hashed together with a file. */
const mostAhead = 200;

/** A folder of a commit. Refuses files outside the folder and hidden files, as a working tree does. */
export class CommitTree {
  readonly #folder: string;
  readonly #files: ReadonlyMap<string, GitBlob>;
  readonly #links: ReadonlyMap<string, GitBlob>;
  readonly #digests = new Map<string, Digest | undefined>();

  private constructor(folder: string, { files, links }: ReturnType<typeof readFiles>) {
    this.#folder = folder;
    this.#files = files;
    this.#links = links;
  }

  static async open(folder: string, commit: string, prefix: string): Promise<CommitTree> {
    const words = ['ls-tree', '-r', '-z', '-l', '--full-tree', `${commit}:${prefix}`.replace(/\/$/, '')];
    const { code, out, err } = await runGit(folder, words, { mostBytes: 256 * 1024 ** 2 });
    // In a partial clone, this git command fails, because git does not know the sizes of missing objects.
    if (code !== 0) throw gitRefusal(words, err);
    return new CommitTree(folder, readFiles(out.toString('utf8')));
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  async manifest(path: string): Promise<FileText> {
    return asText(await this.#readAt(path, maxManifestBytes));
  }

  async data(path: string): Promise<FileText> {
    return asText(await this.#below(path, maxDataBytes));
  }

  bytes(path: string): Promise<FileBytes> {
    return this.#below(path, maxWorkbookBytes);
  }

  async #below(path: string, mostBytes: number): Promise<FileBytes> {
    const wanted = normalize(path);
    if (/^(\/|\.\.?(\/|$))/.test(wanted)) return { problem: 'outside' };
    if (isHidden(wanted)) return { problem: 'outside', detail: 'it is a hidden file' };
    return this.#readAt(wanted, mostBytes);
  }

  async #readAt(path: string, mostBytes: number): Promise<FileBytes> {
    const file = this.#files.get(path);
    if (file !== undefined) return this.#read(file, mostBytes);
    const link = this.#links.get(path);
    if (link === undefined) return { problem: 'missing' };
    const read = await this.#read(link, mostLinkBytes);
    const target = 'bytes' in read ? normalize(join(dirname(path), Buffer.from(read.bytes).toString('utf8'))) : '';
    const found = isHidden(target) || extname(target) !== extname(path) ? undefined : this.#files.get(target);
    const detail = 'a symbolic link leads out of its folder, to a hidden file or to a file with another extension';
    return found === undefined ? { problem: 'outside', detail } : this.#read(found, mostBytes);
  }

  files(pattern: string): Promise<ListedFiles> {
    const left = /(^|\/)(node_modules|[^/]*\.sandbox)\//;
    return selectFiles(pattern, (matches) =>
      [...this.#files.keys()].filter((path) => !isHidden(path) && !left.test(path) && matches(path)),
    );
  }

  /** Returns the digest of a plain file. For a file in Git LFS, the digest comes from the LFS pointer. */
  async digest(path: string): Promise<Digest | { problem: string }> {
    if (isHidden(path)) return { problem: 'it is a hidden file' };
    const file = this.#files.get(path);
    if (file === undefined) return { problem: 'the file does not exist or is not a plain file' };
    if (file.bytes > mostHashedBytes) {
      return { problem: `the file has ${file.bytes} bytes, and at most ${mostHashedBytes} are read from a commit` };
    }
    return (await this.#hash(path, file)) ?? { problem: 'git does not have the content of this file' };
  }

  async #hash(path: string, file: GitBlob): Promise<Digest | undefined> {
    if (!this.#digests.has(file.id)) {
      const isAhead = ([other, { id, bytes }]: [string, GitBlob]) =>
        dirname(other) === dirname(path) && bytes <= smallBytes && id !== file.id && !this.#digests.has(id);
      const ahead = [...this.#files].filter(isAhead).map(([, blob]) => blob);
      const blobs = [file, ...ahead.slice(0, mostAhead)];
      const contents = await readBlobs(this.#folder, blobs);
      for (const [index, { id }] of blobs.entries()) {
        const content = contents[index];
        this.#digests.set(id, content && (readLfsPointer(content) ?? digestOf(content)));
      }
    }
    return this.#digests.get(file.id);
  }

  async #read(file: GitBlob, mostBytes: number): Promise<FileBytes> {
    if (file.bytes > mostBytes) {
      return { problem: 'too-large', detail: `the file has ${file.bytes} bytes, and at most ${mostBytes} are read` };
    }
    const [bytes] = await readBlobs(this.#folder, [file]);
    if (bytes === undefined) return { problem: 'unreadable', detail: 'git does not have the content of this file' };
    if (readLfsPointer(bytes) === undefined) return { bytes };
    return { problem: 'unreadable', detail: 'git has only a Git LFS pointer, not the content of this file' };
  }
}

interface GitBlob {
  id: string;
  bytes: number;
}

const blobHeaderBytes = 200;

/** Reads blobs in the given order with one git process. A missing blob is `undefined`. */
async function readBlobs(folder: string, blobs: readonly GitBlob[]): Promise<(Buffer | undefined)[]> {
  const input = blobs.map(({ id }) => `${id}\n`).join('');
  const mostBytes = blobs.reduce((sum, { bytes }) => sum + bytes + blobHeaderBytes, 0);
  const out = await askGit(folder, ['cat-file', '--batch'], { input, mostBytes });
  let at = 0;
  return blobs.map(() => {
    const start = out.indexOf(0x0a, at) + 1;
    const size = /^[0-9a-f]+ blob (\d+)\n$/.exec(out.toString('latin1', at, start))?.[1];
    at = size === undefined ? Math.max(at, start) : start + Number(size) + 1;
    return size === undefined ? undefined : out.subarray(start, start + Number(size));
  });
}

function readFiles(listed: string): { files: Map<string, GitBlob>; links: Map<string, GitBlob> } {
  const files = new Map<string, GitBlob>();
  const links = new Map<string, GitBlob>();
  for (const line of listed.split('\0')) {
    const [, mode, id, bytes, path] = /^(100|120)\d{3} blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(line) ?? [];
    if (id === undefined || path === undefined) continue;
    (mode === '120' ? links : files).set(path, { id, bytes: Number(bytes) });
  }
  return { files, links };
}

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

function readLfsPointer(bytes: Uint8Array): Digest | undefined {
  if (bytes.length >= mostPointerBytes) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  if (!/^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v\d+\n/.test(text)) return undefined;
  const sha256 = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return sha256 === undefined || size === undefined ? undefined : { sha256, bytes: Number(size) };
}
