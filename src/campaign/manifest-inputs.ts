import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import {
  type DataBytes,
  type DataText,
  digestFile,
  type FileDigest,
  listFiles,
  type ManifestText,
  readDataBytes,
  readDataFile,
  readManifestText,
} from '../disk/inputs.ts';

/** Answers questions about files: from the disk, or from a commit. */
export interface InputReader {
  /** True when its files are of another time: the manifest may not declare every variable that has a value now. */
  readonly isEarlier?: true;
  manifest(path: string): Promise<Answers['manifest']>;
  /** Reads a variable file of the user: from the commit only if it contains the file. */
  vars(path: string): Promise<Answers['vars']>;
  data(path: string): Promise<Answers['data']>;
  bytes(path: string): Promise<Answers['bytes']>;
  files(pattern: string): Promise<Answers['files']>;
  digest(path: string): Promise<Answers['digest']>;
}

export interface Answers {
  manifest: ManifestText;
  vars: ManifestText;
  data: DataText;
  bytes: DataBytes;
  files: Awaited<ReturnType<typeof listFiles>>;
  digest: FileDigest | { problem: string };
}

/** A question to the disk, and the SHA-256 (base64) of what it answered. Plain JSON. */
export interface Asked {
  ask: keyof Answers;
  /** Paths of the manifest and of files of vars as a person gave them; all others relative to the manifest's folder. */
  path: string;
  answer: string;
}

/** Answers from the disk. `manifest`: the path of the manifest. */
export function diskReader(manifest: string): InputReader {
  const folder = dirname(resolve(manifest));
  return {
    manifest: readManifestText,
    vars: readManifestText,
    data: (path) => readDataFile(folder, path),
    bytes: (path) => readDataBytes(folder, path),
    files: (pattern) => listFiles(folder, pattern),
    digest: (path) => digestFile(folder, path),
  };
}

/** Reads the files that a manifest needs, and remembers the answers: equal answers make an equal graph. */
export class ManifestInputs {
  readonly asked: Asked[] = [];
  readonly #reader: InputReader;

  /** `manifest`: the path of the manifest. */
  constructor(manifest: string, reader: InputReader = diskReader(manifest)) {
    this.#reader = reader;
  }

  async ask<Ask extends keyof Answers>(ask: Ask, path: string): Promise<Answers[Ask]> {
    const answer = await this.#reader[ask](path);
    this.asked.push({ ask, path, answer: digestOf(answer) });
    return answer as Answers[Ask];
  }

  /** Whether the disk still gives the answers that it gave; the first that differs ends the look. */
  async areAnsweredAlike(asked: readonly Asked[]): Promise<boolean> {
    for (const { ask, path, answer } of asked) if (digestOf(await this.#reader[ask](path)) !== answer) return false;
    return true;
  }
}

function digestOf(answer: Answers[keyof Answers]): string {
  const hash = createHash('sha256');
  if ('text' in answer) hash.update('text ').update(answer.text);
  else if ('bytes' in answer && typeof answer.bytes !== 'number') hash.update('bytes ').update(answer.bytes);
  else hash.update(JSON.stringify(answer));
  return hash.digest('base64');
}
