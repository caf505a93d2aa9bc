import type { Stats } from 'node:fs';
import type { Script } from 'node:vm';

/** Compiled code of the files of one installation. What is wrong, old or not ours counts as absent. */
export interface CodeCache {
  read(name: string, source: Buffer): Buffer | undefined;
  /** At the end, when V8 has also compiled the functions that were called. */
  keepAtExit(name: string, source: Buffer, script: Script): void;
}

const digestBytes = 32;
const smallestSourceBytes = 16 * 1024;

/**
 * Where Node keeps its own compile cache, and switched off as it is. V8 itself refuses what another V8 or other flags
 * made, but looks at the length of the source only, and believes the bytes: the digest holds source and bytes together,
 * and the folder must be ours alone.
 */
export function openCodeCache(installation: string): CodeCache | undefined {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = process.env;
  if (NODE_DISABLE_COMPILE_CACHE === '1' || NODE_V8_COVERAGE) return undefined;
  const fs = process.getBuiltinModule('node:fs');
  const { createHash } = process.getBuiltinModule('node:crypto');
  const { join } = process.getBuiltinModule('node:path');
  const parent = NODE_COMPILE_CACHE || process.getBuiltinModule('node:os').tmpdir();
  const own = join(parent, `mediabatch-code-${process.getuid?.() ?? 'user'}`);
  const { cachedDataVersionTag } = process.getBuiltinModule('node:v8');
  const tag = cachedDataVersionTag();
  const kind = [installation, process.version, process.arch, tag].join('\n');
  const folder = join(own, createHash('sha256').update(kind).digest('hex').slice(0, 16));
  const digest = (source: Buffer, data: Buffer) => createHash('sha256').update(source).update(data).digest();
  const fileOf = (name: string) => join(folder, `${name.replace(/(-[\w-]{8})?\.cjs$/, '')}.bin`);
  const kept: { name: string; source: Buffer; script: Script }[] = [];

  function replace(path: string, bytes: Buffer): void {
    const temporary = `${path}.${process.pid}`;
    try {
      fs.writeFileSync(temporary, bytes, { mode: 0o600 });
      fs.renameSync(temporary, path);
    } catch (error) {
      // A full disk is not kept full by us.
      fs.rmSync(temporary, { force: true });
      throw error;
    }
  }

  function writeAll(): void {
    // A large campaign sets flags of V8 (`keep-heap-small.ts`): what is compiled under them fits no later start.
    if (cachedDataVersionTag() !== tag) return;
    try {
      fs.mkdirSync(own, { recursive: true, mode: 0o700 });
      if (!isOwnFolder(fs.lstatSync(own))) return;
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { name, source, script } of kept) {
        const data = script.createCachedData();
        replace(fileOf(name), Buffer.concat([digest(source, data), data]));
      }
    } catch {
      // The next run compiles again.
    }
  }

  return {
    read(name, source) {
      if (source.length < smallestSourceBytes) return undefined;
      try {
        if (!isOwnFolder(fs.lstatSync(own))) return undefined;
        const bytes = fs.readFileSync(fileOf(name));
        const data = bytes.subarray(digestBytes);
        return digest(source, data).equals(bytes.subarray(0, digestBytes)) ? data : undefined;
      } catch {
        return undefined;
      }
    },
    keepAtExit(name, source, script) {
      if (source.length < smallestSourceBytes) return;
      if (kept.length === 0) process.once('exit', writeAll);
      kept.push({ name, source, script });
    },
  };
}

/** Whoever can write there could have us run what they like. */
function isOwnFolder(stats: Stats): boolean {
  if (!stats.isDirectory()) return false;
  return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
}
