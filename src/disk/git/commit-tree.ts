import { createHash } from 'node:crypto';
import { dirname, extname } from 'node:path/posix';
import { maxManifestBytes } from '../../manifest/yaml/source.ts';
import { type ListedFiles, leadsOut, mostFiles, outsidePattern } from '../fs/list-files.ts';
import {
  type DataBytes,
  type DataText,
  type FileDigest,
  type ManifestText,
  maxDataBytes,
  maxWorkbookBytes,
  readUtf8,
} from '../inputs.ts';
import { type GitBlob, gitRefusal, readBlobs, runGit } from './git-command.ts';

/** The largest pointer there can be, in bytes. */
const mostPointerBytes = 1024;

/** Most bytes of an uploaded file that is hashed, because git prints it whole. Larger ones are in Git LFS. */
const mostHashedBytes = 512 * 1024 ** 2;
/** Most bytes of a file for which the start of git takes longer than its hash. */
const smallBytes = 256 * 1024;

interface Entry extends GitBlob {
  is: 'file' | 'link';
}

const mostLinks = 20;

/**
 * A folder as it is in a commit, read from git's objects without a checkout. Answers the questions about files that
 * the disk answers for the working tree, by the same rules: nothing outside the folder, nothing hidden, links only
 * where they stay inside.
 */
export class CommitTree {
  readonly #folder: string;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #folders: ReadonlySet<string>;
  /** Digests by the ids of blobs. */
  readonly #digests = new Map<string, FileDigest | undefined>();

  private constructor(folder: string, entries: ReadonlyMap<string, Entry>) {
    this.#folder = folder;
    this.#entries = entries;
    this.#folders = new Set([...entries.keys()].flatMap(foldersOf));
  }

  /** `prefix`: path of the folder in the repository around `folder`: empty, or ending with `/`. */
  static async open(folder: string, commit: string, prefix: string): Promise<CommitTree> {
    const words = ['ls-tree', '-r', '-z', '-l', '--full-tree', `${commit}:${prefix.replace(/\/$/, '')}`];
    const { code, out, err } = await runGit(folder, words, { mostBytes: 256 * 1024 ** 2 });
    const isAbsent = /^fatal: (not a valid object name|not a tree object)/im.test(err);
    // A partial clone does not have the sizes of what it does not have.
    if (code !== 0 && !isAbsent) throw gitRefusal(words, err);
    return new CommitTree(folder, readEntries(isAbsent ? '' : out.toString('utf8')));
  }

  /** Whether there is a file, or a link, of this path relative to the folder. */
  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /** Bytes of a plain file; undefined where there is none, or a larger one. */
  async bytesOf(path: string, mostBytes: number): Promise<Buffer | undefined> {
    const entry = this.#entries.get(path);
    if (entry?.is !== 'file' || entry.bytes > mostBytes) return undefined;
    return this.#read(entry);
  }

  async manifest(path: string): Promise<ManifestText> {
    const real = await this.#follow(path);
    if (real === undefined) return { problem: 'missing', detail: 'there is no such file' };
    if (real === 'outside') return { problem: 'unreadable', detail: 'a symbolic link leads out of its folder' };
    if (isHidden(real) && !isHidden(path)) return { problem: 'unreadable', detail: `a symbolic link leads to ${real}` };
    const read = await this.#bytes(real, maxManifestBytes);
    const decoded = 'bytes' in read ? readUtf8(read.bytes) : read;
    if ('text' in decoded) return decoded;
    const { problem, detail } = decoded;
    return { problem: problem === 'not-a-file' ? 'folder' : problem, detail };
  }

  async data(path: string): Promise<DataText> {
    const read = await this.#below(path, maxDataBytes);
    if ('problem' in read) return read;
    const decoded = readUtf8(read.bytes);
    return 'text' in decoded ? decoded : { problem: 'unreadable', detail: decoded.detail };
  }

  bytes(path: string): Promise<DataBytes> {
    return this.#below(path, maxWorkbookBytes);
  }

