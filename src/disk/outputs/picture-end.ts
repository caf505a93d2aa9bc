/** Returns whether the structure of a picture leads to its end marker. Markers in a preview do not count. */
export function hasPictureEnd(type: string, bytes: Buffer): boolean {
  try {
    if (type === 'image/png') return hasPngEnd(bytes);
    if (type === 'image/jpeg') return hasJpegEnd(bytes);
    return type === 'image/gif' && hasGifEnd(bytes);
  } catch (error) {
    // The structure leads beyond the end of the file.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function hasPngEnd(bytes: Buffer): boolean {
  for (let at = 8; ; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return at + 12 <= bytes.length;
  }
}

function hasJpegEnd(bytes: Buffer): boolean {
  for (let at = 2; ; ) {
    const marker = bytes.readUInt16BE(at) - 0xff00;
    if (marker < 0) return false;
    if (marker === 0xd9) return true;
    if (marker === 0xff) at += 1;
    else if (marker <= 1 || (marker >= 0xd0 && marker <= 0xd7)) at += 2;
    else {
      at += 2 + bytes.readUInt16BE(at + 2);
      if (marker === 0xda) at = endOfScan(bytes, at);
    }
  }
}

/** Returns the offset of the next marker after compressed data, where 0 or a restart marker follows each 0xff. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at !== -1; at = bytes.indexOf(0xff, at + 2)) {
    const next = bytes.readUInt8(at + 1);
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}

function hasGifEnd(bytes: Buffer): boolean {
  const colors = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));
  for (let at = 13 + colors(bytes.readUInt8(10)); ; ) {
    const block = bytes.readUInt8(at);
    if (block === 0x3b) return true;
    if (block === 0x21) at += 2;
    else if (block === 0x2c) at += 11 + colors(bytes.readUInt8(at + 9));
    else return false;
    while (bytes.readUInt8(at) !== 0) at += 1 + bytes.readUInt8(at);
    at += 1;
  }
}
