import { useState } from 'preact/hooks';
import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { problemOf, stateWords } from './words.ts';

/** The file that an asset shows first: its picture, sound or film, else any other file. */
export function mainFile({ files }: ReviewAsset): ReviewFile | undefined {
  return files.find((file) => file.is !== 'other') ?? files[0];
}

/** Why there is nothing to see; undefined: there is. */
export function whyNothing(asset: ReviewAsset): string | undefined {
  if (asset.files.length === 0) return stateWords(asset) || 'it has no file';
  return problemOf(mainFile(asset));
}

/**
 * A small picture of a file: the thumbnail, and where that cannot be made, the picture itself. Has the file's digest as its
 * key: what could not be read of one says nothing of another. `isFirst`: it is asked for before others.
 */
export function Thumb({ file, isFirst = false }: { file: ReviewFile; isFirst?: boolean | undefined }) {
  const sources = [file.thumb, file.url].filter((source) => source !== undefined);
  const [failed, setFailed] = useState(0);
  const source = sources[failed];
  if (source === undefined) return <Unreadable file={file} />;
  return (
    <img
      fetchpriority={isFirst ? 'high' : 'auto'}
      src={source}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => setFailed(failed + 1)}
    />
  );
}

export function Unreadable({ file }: { file: ReviewFile }) {
  return <span class="words">{`This browser cannot read ${file.path}`}</span>;
}

/** Text in a tile for what has no picture. */
export function Nothing({ text }: { text: string }) {
  return <span class="words">{text}</span>;
}

/** A song or a voice, with the browser's own player. */
export function Sound({ file, name }: { file: ReviewFile; name: string }) {
  return (
    // biome-ignore lint/a11y/useMediaCaption: what was generated has no captions
    <audio controls preload="none" src={file.url} aria-label={name} />
  );
}

/** A video or a clip. */
export function Film({ file, name, isPlayer }: { file: ReviewFile; name: string; isPlayer: boolean }) {
  return (
    // biome-ignore lint/a11y/useMediaCaption: what was generated has no captions
    <video controls={isPlayer} preload="metadata" playsInline loop src={file.url} aria-label={name} />
  );
}
