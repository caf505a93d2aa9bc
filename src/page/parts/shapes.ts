import { signal } from '@preact/signals';
import type { ReviewAsset } from '../../contract/review.ts';
import type { Strip } from '../model/filter.ts';
import { mainFile } from './words.ts';

/** Width to height of what was seen, by the address that it was read from. */
const seen = new Map<string, number>();
/** Grows when something was seen that does not fit the place that it was given. */
export const misfits = signal(0);

/** Shape of an output that is not there yet, and for which no shape was asked for. */
const usualShape = 4 / 3;
/** Shape of a song or a voice: its place is a strip. */
const soundShape = 2.4;

/** Takes down the shape of a picture or a film, which is in its place by now. */
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

/**
 * Says which shape an asset has, or will have: as it was seen, as it was asked for, or as the first that was seen of its task.
 */
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
    return seenShape(asset) ?? askedShape(asset.request) ?? ofTask.get(asset.task) ?? usualShape;
  };
}

export function isSound(asset: ReviewAsset): boolean {
  return mainFile(asset)?.is === 'audio';
}

function seenShape(asset: ReviewAsset): number | undefined {
  const file = mainFile(asset);
  return seen.get(file?.thumb ?? '') ?? seen.get(file?.large ?? '') ?? seen.get(file?.url ?? '');
}

const asked = new WeakMap<ReviewAsset['request'], { shape: number | undefined }>();

function askedShape(request: ReviewAsset['request']): number | undefined {
  const known = asked.get(request) ?? { shape: readShape(request) };
  asked.set(request, known);
  return known.shape;
}

/** `16:9` of a field that names a ratio, or `1024x1536` of one that names a size. */
function readShape(request: ReviewAsset['request']): number | undefined {
  for (const [field, value] of Object.entries(request)) {
    if (typeof value !== 'string' || !/ratio|size/i.test(field)) continue;
    const [, width, height] = /^(\d+(?:\.\d+)?) ?[:x×/] ?(\d+(?:\.\d+)?)$/.exec(value) ?? [];
    if (Number(width) > 0 && Number(height) > 0) return Number(width) / Number(height);
  }
  return undefined;
}
