import { useEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { mainFile } from './media.tsx';

/** Has the pictures of these assets read and decoded, so that a key shows them at once. */
export function useAhead(assets: readonly ReviewAsset[]): void {
  const ready = useRef(new Map<string, HTMLImageElement>());
  useEffect(() => {
    const before = ready.current;
    ready.current = new Map();
    for (const asset of assets) {
      const file = mainFile(asset);
      if (file?.is !== 'image' || file.url === undefined) continue;
      const image = before.get(file.url) ?? new Image();
      ready.current.set(file.url, image);
      if (image.src !== '') continue;
      image.src = file.url;
      // One that cannot be read says so where it is shown.
      image.decode().catch(() => undefined);
    }
  });
}
