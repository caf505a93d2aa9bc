import { constants, readdirSync } from 'node:fs';
import { copyFile, lstat, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import { renameFile } from '../../disk/fs/durable.ts';
import { makeFolders } from '../../disk/fs/folders.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile, readStart } from '../../disk/fs/plain-file.ts';
import { replaceFile, temporaryName } from '../../disk/fs/replace.ts';
import { hashFile } from '../../disk/outputs/hash-file.ts';
import { messageOf } from '../../ground/values.ts';
import { galleryStart, unfinishedHtml } from './gallery-html.ts';

/** Patterns of names that we create in the folders of a gallery; other files in them are never removed. */
const folders = { thumbs: /^[0-9a-f]{20}\.jpg$/, media: /-[0-9a-f]{12}\.[a-z0-9]+$/ } as const;

const temporary = /^\.mediabatch-[0-9a-f]{16}\.tmp$/;

/**
 * A gallery on disk. Each file is written under a temporary name and renamed, `index.html` last. The folder therefore
 * always has the complete previous or new gallery, even after a crash. Unchanged files are not written.
 */
export class GalleryFolder {
  readonly path: string;
  readonly #used = new Set<string>();
  /** Paths of files that this process wrote. */
  readonly #written = new Set<string>();
  /** Whether the folder did not exist before. */
  readonly #isNew: boolean;

  private constructor(path: string, isNew: boolean) {
    this.path = path;
    this.#isNew = isNew;
  }

  /**
   * Creates the folder, or opens an earlier gallery. Throws MB3301 for a folder with other content. `shown`: the path
   * for messages.
   */
  static async open(path: string, shown: string): Promise<GalleryFolder> {
    for (const name of ['', ...Object.keys(folders)]) {
      const wayOut = findWayOut(join(path, name, 'index.html'));
      if (wayOut !== undefined) throw unwritten(shown, `cannot be written: ${wayOut}`);
    }
    const index = join(path, 'index.html');
    const found = lstatOrAbsent(path);
    if (found !== undefined && !found.isDirectory()) throw unwritten(shown, 'is a file');
    const isOurs = found !== undefined && readStart(index, galleryStart.length) === galleryStart;
    if (found !== undefined && !isOurs && readdirSync(path).some((name) => !temporary.test(name))) {
      throw unwritten(shown, 'already exists and is not a gallery written by report; it was not changed');
    }
    try {
      await makeFolders(path);
      if (!isOurs) await replaceFile(index, unfinishedHtml);
      await makeFolders(join(path, 'thumbs'));
    } catch (error) {
      throw unwritten(shown, `cannot be written: ${messageOf(error)}`);
    }
    return new GalleryFolder(path, found === undefined);
  }

  /** Writes a file, unless it has these bytes already. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    this.#used.add(name);
    const path = join(this.path, name);
    if (hasBytes(path, bytes)) return;
    await this.#replace(path, (unnamed) => writeFile(unnamed, bytes, { flag: 'wx' }));
  }

  /**
   * Copies a file. It is not linked, because an edit of the copy would change the original. `sha256`: in hex. An
   * existing copy of the same size and time is not read again.
   */
  async copy(name: string, source: string, sha256: string): Promise<void> {
    this.#used.add(name);
    const path = join(this.path, name);
    const [old, { size, atime, mtime }] = [lstatOrAbsent(path), await lstat(source)];
    if (old?.isFile() === true && old.size === size) {
      if (old.mtime.getTime() === mtime.getTime() || (await hashFile(path))?.sha256 === sha256) return;
    }
    await this.#replace(path, async (unnamed) => {
      await copyFile(source, unnamed, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await utimes(unnamed, atime, mtime);
    });
  }

  /** Writes the page, then removes files that it no longer uses. */
  async finish(html: string): Promise<void> {
    const index = join(this.path, 'index.html');
    if (!hasBytes(index, Buffer.from(html))) await replaceFile(index, html);
    for (const [folder, ours] of [...Object.entries(folders), ['', temporary] as const]) {
      if (lstatOrAbsent(join(this.path, folder))?.isDirectory() !== true) continue;
      for (const name of readdirSync(join(this.path, folder))) {
        const isStray = (ours.test(name) && !this.#used.has(`${folder}/${name}`)) || temporary.test(name);
        if (isStray) await unlink(join(this.path, folder, name)).catch(() => undefined);
      }
    }
  }

  /** Removes what was written; an earlier gallery stays as it was. */
  async discard(): Promise<void> {
    if (this.#isNew) await rm(this.path, { recursive: true });
    else for (const path of this.#written) await unlink(path).catch(() => undefined);
  }

  async #replace(path: string, make: (unnamed: string) => Promise<void>): Promise<void> {
    const unnamed = join(path, '..', temporaryName('tmp'));
    await makeFolders(join(path, '..'));
    try {
      if (lstatOrAbsent(path) === undefined) this.#written.add(path);
      await make(unnamed);
      await renameFile(unnamed, path);
    } catch (error) {
      await unlink(unnamed).catch(() => undefined);
      throw error;
    }
  }
}

function hasBytes(path: string, bytes: Uint8Array): boolean {
  // Synchronously, because that halves the time for thousands of small files.
  const found = readSmallFile(path, bytes.length);
  return found !== undefined && Buffer.compare(found, bytes) === 0;
}

export function unwritten(shown: string, why: string, hint = 'give another place with --out'): CampaignError {
  return new CampaignError({ code: 'MB3301', message: `the gallery ${shown} ${why}`, hint, path: shown });
}
