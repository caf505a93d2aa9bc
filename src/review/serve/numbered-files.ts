import type { ReviewData, ReviewFile } from '../../contract/review.ts';
import { hasThumb } from '../thumbs/thumbs.ts';

/**
 * Numbers for files: the page asks for a file by its number, never by a path. A file has the same number in all that is
 * shown later, so that an older page still finds it.
 */
export class NumberedFiles {
  readonly #files: ReviewFile[] = [];
  readonly #numbers = new Map<string, number>();

  get(number: number): ReviewFile | undefined {
    return this.#files[number];
  }

  /** The same data with addresses for its files, relative to the page. */
  address(data: ReviewData): ReviewData {
    const addressed = (file: ReviewFile) => this.#address(file);
    const assets = data.assets.map((asset) => ({
      ...asset,
      files: asset.files.map(addressed),
      earlier: asset.earlier.map((one) => ({ ...one, files: one.files.map(addressed) })),
    }));
    return { ...data, assets };
  }

  #address(file: ReviewFile): ReviewFile {
    if (file.problem !== undefined) return file;
    const name = `${file.sha256} ${file.path}`;
    const number = this.#numbers.get(name) ?? this.#files.length;
    this.#numbers.set(name, number);
    this.#files[number] = file;
    return { ...file, url: `media/${number}`, ...(hasThumb(file) && { thumb: `thumb/${number}` }) };
  }
}
