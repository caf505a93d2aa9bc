import type { Media } from '../kinds/kind.ts';

/** Place where a download becomes a file. */
export interface OutputTarget {
  address: string;
  /** Path without extension. */
  save: string;
  media: Media;
  /** Digests of files that may be replaced. Any other file in the way is kept under another name. */
  replaces: readonly string[];
  /** Called when a file in the way was put aside. */
  notice(message: string): void;
}
