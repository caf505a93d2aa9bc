/**
 * Contents that a gallery has beside those of the review page. It stands in `ReviewData.report`: a page without it has none of
 * these views. Times are ms since the epoch.
 */

export interface ReportParts {
  /** When the gallery was written. */
  made: number;
  /** Other side of the comparison, as the person typed it, and the commit that was found. */
  compare?: { ref: string; commit: string };
  /** It is for a client, with this line above it; empty: with none. */
  client?: string;
  /** A single file has small pictures only: how many of them, and how many originals are not in it. */
  embedded?: { thumbs: number; left: number };
}

/**
 * A `ReviewData` that is long, as it stands in a page: texts that occur several times, and the names of fields, stand there
 * once. An object is its shape and its values, a list is -1 and its members, `t` is a text.
 */
export interface PackedData {
  version: 1;
  /** Names of fields. */
  shapes: string[][];
  texts: string[];
  data: Packed;
}

type Packed = null | boolean | number | string | { t: number } | Packed[];
