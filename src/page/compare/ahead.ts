import { useEffect } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { mainFile } from '../parts/media.tsx';

/** Lets the browser have a picture decoded before a key leads to it. */
export function useAhead(asset: ReviewAsset | undefined): void {
  const file = asset && mainFile(asset);
  const url = file?.is === 'image' ? file.url : undefined;
  useEffect(() => {
    if (url === undefined) return;
    const image = new Image();
    image.src = url;
    // What cannot be read is told where it is shown.
    image.decode().catch(() => undefined);
  }, [url]);
}
