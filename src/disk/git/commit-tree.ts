import { createHash } from 'node:crypto';
import { dirname, extname, normalize } from 'node:path/posix';
import { maxManifestBytes } from '../../manifest/yaml/source.ts';
import { compileFilePattern, type ListedFiles, leadsOut, mostFiles, outsidePattern } from '../fs/list-files.ts';
import {
  type DataBytes,
  type DataText,
  type FileDigest,
  type ManifestText,
  maxDataBytes,
  maxWorkbookBytes,
  readUtf8,
} from '../inputs.ts';
import { askGit, type GitBlob, gitRefusal, readBlobs, runGit } from './git-command.ts';

const mostPointerBytes = 1024;

/** Most bytes of an uploaded file that is hashed, because git prints it as a whole. Larger files are in Git LFS. */
const mostHashedBytes = 512 * 1024 ** 2;
/** File size in bytes below which starting git takes longer than hashing. */
const smallBytes = 256 * 1024;

/** A folder of a commit, read from git, under the rules of the working tree: nothing outside, nothing hidden. */
export class CommitTree {
  readonly #folder: string;
  /** Name of the folder for git: `COMMIT:path/`. */
  readonly #name: string;
  readonly #files: ReadonlyMap<string, GitBlob>;
  readonly #digests = new Map<string, FileDigest | undefined>();

  private constructor(folder: string, name: string, files: ReadonlyMap<string, GitBlob>) {
    this.#folder = folder;
    this.#name = name;
    this.#files = files;
  }

