import type { OutputError } from '../../src/contract/errors.ts';
import type { LockFile, OutputFiles, RequestBodies } from '../../src/contract/ports.ts';
import { readLock } from '../../src/lock/read.ts';
import { type Lock, lockVersion, type Output } from '../../src/lock/record.ts';
import { writeHeader } from '../../src/lock/write.ts';
import type { MediaFacts } from '../../src/plan/outputs/expectation.ts';

/** A lock file in memory. `failAfter` lines every further append fails, as a full disk does. */
export class MemoryLock implements LockFile {
  readonly path = 'memory.lock.jsonl';
  text: string;
  lines = 0;
  failAfter = Number.POSITIVE_INFINITY;
  /** The machine stops at this append: before the line is there, or when it is and nobody has been told. */
  dieAt: { line: number; written: boolean } | undefined;
  dead = false;

  constructor(text = writeHeader({ version: lockVersion })) {
    this.text = text;
  }

  async append(line: string): Promise<void> {
    await Promise.resolve();
    if (this.dead) await new Promise(() => {});
    if (this.dieAt !== undefined && this.lines >= this.dieAt.line) {
      this.dead = true;
      if (this.dieAt.written) this.text += line;
      await new Promise(() => {});
    }
    if (this.lines >= this.failAfter) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    this.lines += 1;
    this.text += line;
  }

  async replace(lines: Iterable<string>): Promise<void> {
    this.text = [...lines].join('');
  }

  async close(): Promise<void> {}

  /** The same file, for a run that dies before it makes one record per step of its lines. */
  unsettled(): LockFile {
    const { path } = this;
    return { path, append: (line) => this.append(line), replace: async () => {}, close: async () => {} };
  }

  read(): Lock {
    const { lock, diagnostics } = readLock(this.path, Buffer.from(this.text));
    const wrong = diagnostics.filter(({ severity }) => severity === 'error');
    if (wrong.length > 0) throw new Error(JSON.stringify(wrong));
    return lock;
  }
}

export function memoryBodies(): RequestBodies & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    keep: async (key, body) => {
      kept.set(key, body);
    },
    read: async (key) => kept.get(key),
    drop: async (key) => {
      kept.delete(key);
    },
    answered: async () => {},
  };
}

/** Files in memory: path to digest. `problem` makes the next saves fail. */
export function memoryOutputs(): OutputFiles & {
  files: Map<string, string>;
  problems: OutputError[];
  /** What every file is like. */
  facts: { current: MediaFacts | undefined };
} {
  const files = new Map<string, string>();
  const problems: OutputError[] = [];
  const facts: { current: MediaFacts | undefined } = { current: undefined };
  return {
    files,
    problems,
    facts,
    measure: async () => facts.current,
    async save(target, download) {
      const problem = problems.shift();
      if (problem !== undefined) throw problem;
      let text = '';
      for await (const chunk of download.body) text += Buffer.from(chunk).toString('latin1');
      const output = fileOf(`${target.save}.png`, text);
      files.set(output.path, output.sha256);
      return output;
    },
    async relocate(target, from) {
      if (files.get(from.path) !== from.sha256) return undefined;
      files.delete(from.path);
      const output = { ...from, path: `${target.save}.png` };
      files.set(output.path, output.sha256);
      return output;
    },
  };
}

/** A stand-in digest: the content in hex, so that a failure shows what was saved. */
export function fileOf(path: string, content: string): Output {
  const sha256 = Buffer.from(content).toString('hex').padEnd(64, '0').slice(0, 64);
  return { path, sha256, bytes: content.length, type: 'image/png' };
}
