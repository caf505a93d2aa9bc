/** A local file that no step owns. */
export interface Leftover {
  /** Relative to the folder of outputs, `/` separators. */
  path: string;
  bytes: number;
  /** `output`: an earlier purchase gave it. `partial`: a download that was broken off left it. */
  is: 'output' | 'partial';
  /** The step that it was bought for. */
  address?: string;
}
