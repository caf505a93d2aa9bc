import type { ReviewFile } from '../../contract/review.ts';
import { eachAtOnce } from '../../ground/places.ts';
import { elapsedText } from '../../report/numbers.ts';
import type { Thumb } from '../thumbs/make-thumb.ts';
import type { Side, Tile } from './tiles.ts';

/** A side of a tile as it was found on the disk. */
export interface ReadSide extends Pick<Side, 'label' | 'words' | 'isBad'> {
  /** Absent: the words stand in its place. */
  picture?: SmallPicture;
}

/** Pixels. */
export interface SmallPicture {
  jpeg: Uint8Array;
  width: number;
  height: number;
}

export interface SideReader {
  /** The small picture of an output. */
  thumbOf(file: ReviewFile): Promise<Thumb>;
  /** Seconds of sound or film; undefined: nobody knows. */
  lengthOf?(file: ReviewFile): Promise<number | undefined>;
}

/** Files that are read at once. */
const atOnce = 32;

/** Reads what the tiles show. What cannot be read is said in words. */
export async function readSides(tiles: readonly Tile[], reader: SideReader): Promise<ReadonlyMap<Side, ReadSide>> {
  const sides = tiles.flatMap((tile) => tile.sides);
  const found = new Map<Side, ReadSide>();
  await eachAtOnce(sides, atOnce, async (side) => found.set(side, await readSide(side, reader)));
  return found;
}

async function readSide({ picture, lasting, ...side }: Side, reader: SideReader): Promise<ReadSide> {
  if (picture !== undefined) {
    const thumb = await reader.thumbOf(picture);
    if ('problem' in thumb) return { ...side, words: `its picture ${thumb.problem}`, isBad: true };
    const { default: sharp } = await import('sharp');
    const { width, height } = await sharp(thumb.jpeg).metadata();
    return { ...side, picture: { jpeg: thumb.jpeg, width, height } };
  }
  const seconds = lasting === undefined ? undefined : await reader.lengthOf?.(lasting);
  return seconds === undefined ? side : { ...side, words: `${elapsedText(seconds * 1000)} · ${side.words}` };
}
