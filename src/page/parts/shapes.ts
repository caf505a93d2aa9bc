import { signal } from '@preact/signals';
import type { ReviewAsset } from '../../contract/review.ts';
import type { Strip } from '../model/filter.ts';
import { mainFile } from './words.ts';

/** Aspect ratios (width / height) of loaded media, by URL. */
const seen = new Map<string, number>();
/** Number of loaded media whose aspect ratio differs from the layout. */
export const misfits = signal(0);

const usualShape = 4 / 3;
const soundShape = 2.4;

export function noteShape(address: string | undefined, element: HTMLImageElement | HTMLVideoElement): void {
  const [width, height] =
    element instanceof HTMLImageElement
      ? [element.naturalWidth, element.naturalHeight]
      : [element.videoWidth, element.videoHeight];
  if (address === undefined || !width || !height || seen.has(address)) return;
  const shape = width / height;
  seen.set(address, shape);
  if (Math.abs(element.clientWidth / element.clientHeight / shape - 1) > 0.03) misfits.value += 1;
}

/** Returns a function for the aspect ratio of an asset: from its file, its request, or the first file of its task. */
export function shapesOf(strips: readonly Strip[]): (asset: ReviewAsset) => number {
  const ofTask = new Map<string, number>();
  for (const { assets } of strips) {
    for (const asset of assets) {
      const shape = ofTask.has(asset.task) ? undefined : seenShape(asset);
      if (shape !== undefined) ofTask.set(asset.task, shape);
    }
  }
  return (asset) => {
    if (isSound(asset)) return soundShape;
    return seenShape(asset) ?? readShape(asset.request) ?? ofTask.get(asset.task) ?? usualShape;
  };
}

export function isSound(asset: ReviewAsset): boolean {
  return mainFile(asset)?.is === 'audio';
}

function seenShape(asset: ReviewAsset): number | undefined {
  const file = mainFile(asset);
  return seen.get(file?.thumb ?? '') ?? seen.get(file?.large ?? '') ?? seen.get(file?.url ?? '');
}

/** Parses the aspect ratio of a request: `16:9` in a ratio field or `1024x1536` in a size field. */
function readShape(request: ReviewAsset['request']): number | undefined {
  for (const [field, value] of Object.entries(request)) {
    if (typeof value !== 'string' || !/ratio|size/i.test(field)) continue;
    const [, width, height] = /^(\d+(?:\.\d+)?) ?[:x×/] ?(\d+(?:\.\d+)?)$/.exec(value) ?? [];
    if (Number(width) > 0 && Number(height) > 0) return Number(width) / Number(height);
  }
  return undefined;
}
