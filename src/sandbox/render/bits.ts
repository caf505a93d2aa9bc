/** Bits in, bytes out, most significant first. */
export class BitWriter {
  private bytes = new Uint8Array(1 << 14);
  private length = 0;
  private pending = 0;
  private pendingBits = 0;

  /** The lowest `count` bits of `value`; up to 24 at a time. */
  put(value: number, count: number): void {
    this.pending = (this.pending << count) | (value & ((1 << count) - 1));
    this.pendingBits += count;
    while (this.pendingBits >= 8) {
      this.pendingBits -= 8;
      this.putByte((this.pending >>> this.pendingBits) & 0xff);
    }
    this.pending &= (1 << this.pendingBits) - 1;
  }

  /** Writes `zeros` zeros and a one. */
  putUnary(zeros: number): void {
    let left = zeros;
    for (; left >= 16; left -= 16) this.put(0, 16);
    this.put(1, left + 1);
  }

  /** Fills up the last byte with zeros, and gives everything written so far. */
  align(): Uint8Array {
    if (this.pendingBits > 0) this.put(0, 8 - this.pendingBits);
    return this.bytes.subarray(0, this.length);
  }

  private putByte(byte: number): void {
    if (this.length === this.bytes.length) {
      const larger = new Uint8Array(this.length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.length] = byte;
    this.length += 1;
  }
}
