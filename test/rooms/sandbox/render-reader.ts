/** Reads WebM by itself, so that a mistake of the writer is not made twice. Throws on what it does not expect. */

export interface Node {
  readonly id: string;
  /** Where the element starts in the bytes it was read from. */
  readonly at: number;
  readonly data: Buffer;
}

export function readNodes(bytes: Buffer): Node[] {
  const nodes: Node[] = [];
  for (let at = 0; at < bytes.length; ) {
    const start = at;
    const idLength = lengthOf(bytes, at);
    const id = bytes.toString('hex', at, at + idLength);
    at += idLength;
    const sizeLength = lengthOf(bytes, at);
    const mask = (1n << BigInt(7 * sizeLength)) - 1n;
    const size = Number(BigInt(`0x${bytes.toString('hex', at, at + sizeLength)}`) & mask);
    at += sizeLength;
    if (at + size > bytes.length) throw new Error(`the element ${id} at ${start} is cut off`);
    nodes.push({ id, at: start, data: bytes.subarray(at, at + size) });
    at += size;
  }
  return nodes;
}

function lengthOf(bytes: Buffer, at: number): number {
  const length = Math.clz32(bytes.readUInt8(at)) - 23;
  if (length > 8) throw new Error(`no element at ${at}`);
  return length;
}

/** The data of the element at the end of the path, each step the first of its name. */
export function dig(bytes: Buffer, ...path: readonly string[]): Buffer {
  return path.reduce((data, id) => {
    const node = readNodes(data).find((candidate) => candidate.id === id);
    if (node === undefined) throw new Error(`no element ${id}`);
    return node.data;
  }, bytes);
}

export function readNumber(data: Buffer): number {
  return data.length === 0 ? 0 : data.readUIntBE(0, data.length);
}

export interface Packet {
  readonly track: number;
  readonly timeMs: number;
  readonly isKey: boolean;
  readonly data: Buffer;
}

/** What a player needs, read from the bytes of a file. */
export function readFilm(bytes: Buffer) {
  const [head, segment, ...rest] = readNodes(bytes);
  if (head?.id !== '1a45dfa3' || segment?.id !== '18538067' || rest.length > 0) throw new Error('not one segment');
  const parts = readNodes(segment.data);
  const tracks = readNodes(dig(segment.data, '1654ae6b')).map(({ data }) => data);
  const clusters = parts.filter(({ id }) => id === '1f43b675');
  const cues = readNodes(dig(segment.data, '1c53bb6b')).map(({ data }) => ({
    timeMs: readNumber(dig(data, 'b3')),
    track: readNumber(dig(data, 'b7', 'f7')),
    position: readNumber(dig(data, 'b7', 'f1')),
  }));
  const packets = clusters.flatMap(({ data }) => readPackets(data));
  return {
    docType: dig(head.data, '4282').toString(),
    order: parts.map(({ id }) => id),
    durationMs: dig(segment.data, '1549a966', '4489').readDoubleBE(),
    tracks,
    clusters: clusters.map(({ at, data }) => ({ at, timeMs: readNumber(dig(data, 'e7')), packets: readPackets(data) })),
    cues,
    frames: packets.filter(({ track }) => track === 1),
  };
}

function readPackets(cluster: Buffer): Packet[] {
  const start = readNumber(dig(cluster, 'e7'));
  return readNodes(cluster)
    .filter(({ id }) => id === 'a3')
    .map(({ data }) => ({
      track: data.readUInt8(0) & 0x7f,
      timeMs: start + data.readInt16BE(1),
      isKey: (data.readUInt8(3) & 0x80) !== 0,
      data: data.subarray(4),
    }));
}

/** Pixels, from the header of a VP8 key frame. */
export function vp8Size(frame: Buffer): { width: number; height: number } {
  if ((frame.readUInt8(0) & 1) !== 0 || frame.toString('hex', 3, 6) !== '9d012a') throw new Error('not a key frame');
  return { width: frame.readUInt16LE(6) & 0x3fff, height: frame.readUInt16LE(8) & 0x3fff };
}
