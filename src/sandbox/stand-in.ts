import { assetType, guessMediaType } from './media-types.ts';

/** A file that the sandbox has in the place of one that it does not fetch, and that says so. */
export interface StandIn {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

const formats = { 'image/jpeg': 'jpeg', 'image/webp': 'webp' } as const;

/** A picture for a picture, and otherwise a text under the type that the file's name has. */
export async function makeStandIn(url: string, name: string): Promise<StandIn> {
  const guessed = guessMediaType(name);
  if (assetType(guessed) !== 'IMAGE') {
    return { bytes: Buffer.from(`A stand-in for ${url}, which the sandbox did not fetch.\n`), mediaType: guessed };
  }
  const format = formats[guessed as keyof typeof formats] ?? 'png';
  const { drawPicture } = await import('./render/picture.ts');
  const prompt = `Stand-in for ${name}`;
  const bytes = await drawPicture({
    seed: url,
    prompt,
    footer: 'sandbox · not fetched',
    width: 640,
    height: 360,
    format,
  });
  return { bytes, mediaType: `image/${format}` };
}