  /** `prefix`: path of `folder` within its repository: empty, or ending with `/`. */
  static async open(folder: string, commit: string, prefix: string): Promise<CommitTree> {
    const name = `${commit}:${prefix}`;
    const words = ['ls-tree', '-r', '-z', '-l', '--full-tree', name.replace(/\/$/, '')];
    const { code, out, err } = await runGit(folder, words, { mostBytes: 256 * 1024 ** 2 });
    // A partial clone does not know the sizes of missing objects.
    if (code !== 0) throw gitRefusal(words, err);
    return new CommitTree(folder, name, readFiles(out.toString('utf8')));
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  async manifest(path: string): Promise<ManifestText> {
    const found = this.#files.get(path) ?? (await this.#follow(path));
    const read = 'problem' in found ? found : await this.#read(found, maxManifestBytes);
    const decoded = 'bytes' in read ? readUtf8(read.bytes) : read;
    if ('text' in decoded) return decoded;
    const { problem, detail = 'there is no such file' } = decoded;
    if (problem === 'not-a-file') return { problem: 'folder', detail };
    return { problem: problem === 'outside' ? 'unreadable' : problem, detail };
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
    const wanted = normalize(path);
    if (/^(\/|\.\.?(\/|$))/.test(wanted)) return { problem: 'outside' };
    if (isHidden(wanted)) return { problem: 'outside', detail: 'it is a hidden file' };
    const found = this.#files.get(wanted) ?? (await this.#follow(wanted));
    return 'problem' in found ? found : this.#read(found, mostBytes);
  }

  /** Finds the file that a link leads to: a visible file of this folder with the link's extension. */
  async #follow(path: string): Promise<GitBlob | Problem> {
    if (path.includes('\n')) return { problem: 'missing' };
    const words = ['cat-file', '--batch-check', '--follow-symlinks'];
    const answer = (await askGit(this.#folder, words, { input: `${this.#name}${path}\n` })).toString('utf8');
    const [, id, type] = /^([0-9a-f]{40,64}) (blob|tree) \d+$/m.exec(answer) ?? [];
    if (id === undefined && !answer.startsWith('symlink ')) return { problem: 'missing' };
    if (type === 'tree') return { problem: 'not-a-file', detail: 'it is a folder' };
    const isMeant = ([other, blob]: [string, GitBlob]) =>
      blob.id === id && !isHidden(other) && extname(other) === extname(path);
    const [, found] = [...this.#files].find(isMeant) ?? [];
    const detail = 'a symbolic link leads out of its folder, to a hidden file or to a file of another kind';
    return found ?? { problem: 'outside', detail };
  }

  async files(pattern: string): Promise<ListedFiles> {
    if (leadsOut(pattern)) return outsidePattern;

    try {
      const matches = await compileFilePattern(pattern);
      const left = /(^|\/)(node_modules|[^/]*\.sandbox)\//;
      const files = [...this.#files.keys()]
        .filter((path) => !isHidden(path) && !left.test(path) && matches(path))
        .sort();
      return files.length > mostFiles
        ? { problem: 'too-large', detail: `more than ${mostFiles} files match` }
        : { files };
    } catch (error) {
      return { problem: 'unreadable', detail: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Digest of a plain file; for a file in Git LFS, the digest in its pointer. */
  async digest(path: string): Promise<FileDigest | { problem: string }> {
    if (isHidden(path)) return { problem: 'it is a hidden file' };
    const file = this.#files.get(path);
    if (file === undefined) return { problem: 'there is no such plain file' };
    if (file.bytes > mostHashedBytes) {
      return { problem: `it has ${file.bytes} bytes, and at most ${mostHashedBytes} are read from a commit` };
    }
    return (await this.#hash(path, file)) ?? { problem: 'git does not have its content' };
  }

  /** Hashes a file and the small files next to it in one git process, because uploads often share a folder. */
  async #hash(path: string, file: GitBlob): Promise<FileDigest | undefined> {
    if (!this.#digests.has(file.id)) {
      const isAhead = ([other, { id, bytes }]: [string, GitBlob]) =>
        dirname(other) === dirname(path) && bytes <= smallBytes && !this.#digests.has(id);
      const blobs = [file, ...[...this.#files].filter(isAhead).map(([, ahead]) => ahead)];
      let at = 0;
      for await (const content of readBlobs(this.#folder, blobs))
        this.#digests.set(blobs[at++]?.id ?? '', digestOf(content));
    }
    return this.#digests.get(file.id);
  }

  async #read(
    file: GitBlob,
    mostBytes: number,
  ): Promise<{ bytes: Buffer } | { problem: 'too-large' | 'unreadable'; detail: string }> {
    if (file.bytes > mostBytes) {
      return { problem: 'too-large', detail: `it has ${file.bytes} bytes, and at most ${mostBytes} are read` };
    }
    for await (const bytes of readBlobs(this.#folder, [file])) {
      if (bytes === undefined) break;
      if (readLfsPointer(bytes) === undefined) return { bytes };
      return { problem: 'unreadable', detail: 'git has only a pointer to it: its content is in Git LFS' };
    }
    return { problem: 'unreadable', detail: 'git does not have its content' };
  }
}

type Problem = Extract<DataText, { problem: string }>;

function digestOf(content: Buffer | undefined): FileDigest | undefined {
  if (content === undefined) return undefined;
  const sha256 = createHash('sha256').update(content).digest('hex');
  return readLfsPointer(content) ?? { sha256, bytes: content.length };
}

/** Parses git's list of files, without links and submodules. */
function readFiles(listed: string): Map<string, GitBlob> {
  const files = new Map<string, GitBlob>();
  for (const line of listed.split('\0')) {
    const [, id, bytes, path] = /^100\d{3} blob ([0-9a-f]+) +(\d+)\t([\s\S]+)$/.exec(line) ?? [];
    if (id !== undefined && path !== undefined) files.set(path, { id, bytes: Number(bytes) });
  }
  return files;
}

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'));
}

/** Reads a Git LFS pointer: the digest and size of its file. `undefined` for any other content. */
function readLfsPointer(bytes: Uint8Array): FileDigest | undefined {
  if (bytes.length >= mostPointerBytes) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  if (!/^version https:\/\/(git-lfs\.github\.com|hawser\.github\.com)\/spec\/v\d+\n/.test(text)) return undefined;
  const sha256 = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return sha256 === undefined || size === undefined ? undefined : { sha256, bytes: Number(size) };
}
