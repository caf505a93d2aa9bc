import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { noteShape } from './shapes.ts';
import { mainFile, problemOf, stateWords, timeOf } from './words.ts';

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

interface ThumbProps {
  file: ReviewFile;
  /** It is asked for before others. */
  isFirst?: boolean | undefined;
  /** CSS pixels of the longer side of its place. */
  side?: number | undefined;
}

/** Pixels of the longer side of a small picture, and how much larger than it is one may be shown. */
const smallSide = 384;
const mostEnlarged = 1.2;

/** The addresses of a picture for a place of this size, the best first. */
export function sourcesOf(file: ReviewFile, side = 0): string[] {
  const isLarge = side * devicePixelRatio > smallSide * mostEnlarged;
  const large = isLarge && file.thumb !== undefined ? [file.large ?? file.url] : [];
  return [...large, file.thumb, ...(isLarge ? [] : [file.url])].filter((source) => source !== undefined);
}

/**
 * A small picture of a file: the thumbnail, with a larger one over it where that is shown larger than it is; where it cannot be
 * made, the picture itself. Has the file's digest as its key: what could not be read of one says nothing of another.
 */
export function Thumb({ file, isFirst = false, side }: ThumbProps) {
  const sources = sourcesOf(file, side);
  const [failed, fail, isRetried] = useFailures(file.sha256);
  const source = sources[failed];
  if (source === undefined) return <Unreadable file={file} isRetried={isRetried} />;
  const isOver = source !== file.thumb && file.thumb !== undefined;
  return (
    <img
      fetchpriority={isFirst ? 'high' : 'auto'}
      src={source}
      style={isOver ? { backgroundImage: `url(${file.thumb})` } : undefined}
      alt=""
      loading="lazy"
      decoding="async"
      onLoad={({ currentTarget }) => {
        noteShape(source, currentTarget);
        currentTarget.style.removeProperty('background-image');
      }}
      onError={fail}
    />
  );
}

/** The connection to the server of pictures. After an interruption, pictures that failed are requested again. */
export const connection = signal({ isLost: false, found: 0 });

/** Milliseconds after which what could not be read is asked for once more. */
const againMs = 2000;

/**
 * Counts how often something could not be read, and begins again for another key, when the connection is back, and once after a
 * while. No effect does that: an error may come before the first one has run, and what is asked for once more by the same
 * address is silent.
 */
export function useFailures(key: string): [failures: number, fail: () => void, isRetried: boolean] {
  const { found } = connection.value;
  const [last, setLast] = useState({ attempt: '', failures: 0, retried: '' });
  const isRetried = last.retried === `${key} ${found}`;
  const attempt = `${key} ${found} ${isRetried}`;
  const failures = last.attempt === attempt ? last.failures : 0;
  const fail = () => {
    setLast({ ...last, attempt, failures: failures + 1 });
    if (!isRetried && failures === 0)
      setTimeout(() => setLast((now) => ({ ...now, retried: `${key} ${found}` })), againMs);
  };
  return [failures, fail, isRetried];
}

/** `isRetried`: it was asked for again. Before that the network may be gone. */
export function Unreadable({ file, isRetried }: { file: ReviewFile; isRetried: boolean }) {
  if (connection.value.isLost) return <span class="words">{file.path} waits for mediabatch</span>;
  return (
    <span class="words">{isRetried ? `This browser cannot read ${file.path}` : `${file.path} is loaded again`}</span>
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

/** A video or a clip: with the browser's player, or with its length on it. */
export function Film({ file, name, isPlayer }: { file: ReviewFile; name: string; isPlayer: boolean }) {
  const [seconds, setSeconds] = useState<number>();
  return (
    <>
      {/* biome-ignore lint/a11y/useMediaCaption: what was generated has no captions */}
      <video
        controls={isPlayer}
        preload="metadata"
        playsInline
        loop
        src={file.url}
        aria-label={name}
        onLoadedMetadata={({ currentTarget }) => {
          noteShape(file.url, currentTarget);
          setSeconds(currentTarget.duration);
        }}
      />
      {!isPlayer && <span class="film-length">{`▶ ${seconds === undefined ? '' : timeOf(seconds)}`}</span>}
    </>
  );
}
