import type { ReviewAsset } from '../../contract/review.ts';
import type { ShownGroup } from '../model/shown.ts';
import { mainFile } from '../parts/media.tsx';
import { shortName } from '../parts/words.ts';
import type { Track } from './deck.ts';

/** Songs and voices: digits then say what is heard. */
export function isSoundGroup({ assets }: ShownGroup): boolean {
  return assets.some((asset) => mainFile(asset)?.is === 'audio');
}

/** Every sound of a group that is on this disk, in order. */
export function tracksOf({ assets }: ShownGroup): Track[] {
  return assets.flatMap((asset, index) => tracksOfAsset(asset, index));
}

function tracksOfAsset(asset: ReviewAsset, index: number): Track[] {
  const sounds = asset.files.filter((file) => file.is === 'audio' && file.url !== undefined);
  return sounds.map(({ url }, place) => ({
    url: url ?? '',
    address: asset.address,
    name: [shortName(asset, index), ...(sounds.length > 1 ? [`file ${place + 1}`] : [])].join(', '),
  }));
}
