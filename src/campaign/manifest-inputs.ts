import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import {
  type DataText,
  digestFile,
  type FileDigest,
  listFiles,
  type ManifestText,
  readDataFile,
  readManifestText,
} from '../disk/inputs.ts';

interface Answers {
  manifest: ManifestText;
  vars: ManifestText;
  data: DataText;
  files: Awaited<ReturnType<typeof listFiles>>;
  digest: FileDigest | { problem: string };
}

/** A question to the disk, and the SHA-256 (base64) of what it answered. Plain JSON. */
export interface Asked {
  ask: keyof Answers;
  /** Those of the manifest and of files of vars as a person gave them; all others relative to the manifest's folder. */
  path: string;
  answer: string;
}

/** Reads the files that a manifest needs, and remembers the answers: equal answers make an equal graph. */
export class ManifestInputs {
  readonly asked: Asked[] = [];
  readonly #folder: string;

  /** `manifest`: the path of the manifest. */
  constructor(manifest: string) {
    this.#folder = dirname(resolve(manifest));
  }

  async ask<Ask extends keyof Answers>(ask: Ask, path: string): Promise<Answers[Ask]> {
    const answer = await this.#read(ask, path);
    this.asked.push({ ask, path, answer: digestOf(answer) });
    return answer as Answers[Ask];
  }

  /** Whether the disk still gives the answer that it gave. */
  async isAnsweredAlike({ ask, path, answer }: Asked): Promise<boolean> {
    return digestOf(await this.#read(ask, path)) === answer;
  }

  #read(ask: keyof Answers, path: string): Promise<Answers[keyof Answers]> {
    switch (ask) {
      case 'manifest':
      case 'vars':
        return readManifestText(path);
      case 'data':
        return readDataFile(this.#folder, path);
      case 'files':
        return listFiles(this.#folder, path);
      case 'digest':
        return digestFile(this.#folder, path);
      default:
        return ask satisfies never;
    }
  }
}

function digestOf(answer: Answers[keyof Answers]): string {
  const hash = createHash('sha256');
  if ('text' in answer) hash.update('text ').update(answer.text);
  else hash.update(JSON.stringify(answer));
  return hash.digest('base64');
}
