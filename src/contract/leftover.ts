/** A local file that no step owns. */
export interface Leftover {
  /** Path relative to the output folder, or to the folder of kept files, with `/` separators. */
  path: string;
  bytes: number;
  /** `output`: left by an earlier purchase. `partial`: left by an interrupted write. `kept`: replaced by a newer output. */
  is: 'output' | 'partial' | 'kept';
  /** Credits charged for the job that it came from; absent where the lock does not say. */
  credits?: number;
  jobId?: string;
  /** `kept`: its path while it was the output, relative to the output folder. */
  was?: string;
  /** `kept`: when, as ISO 8601 UTC. */
  since?: string;
  /** The step that it was bought for. */
  address?: string;
}
