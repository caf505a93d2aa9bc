import { inflateSync } from 'node:zlib';

/** In bytes, of WOFF and of what is in it: header, entry of a table. */
const woff = { header: 44, entry: 20 };
const sfnt = { header: 12, entry: 16 };

/** Unpacks a font of WOFF 1.0 to the OpenType that it holds. For fonts of this package: nothing is checked. */
export function unwrapWoff(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const count = view.getUint16(12);
  const font = new Uint8Array(view.getUint32(16));
  const head = new DataView(font.buffer);
  head.setUint32(0, view.getUint32(4));
  head.setUint16(4, count);
  let end = sfnt.header + count * sfnt.entry;
  for (let index = 0; index < count; index += 1) {
    const from = woff.header + index * woff.entry;
    const to = sfnt.header + index * sfnt.entry;
    const [offset, packedLength, length] = [4, 8, 12].map((field) => view.getUint32(from + field)) as [
      number,
      number,
      number,
    ];
    const table = packed.subarray(offset, offset + packedLength);
    font.set(packedLength < length ? inflateSync(table) : table, end);
    head.setUint32(to, view.getUint32(from));
    head.setUint32(to + 4, view.getUint32(from + 16));
    head.setUint32(to + 8, end);
    head.setUint32(to + 12, length);
    end += (length + 3) & ~3;
  }
  return font;
}
