/** Additional data of a gallery, in `ReviewData.report`. The review page omits gallery views without it. */
export interface ReportParts {
  made: number;
  /** Commit to which the gallery compares the campaign. `ref`: as the user typed it. */
  compare?: { ref: string; commit: string };
  /** Title above the pictures in a gallery for a client. */
  client?: string;
  /** For a gallery in a single file. `thumbs`: number of embedded thumbnails. `left`: number of omitted originals. */
  embedded?: { thumbs: number; left: number };
}

/**
 * `ReviewData` with each string and shape stored once. An object is a list: the index of its keys in `shapes`, then its
 * values. A list starts with -1. `t` is an index in `texts`.
 */
export interface PackedData {
  version: 1;
  shapes: string[][];
  texts: string[];
  data: Packed;
}

type Packed = null | boolean | number | string | { t: number } | Packed[];
