/** Red, green, blue to red, green, blue, alpha; everything opaque. */
export function addAlpha(pixels: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  const result = new Uint8ClampedArray((pixels.length / 3) * 4);
  for (let from = 0, to = 0; from < pixels.length; from += 3, to += 4) {
    result[to] = pixels[from] ?? 0;
    result[to + 1] = pixels[from + 1] ?? 0;
    result[to + 2] = pixels[from + 2] ?? 0;
    result[to + 3] = 255;
  }
  return result;
}
