/**
 * Contents that a gallery has beside those of the review page. It stands in `ReviewData.report`: a page without it has none of
 * these views. Assets are named by their index in `ReviewData.assets`; times are ms since the epoch; credits that nobody
 * knows are null.
 */

export interface ReportParts {
  /** When the gallery was written. */
  made: number;
  /** Other side of the comparison, as the person typed it, and the commit that was found. */
  compare?: { ref: string; commit: string };
  /** The run that the timeline is of. */
  timeline?: ReportTimeline;
  cost?: ReportCost;
  /** A drawing of the campaign: one `<svg>` element without script, made by `graph`. */
  graph?: string;
  /** Outputs that hardly differ to the eye; the largest waste first. */
  alike?: ReportAlike[];
  /** Number of images that could be compared for `alike`. */
  hashed?: { compared: number; images: number };
  /** A single file has small pictures only: how many of them, and how many originals are not in it. */
  embedded?: { thumbs: number; left: number };
}

export interface ReportTimeline {
  run: string;
  started: number;
  /** Absent: it has not ended, or nobody wrote its end. */
  ended?: number;
  exitCode?: number;
  /** Jobs in the order in which they began. */
  spans: ReportSpan[];
}

/** One job of a run. A phase that was not reached, or not seen by this run, is absent. */
export interface ReportSpan {
  /** Absent: the step is no more in the campaign. */
  asset?: number;
  address: string;
  task: string;
  /** When the create left, when the service named a job, when the job was over, and when its outputs were saved. */
  sent?: number;
  job?: number;
  finished?: number;
  saved?: number;
  /** How it ended in this run; `open`: it did not. */
  end: 'done' | 'failed' | 'unresolved' | 'open';
  credits?: number | null;
  /** Error in the service's words. */
  error?: string;
}

export interface ReportCost {
  /** Credits charged by all jobs on record, and by those whose outputs are in use now. */
  spent: number | null;
  inUse: number | null;
  /** Held for jobs that are under way. */
  held: number;
  budget?: number;
  /** Each sums up to `spent`, largest first. */
  tables: ReportCostTable[];
}

export interface ReportCostTable {
  by: 'task' | 'kind' | 'tag' | 'model' | 'outcome';
  lines: { name: string; jobs: number; credits: number | null }[];
}

export interface ReportAlike {
  /** `takes`: of one gate or key. `rows`: other rows of one task. `edit`: an output and what it took the place of. */
  is: 'takes' | 'rows' | 'edit';
  /** One asset where `edit`, else two or more. */
  members: number[];
  /** Credits charged for all but one of them; where `edit`, for the later one. */
  credits: number | null;
  /** Bits of 64 in which the two that differ most do. */
  distance: number;
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
