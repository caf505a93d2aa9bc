/** Formats of which small pictures are made. */
export type PictureFormat = 'png' | 'jpeg' | 'webp';

export interface PictureSize {
  format: PictureFormat;
  /** Pixels. */
  width: number;
  height: number;
}

/**
 * Reads format and size of a picture from its head, before anything is decoded: a few bytes can claim gigabytes of pixels.
 * Undefined: it is none of these formats, or says no size.
 */
export function readPictureSize(bytes: Uint8Array): PictureSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0) === 0x89504e47)
      return { format: 'png', width: view.getUint32(16), height: view.getUint32(20) };
    if (view.getUint16(0) === 0xffd8) return readJpegSize(view);
    if (view.getUint32(0) === 0x52494646 && view.getUint32(8) === 0x57454250) return readWebpSize(view);
  } catch (error) {
    // It ends before its size is told.
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}

function readJpegSize(view: DataView): PictureSize | undefined {
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    // A decoder goes over this one, and finds another size behind it.
    if (marker === 0) return undefined;
    if (isFrame) return { format: 'jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    // Fill bytes, and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker === 0xd9 || marker === 0xda) return undefined;
    else at += 2 + view.getUint16(at + 2);
  }
}

function readWebpSize(view: DataView): PictureSize | undefined {
  const three = (at: number) => view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
  switch (view.getUint32(12)) {
    case 0x56503820: // `VP8 `
      return {
        format: 'webp',
        width: view.getUint16(26, true) & 0x3fff,
        height: view.getUint16(28, true) & 0x3fff,
      };
    case 0x5650384c: {
      // `VP8L`
      const bits = view.getUint32(21, true);
      return { format: 'webp', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503858: // `VP8X`
      return { format: 'webp', width: three(24) + 1, height: three(27) + 1 };
    default:
      return undefined;
  }
}
