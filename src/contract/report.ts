/** Additional data of a gallery, in `ReviewData.report`. A page without it has no views of the gallery. */
export interface ReportParts {
  /** Milliseconds since 1970. */
  made: number;
  /** Base of the comparison: the reference as typed, and its commit. */
  compare?: { ref: string; commit: string };
  /** Line above the pictures of a client's gallery. */
  client?: string;
  /** Single-file gallery: number of embedded small pictures, and of omitted originals. */
  embedded?: { thumbs: number; left: number };
}

/**
 * Packed form of `ReviewData`, with each string and shape stored once. An object is the index of its shape and its
 * values. A list is -1 and its members. `t` is the index of a string.
 */
export interface PackedData {
  version: 1;
  shapes: string[][];
  texts: string[];
  data: Packed;
}

type Packed = null | boolean | number | string | { t: number } | Packed[];
