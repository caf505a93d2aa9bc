import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { listFiles } from '../disk/fs/list-files.ts';
import {
  digestFile,
  type FileBytes,
  type FileText,
  readDataBytes,
  readDataFile,
  readManifestText,
} from '../disk/inputs.ts';
import type { Digest } from '../disk/outputs/hash-file.ts';
import { besideManifest } from '../manifest/file-path.ts';

export interface InputReader {
  /** True for files of a commit: an old manifest may lack variables for which the user gives values. */
  readonly isEarlier?: true;
  manifest(path: string): Promise<Answers['manifest']>;
  vars(path: string): Promise<Answers['vars']>;
  data(path: string): Promise<Answers['data']>;
  bytes(path: string): Promise<Answers['bytes']>;
  files(pattern: string): Promise<Answers['files']>;
  digest(path: string): Promise<Answers['digest']>;
}

export interface Answers {
  manifest: FileText;
  vars: FileText;
  data: FileText;
  bytes: FileBytes;
  files: Awaited<ReturnType<typeof listFiles>>;
  digest: Digest | { problem: string };
}

export interface Asked {
  ask: keyof Answers;
  /** Path relative to the manifest's folder. Paths of manifest and variable files are as the user typed them. */
  path: string;
  answer: string;
}

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

/** Reads the files that a manifest refers to, and records their content. Equal content gives an equal graph. */
export class ManifestInputs {
  readonly asked: Asked[] = [];
  readonly sources = new Map<string, string>();
  readonly #manifest: string;
  readonly #reader: InputReader;

  constructor(manifest: string, reader: InputReader = diskReader(manifest)) {
    this.#manifest = manifest;
    this.#reader = reader;
  }

  async ask<Ask extends keyof Answers>(ask: Ask, path: string): Promise<Answers[Ask]> {
    const answer = await this.#reader[ask](path);
    this.asked.push({ ask, path, answer: digestOf(answer) });
    const name = ask === 'data' ? besideManifest(this.#manifest, path) : path;
    if ('text' in answer) this.sources.set(name, answer.text);
    return answer as Answers[Ask];
  }
}

export async function haveSameAnswers(manifest: string, asked: readonly Asked[]): Promise<boolean> {
  const reader = diskReader(manifest);
  for (const { ask, path, answer } of asked) if (digestOf(await reader[ask](path)) !== answer) return false;
  return true;
}

function digestOf(answer: Answers[keyof Answers]): string {
  const hash = createHash('sha256');
  if ('text' in answer) hash.update('text ').update(answer.text);
  else if ('bytes' in answer && typeof answer.bytes !== 'number') hash.update('bytes ').update(answer.bytes);
  else hash.update(JSON.stringify(answer));
  return hash.digest('base64');
}
