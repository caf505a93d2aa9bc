import { useEffect, useState } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { problemOf, timeOf } from '../parts/words.ts';

/** Where a file is, what it is, and by which digest it is known. */
export function FileFacts({ file }: { file: ReviewFile }) {
  const { path, mediaType, bytes, sha256 } = file;
  const measured = useMeasure(file);
  return (
    <div class="file">
      <code>{path}</code>
      <p>{[mediaType, measured, bytesText(bytes), problemOf(file)].filter(Boolean).join(' · ')}</p>
      <p class="digest">
        <span class="quiet">sha256</span> <code>{sha256}</code>
      </p>
    </div>
  );
}

/** Pixels and time, of the browser; nothing while it does not know them. */
function useMeasure({ is, url }: ReviewFile): string {
  const [text, setText] = useState('');
  useEffect(() => {
    setText('');
    if (url === undefined || is === 'other') return;
    if (is === 'image') {
      const image = new Image();
      image.onload = () => setText(`${image.naturalWidth} × ${image.naturalHeight}`);
      image.src = url;
      return () => {
        image.onload = null;
      };
    }
    const player = document.createElement(is);
    player.preload = 'metadata';
    player.onloadedmetadata = () => {
      const pixels = player instanceof HTMLVideoElement ? [`${player.videoWidth} × ${player.videoHeight}`] : [];
      setText([...pixels, timeOf(player.duration)].join(' · '));
    };
    player.src = url;
    return () => player.removeAttribute('src');
  }, [url]);
  return text;
}

function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(1, bytes)) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`;
}
