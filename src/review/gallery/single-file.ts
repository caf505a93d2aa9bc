import { dirname, extname, resolve } from 'node:path';
import { CampaignError } from '../../contract/failure.ts';
import type { ReportParts } from '../../contract/report.ts';
import type { ReviewData } from '../../contract/review.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { lstatOrAbsent, readStart } from '../../disk/fs/plain-file.ts';
import { replaceFile } from '../../disk/fs/replace.ts';
import { requirePageFile } from '../serve/page-files.ts';
import { type GalleryFile, type GalleryPlace, unwritten } from './gallery-folder.ts';
import { galleryStart, singleHtml } from './gallery-html.ts';

/** Maximum size in bytes: mail servers reject larger files, and browsers open them slowly. */
const mostBytes = 20 * 1024 * 1024;

/** A gallery in a single file, with thumbnails only. */
export class SingleFile implements GalleryPlace {
  readonly #path: string;
  readonly #shown: string;
  #bytes = 0;
  #thumbs = 0;
  #left = 0;

  private constructor(path: string, shown: string) {
    this.#path = path;
    this.#shown = shown;
  }

  /**
   * Opens the file for writing. Throws MB3301 if it exists and is not a gallery, and MB3000 if its name does not end in
   * `.html` or `.htm`. `shown`: the path for messages.
   */
  static async open(path: string, shown: string): Promise<SingleFile> {
    if (!/^\.html?$/i.test(extname(path))) {
      throw new CampaignError({
        code: 'MB3000',
        message: `--single-file: ${shown} does not end as a page does`,
        hint: 'give a name that ends in .html',
        options: ['--single-file'],
      });
    }
    const wayOut = findWayOut(dirname(resolve(path)));
    if (wayOut !== undefined) throw refused(shown, `cannot be written: ${wayOut}`);
    const isThere = lstatOrAbsent(path) !== undefined;
    if (isThere && readStart(path, galleryStart.length) !== galleryStart) {
      throw refused(shown, 'already exists and is not a gallery written by report; it was not changed');
    }
    return new SingleFile(path, shown);
  }

  async add({ mentions }: GalleryFile, jpeg: Uint8Array | undefined): Promise<void> {
    this.#left += 1;
    if (jpeg === undefined) return;
    const thumb = `data:image/jpeg;base64,${Buffer.from(jpeg).toString('base64')}`;
    this.#thumbs += 1;
    // The thumbnail is repeated in the data for each reference.
    this.#bytes += thumb.length * mentions.length;
    if (this.#bytes > mostBytes) throw tooLarge(this.#shown, this.#thumbs);
    for (const one of mentions) one.thumb = thumb;
  }

  async fits(): Promise<boolean> {
    return true;
  }

  async finish(data: ReviewData & { report: ReportParts }): Promise<number> {
    data.report.embedded = { thumbs: this.#thumbs, left: this.#left };
    const [styles, script] = await Promise.all(['gallery.css', 'gallery.js'].map(requirePageFile));
    const html = singleHtml(data, { script: `${script}`, styles: `${styles}` });
    const bytes = Buffer.byteLength(html);
    if (bytes > mostBytes) throw tooLarge(this.#shown, this.#thumbs);
    await replaceFile(this.#path, html);
    return bytes;
  }
}

function refused(shown: string, why: string): CampaignError {
  return unwritten(shown, why, 'give another name to --single-file');
}

function tooLarge(shown: string, thumbs: number): CampaignError {
  return new CampaignError({
    code: 'MB3301',
    message: `${shown} would be larger than 20 MB: already its first ${thumbs} small pictures are too much for one file; nothing was written`,
    hint: 'choose fewer with --select, or leave --single-file out: --copy makes a folder that can be sent',
    path: shown,
  });
}
