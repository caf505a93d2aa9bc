import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { noteShape } from './shapes.ts';
import { mainFile, problemOf, stateWords } from './words.ts';

/** The picture that an asset shows; undefined: it shows something else. */
export function pictureOf(asset: ReviewAsset): ReviewFile | undefined {
  const file = mainFile(asset);
  return file?.is === 'image' ? file : undefined;
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
  const [failed, fail] = useFailures(file.sha256);
  const source = sources[failed];
  if (source === undefined) return <Unreadable file={file} />;
  return (
    <img
      fetchpriority={isFirst ? 'high' : 'auto'}
      src={source}
      alt=""
      loading="lazy"
      decoding="async"
      onLoad={({ currentTarget }) => noteShape(source, currentTarget)}
      onError={fail}
    />
  );
}

/** The connection to whoever serves the pictures: one that failed while it was gone is asked for again when it is back. */
export const connection = signal({ isLost: false, found: 0 });

/**
 * Counts how often something could not be read, and begins anew for another key and when the connection is back. No effect
 * does that: an error may come before the first one has run, and what is asked for once more by the same address is silent.
 */
export function useFailures(key: string): [failures: number, fail: () => void] {
  const attempt = `${key} ${connection.value.found}`;
  const [last, setLast] = useState({ attempt, failures: 0 });
  const failures = last.attempt === attempt ? last.failures : 0;
  return [failures, () => setLast({ attempt, failures: failures + 1 })];
}

export function Unreadable({ file }: { file: ReviewFile }) {
  const { isLost } = connection.value;
  return (
    <span class="words">{isLost ? `${file.path} waits for mediabatch` : `This browser cannot read ${file.path}`}</span>
  );
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
    <video
      controls={isPlayer}
      preload="metadata"
      playsInline
      loop
      src={file.url}
      aria-label={name}
      onLoadedMetadata={({ currentTarget }) => noteShape(file.url, currentTarget)}
    />
  );
}
