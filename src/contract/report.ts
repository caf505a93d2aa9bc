/**
 * Additional data of a gallery, in `ReviewData.report`: a page without it shows none of the gallery's views. Times are
 * ms since the epoch.
 */

export interface ReportParts {
  made: number;
  /** Base of the comparison, as the person typed it, and the commit that it resolved to. */
  compare?: { ref: string; commit: string };
  /** Set for a client's gallery: the line above its pictures. */
  client?: string;
  /**
   * Set for a single-file gallery, which contains only small pictures: their number, and the number of omitted
   * originals.
   */
  embedded?: { thumbs: number; left: number };
}

/**
 * Packed form of `ReviewData` in a page: repeated strings and the names of fields are stored once. An object is a list
 * of its shape's index and its values, a list is -1 and its members, `t` is the index of a string.
 */
export interface PackedData {
  version: 1;
  shapes: string[][];
  texts: string[];
  data: Packed;
}

type Packed = null | boolean | number | string | { t: number } | Packed[];
