import type { ReviewAsset, ReviewFile } from '../../contract/review.ts';
import { numbersOf, type ShownGroup } from '../model/shown.ts';
import { mainFile, shortName } from '../parts/words.ts';

export interface Track {
  number: number;
  file: ReviewFile;
  url: string;
  address: string;
  name: string;
}

export function isSoundGroup({ assets }: ShownGroup): boolean {
  return assets.some((asset) => mainFile(asset)?.is === 'audio');
}

export function tracksOf({ assets }: ShownGroup): Track[] {
  const tracks = assets.flatMap((asset, index) => tracksOfAsset(asset, index));
  const numbers = numbersOf(assets);
  const isOneEach = new Set(tracks.map(({ address }) => address)).size === tracks.length;
  const placeOf = (address: string) => assets.findIndex((asset) => asset.address === address);
  return tracks.map((track, index) => ({
    ...track,
    number: (isOneEach && numbers[placeOf(track.address)]) || index + 1,
  }));
}

function tracksOfAsset(asset: ReviewAsset, index: number): Omit<Track, 'number'>[] {
  const sounds = asset.files.filter((file) => file.is === 'audio' && file.url !== undefined);
  return sounds.map((file, place) => ({
    file,
    url: file.url ?? '',
    address: asset.address,
    name: [shortName(asset, index), ...(sounds.length > 1 ? [`file ${place + 1}`] : [])].join(', '),
  }));
}
