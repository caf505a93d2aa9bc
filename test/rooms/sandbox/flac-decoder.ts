/** Decodes FLAC as far as the sandbox writes it: stereo, fixed predictors, one Rice partition. Throws on the rest. */
export function decodeFlac(bytes: Buffer) {
  expectBits(bytes.toString('latin1', 0, 4) === 'fLaC', 'a FLAC marker');
  const packed = bytes.readBigUInt64BE(18);
  const sampleRate = Number(packed >> 44n);
  const samples = Number(packed & 0xfffffffffn);
  const left: number[] = [];
  const right: number[] = [];
  const reader = new BitReader(bytes, 42);
  while (left.length < samples) {
    expectBits(reader.read(16) === 0xfff8, 'a frame');
    const sizeCode = reader.read(4);
    expectBits(reader.read(4) === 9, '44.1 kHz');
    const assignment = reader.read(4);
    expectBits(reader.read(4) === 8, '16 bits');
    let first = reader.read(8);
    for (; first >= 0xc0; first = (first << 1) & 0xff) reader.read(8);
    const size = sizeCode === 7 ? reader.read(16) + 1 : 4096;
    reader.read(8);
    const one = readSubframe(reader, size, 16);
    const two = readSubframe(reader, size, assignment === 10 ? 17 : 16);
    reader.align();
    reader.read(16);
    for (const [index, value] of one.entries()) {
      const other = two[index] ?? 0;
      const middle = (value << 1) | (other & 1);
      left.push(assignment === 10 ? (middle + other) >> 1 : value);
      right.push(assignment === 10 ? (middle - other) >> 1 : other);
    }
  }
  expectBits(reader.atEnd(), 'the end of the file');
  return { left, right, samples, sampleRate, md5: bytes.subarray(26, 42).toString('hex') };
}

function readSubframe(reader: BitReader, size: number, sampleBits: number): number[] {
  const type = reader.read(8) >> 1;
  expectBits(type >= 8 && type <= 12, 'a fixed predictor');
  const order = type - 8;
  const values = Array.from({ length: order }, () => reader.readSigned(sampleBits));
  expectBits(reader.read(6) === 0, 'one Rice partition');
  const riceBits = reader.read(4);
  const weights = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]][order] ?? [];
  while (values.length < size) {
    let quotient = 0;
    while (reader.read(1) === 0) quotient += 1;
    const folded = (quotient << riceBits) | reader.read(riceBits);
    const residual = folded & 1 ? -((folded + 1) >> 1) : folded >> 1;
    values.push(weights.reduce((sum, weight, back) => sum + weight * (values.at(-1 - back) ?? 0), residual));
  }
  return values;
}

function expectBits(holds: boolean, what: string): void {
  if (!holds) throw new Error(`expected ${what}`);
}

class BitReader {
  private readonly bytes: Buffer;
  private position: number;

  constructor(bytes: Buffer, startByte: number) {
    this.bytes = bytes;
    this.position = startByte * 8;
  }

  read(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      const byte = this.bytes[this.position >> 3];
      if (byte === undefined) throw new Error('expected more bytes');
      value = (value << 1) | ((byte >> (7 - (this.position & 7))) & 1);
      this.position += 1;
    }
    return value;
  }

  readSigned(count: number): number {
    const value = this.read(count);
    return value >= 2 ** (count - 1) ? value - 2 ** count : value;
  }

  align(): void {
    this.position = (this.position + 7) & ~7;
  }

  atEnd(): boolean {
    return this.position === this.bytes.length * 8;
  }
}
