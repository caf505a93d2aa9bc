/** Pixels as RGBA, row by row. */
export interface Pixels {
  data: Uint8ClampedArray;
  width: number;
  height: number;
}

/** What a transparent picture is shown on: as light as dark. */
const ground = 0x80;

/**
 * Makes a picture fit into a square of `most` pixels by averaging the area under each new pixel, on a plain ground. Never
 * makes it larger.
 */
export function shrink({ data, width, height }: Pixels, most: number): Pixels {
  const scale = Math.min(1, most / Math.max(width, height));
  const [newWidth, newHeight] = [width, height].map((length) => Math.max(1, Math.round(length * scale))) as [
    number,
    number,
  ];
  const columns = edgesOf(width, newWidth);
  const rows = edgesOf(height, newHeight);
  const small = new Uint8ClampedArray(newWidth * newHeight * 4);
  for (let y = 0; y < newHeight; y += 1) {
    const [top = 0, bottom = 0] = [rows[y], rows[y + 1]];
    for (let x = 0; x < newWidth; x += 1) {
      const [left = 0, right = 0] = [columns[x], columns[x + 1]];
      let [red, green, blue, alpha] = [0, 0, 0, 0];
      for (let row = top; row < bottom; row += 1) {
        const end = (row * width + right) * 4;
        for (let at = (row * width + left) * 4; at < end; at += 4) {
          const opaque = data[at + 3] ?? 0;
          red += (data[at] ?? 0) * opaque;
          green += (data[at + 1] ?? 0) * opaque;
          blue += (data[at + 2] ?? 0) * opaque;
          alpha += opaque;
        }
      }
      const area = (bottom - top) * (right - left) * 255;
      const rest = ground * (area - alpha);
      const at = (y * newWidth + x) * 4;
      small[at] = (red + rest) / area;
      small[at + 1] = (green + rest) / area;
      small[at + 2] = (blue + rest) / area;
      small[at + 3] = 255;
    }
  }
  return { data: small, width: newWidth, height: newHeight };
}

/** Where the areas of new pixels begin and end, in whole old ones: each has at least one. */
function edgesOf(length: number, newLength: number): Uint32Array {
  return Uint32Array.from({ length: newLength + 1 }, (_, index) => Math.floor((index * length) / newLength));
}
