import type { Media } from '../kinds/kind.ts';

/** Bytes on their way to a file. */
export interface Incoming {
  /** Rejects when the body ends early or the connection breaks. Its iterator is closed (`return`) even when it was never begun. */
  body: AsyncIterable<Uint8Array>;
  /** Announced length; absent when unknown. */
  bytes?: number;
}

export interface OutputTarget {
  address: string;
  /** Path without extension. */
  save: string;
  media: Media;
  /** Digests of files that may be replaced. Any other file in the way is kept under another name. */
  replaces: readonly string[];
  /** Told when a file in the way was put aside. */
  notice(message: string): void;
}

/** Why bytes could not become a file. */
export class OutputError extends Error {
  /** `bad-bytes`: the download is not what it should be, try again. `disk`: this machine cannot write. `path`: the path is refused. */
  readonly why: 'bad-bytes' | 'disk' | 'path';
  constructor(why: 'bad-bytes' | 'disk' | 'path', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutputError';
    this.why = why;
  }
}