  async #below(path: string, mostBytes: number): Promise<DataBytes> {
    const wanted = normalPath(path);
    if (wanted === undefined) return { problem: 'outside' };
    const real = await this.#follow(wanted);
    if (real === undefined) return { problem: 'missing' };
    if (real === 'outside') return { problem: 'outside', detail: 'a symbolic link leads out of the folder' };
    if (isHidden(real) || extname(real) !== extname(wanted)) {
      return { problem: 'outside', detail: 'it is a hidden file, or a symbolic link to a file of another kind' };
    }
    return this.#bytes(real, mostBytes);
  }

  async files(pattern: string): Promise<ListedFiles> {
    if (leadsOut(pattern)) return outsidePattern;
    const { compileFilePattern } = await import('../fs/file-pattern.ts');
    try {
      const matches = await compileFilePattern(pattern);
      const left = /(^|\/)(node_modules|[^/]*\.sandbox)\//;
      const files = [...this.#entries]
        .filter(([path, { is }]) => is === 'file' && !isHidden(path) && !left.test(path) && matches(path))
        .map(([path]) => path)
        .sort();
      return files.length > mostFiles
        ? { problem: 'too-large', detail: `more than ${mostFiles} files match` }
        : { files };
    } catch (error) {
      return { problem: 'unreadable', detail: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Digest of a file; of one that Git LFS keeps elsewhere, as its pointer says. */
  async digest(path: string): Promise<FileDigest | { problem: string }> {
    const wanted = normalPath(path);
    if (wanted === undefined) return { problem: 'it is outside the folder of the manifest' };
    if (isHidden(wanted)) return { problem: 'it is a hidden file' };
    if (wanted !== path || (await this.#follow(wanted)) !== wanted) {
      return this.#entries.has(wanted) || this.#folders.has(wanted)
        ? { problem: 'a symbolic link leads to it' }
        : { problem: 'there is no such file' };
    }
    const entry = this.#entries.get(wanted);
    if (entry === undefined) return { problem: 'it is a folder' };
    const { bytes } = entry;
    if (bytes > mostHashedBytes) {
      return { problem: `it has ${bytes} bytes, and at most ${mostHashedBytes} are read from a commit` };
    }
    return (await this.#hash(wanted, entry)) ?? { problem: 'git does not have its content' };
  }

  /** Hashes a file and, with the same process of git, the small ones in its folder: uploads often come by the folder. */
  async #hash(path: string, entry: Entry): Promise<FileDigest | undefined> {
    if (!this.#digests.has(entry.id)) {
      const isAhead = ([other, { is, id, bytes }]: [string, Entry]) =>
        is === 'file' && dirname(other) === dirname(path) && bytes <= smallBytes && !this.#digests.has(id);
      const blobs = [entry, ...[...this.#entries].filter(isAhead).map(([, ahead]) => ahead)];
      let at = 0;
      for await (const content of readBlobs(this.#folder, blobs))
        this.#digests.set(blobs[at++]?.id ?? '', digestOf(content));
    }
    return this.#digests.get(entry.id);
  }

  /** A path with every link resolved; undefined where nothing is, `outside` where a link leads out. */
  async #follow(path: string, links = 0): Promise<string | 'outside' | undefined> {
    const names = path.split('/');
    for (let count = 1; count <= names.length; count++) {
      const known = names.slice(0, count).join('/');
      const entry = this.#entries.get(known);
      if (entry?.is !== 'link') continue;
      if (links === mostLinks || entry.bytes > 4096) return undefined;
      const target = (await this.#read(entry))?.toString('utf8') ?? '';
      const next = normalPath([...names.slice(0, count - 1), target, ...names.slice(count)].join('/'));
      if (target.startsWith('/') || next === undefined) return 'outside';
      return this.#follow(next, links + 1);
    }
    return this.#entries.has(path) || this.#folders.has(path) ? path : undefined;
  }

  async #read(entry: Entry): Promise<Buffer | undefined> {
    for await (const content of readBlobs(this.#folder, [entry])) return content;
    return undefined;
  }

  async #bytes(
    path: string,
    mostBytes: number,
  ): Promise<{ bytes: Uint8Array } | { problem: 'not-a-file' | 'too-large' | 'unreadable'; detail: string }> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return { problem: 'not-a-file', detail: 'it is a folder' };
    if (entry.bytes > mostBytes) {
      return { problem: 'too-large', detail: `it has ${entry.bytes} bytes, and at most ${mostBytes} are read` };
    }
    const bytes = await this.#read(entry);
    if (bytes === undefined) return { problem: 'unreadable', detail: 'git does not have its content' };
    if (readLfsPointer(bytes) !== undefined) {
      return { problem: 'unreadable', detail: 'git has only a pointer to it: its content is in Git LFS' };
    }
    return { bytes };
  }
}

function digestOf(content: Buffer | undefined): FileDigest | undefined {
  if (content === undefined) return undefined;
  const sha256 = createHash('sha256').update(content).digest('hex');
  return readLfsPointer(content) ?? { sha256, bytes: content.length };
}

/** Submodules are left out: their files belong to another repository. */
function readEntries(listed: string): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const line of listed.split('\0')) {
    const [, mode, id, bytes, path] = /^(\d{6}) blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(line) ?? [];
    if (id === undefined || path === undefined) continue;
    entries.set(path, { id, is: mode === '120000' ? 'link' : 'file', bytes: Number(bytes) });
  }
  return entries;
}

function foldersOf(path: string): string[] {
  const names = path.split('/');
  return names.slice(0, -1).map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Takes `.` and `..` out of a path; undefined where it leads out, or names the folder itself. */
function normalPath(path: string): string | undefined {
  if (path.startsWith('/')) return undefined;
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return undefined;
  }
  return names.length === 0 ? undefined : names.join('/');
}

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

/** Reads the pointer that Git LFS keeps in a repository in place of a file: its digest and size. Undefined for anything else. */
function readLfsPointer(bytes: Uint8Array): FileDigest | undefined {
  if (bytes.length >= mostPointerBytes) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  if (!/^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v\d+\n/.test(text)) return undefined;
  const sha256 = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return sha256 === undefined || size === undefined ? undefined : { sha256, bytes: Number(size) };
}
