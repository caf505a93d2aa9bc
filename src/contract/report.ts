/** Additional data of a gallery, in `ReviewData.report`. Without this data, the page has no gallery views. */
export interface ReportParts {
  made: number;
  /** Commit to which the gallery compares the campaign. `ref`: as the user typed it. */
  compare?: { ref: string; commit: string };
  client?: string;
  /** Set in a single-file gallery. `thumbs`: number of embedded thumbnails. `left`: number of originals left out. */
  embedded?: { thumbs: number; left: number };
}

/**
 * `ReviewData` in which each string and each list of property names is stored once. An object becomes a list: the index
 * in `shapes`, then the values. A list becomes -1 and its members. `t` is an index in `texts`.
 */
export interface PackedData {
  version: 1;
  shapes: string[][];
  texts: string[];
  data: Packed;
}

type Packed = null | boolean | number | string | { t: number } | Packed[];
