import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { noteShape } from './shapes.ts';
import { mainFile, problemOf, stateWords, timeOf } from './words.ts';

export function pictureOf(asset: ReviewAsset): ReviewFile | undefined {
  const file = mainFile(asset);
  return file?.is === 'image' ? file : undefined;
}

export function whyNothing(asset: ReviewAsset): string | undefined {
  if (asset.files.length === 0) return stateWords(asset) || 'it has no file';
  return problemOf(mainFile(asset));
}

interface ThumbProps {
  file: ReviewFile;
  isFirst?: boolean | undefined;
  /** Longer side of the area for the picture, in CSS pixels. */
  side?: number | undefined;
}

/** Longer side of a thumbnail in pixels. */
const smallSide = 384;
const mostEnlarged = 1.2;

/** Returns the URLs of a picture for an area of this size, best first. */
export function sourcesOf(file: ReviewFile, side = 0): string[] {
  const isLarge = side * devicePixelRatio > smallSide * mostEnlarged;
  const large = isLarge && file.thumb !== undefined ? [file.large ?? file.url] : [];
  return [...large, file.thumb, ...(isLarge ? [] : [file.url])].filter((source) => source !== undefined);
}

/**
 * Shows the thumbnail of a file. In an area larger than the thumbnail, shows a larger version on top. If no thumbnail
 * can be made, shows the file itself. Counts failures by digest, so that a failure does not affect the next file.
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

/**
 * Connection to the server. `found`: number of reconnects. After each reconnect, the page requests failed pictures
 * again.
 */
export const connection = signal({ isLost: false, found: 0 });

/** Delay in ms before the page requests a failed picture again. */
const againMs = 2000;

/**
 * Counts the load failures of the source with this key. The count restarts for a new key, after a reconnect, and once
 * after a delay. An effect cannot count failures, because an error may occur before the first effect runs.
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

export function Unreadable({ file, isRetried }: { file: ReviewFile; isRetried: boolean }) {
  if (connection.value.isLost) return <span class="words">{file.path} waits for mediabatch</span>;
  return (
    <span class="words">{isRetried ? `This browser cannot read ${file.path}` : `${file.path} is loaded again`}</span>
  );
}

export function Nothing({ text }: { text: string }) {
  return <span class="words">{text}</span>;
}

export function Sound({ file, name }: { file: ReviewFile; name: string }) {
  return (
    // biome-ignore lint/a11y/useMediaCaption: what was generated has no captions
    <audio controls preload="none" src={file.url} aria-label={name} />
  );
}

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
