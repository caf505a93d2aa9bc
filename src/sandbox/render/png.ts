import { crc32, deflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG of 8-bit RGB pixels, row by row. */
export function encodePng(pixels: Uint8Array, size: { readonly width: number; readonly height: number }): Buffer {
  const { width, height } = size;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits per channel
  header[9] = 2; // RGB
  const data = deflateSync(filterRows(pixels, width * 3, height), { level: 6 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** The filter "up" for every row: soft gradients change least from row to row. */
function filterRows(pixels: Uint8Array, rowBytes: number, height: number): Buffer {
  const filtered = Buffer.alloc((rowBytes + 1) * height);
  for (let row = 0; row < height; row += 1) {
    const from = row * rowBytes;
    const to = row * (rowBytes + 1);
    filtered[to] = 2;
    if (row === 0) {
      filtered.set(pixels.subarray(0, rowBytes), 1);
      continue;
    }
    for (let index = 0; index < rowBytes; index += 1) {
      filtered[to + 1 + index] = (pixels[from + index] ?? 0) - (pixels[from + index - rowBytes] ?? 0);
    }
  }
  return filtered;
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
