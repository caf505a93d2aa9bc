import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { RenderOrder } from './kinds/kind.ts';
import type { Renderer } from './renderer.ts';
import { stableJson } from './wire.ts';

/** Version in the name of every rendered file. Increase this version if the same order gives other bytes. */
const rendererVersion = 3;
const memoryBytes = 64 * 1024 * 1024;

interface OutputFile {
  readonly bytes: Buffer;
  readonly etag: string;
}

type SourceLoader = (() => Promise<Uint8Array | undefined>) | undefined;

export class OutputFiles {
  private readonly renderer: Renderer;
  private readonly folder: string | undefined;
  private readonly kept = new Map<string, OutputFile>();
  private readonly beingMade = new Map<string, Promise<OutputFile>>();

  constructor(renderer: Renderer, folder: string | undefined) {
    this.renderer = renderer;
    this.folder = folder;
  }

  /** `loadSource`: loads the source bytes. `get` calls it only if the file must be rendered. */
  get(order: RenderOrder, loadSource?: SourceLoader): Promise<OutputFile> {
    const { kind, body, seed, take, sourceMs, fileName } = order;
    const key = stableJson([rendererVersion, kind, body, seed, take, sourceMs, fileName]);
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32) + extname(fileName);
    const kept = this.kept.get(name);
    if (kept !== undefined) {
      // Moves the file to the end of the map, which is sorted by last use.
      this.kept.delete(name);
      this.kept.set(name, kept);
      return Promise.resolve(kept);
    }
    const beingMade =
      this.beingMade.get(name) ?? this.make(name, order, loadSource).finally(() => this.beingMade.delete(name));
    this.beingMade.set(name, beingMade);
    return beingMade;
  }

  private async make(name: string, order: RenderOrder, loadSource: SourceLoader): Promise<OutputFile> {
    const bytes = (await this.read(name)) ?? (await this.render(name, order, loadSource));
    const file = { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"` };
    this.kept.set(name, file);
    let total = 0;
    for (const [keptName, keptFile] of [...this.kept].reverse()) {
      total += keptFile.bytes.length;
      if (total > memoryBytes && keptName !== name) this.kept.delete(keptName);
    }
    return file;
  }

  private async read(name: string): Promise<Buffer | undefined> {
    if (this.folder === undefined) return undefined;
    return readFile(join(this.folder, name)).catch(() => undefined);
  }

  private async render(name: string, order: RenderOrder, loadSource: SourceLoader): Promise<Buffer> {
    const source = await loadSource?.();
    const bytes = await this.renderer.render(source === undefined ? order : { ...order, source });
    if (this.folder !== undefined) {
      await mkdir(this.folder, { recursive: true });
      // Writes a temporary file and renames it, so that a file with its final name is always complete.
      const unfinished = join(this.folder, `.${name}.${process.pid}`);
      await writeFile(unfinished, bytes);
      await rename(unfinished, join(this.folder, name));
    }
    return bytes;
  }
}
