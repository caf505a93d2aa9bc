/** A local file that no step owns. */
export interface Leftover {
  /** Relative to the output folder, with `/` separators. */
  path: string;
  bytes: number;
  /** `output`: left by an earlier purchase. `partial`: left by an interrupted download. */
  is: 'output' | 'partial';
  /** The step that it was bought for. */
  address?: string;
}
