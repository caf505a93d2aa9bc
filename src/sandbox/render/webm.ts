/** WebM film of VP8 key frames. Times are integer milliseconds from the start of the film. */
export interface WebmFilm {
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  readonly framesPerSecond: number;
  readonly frames: readonly Block[];
}

export interface Block {
  readonly timeMs: number;
  readonly data: Uint8Array;
}

/** Application name in every film that the sandbox writes. The sandbox can cut only films with this name. */
const writer = 'mediabatch sandbox';
const videoTrack = 1;
const clusterMs = 1000;

interface Cluster {
  readonly timeMs: number;
  readonly blocks: Buffer[];
}

/** Writes a WebM file. The index precedes the frames, so that a player can seek before the download is complete. */
export function writeWebm(film: WebmFilm): Buffer {
  const head = [describeFilm(film), describeTracks(film)];
  const clusters = gatherClusters(film).map(({ timeMs, blocks }) => ({
    timeMs,
    bytes: element(ids.cluster, element(ids.timestamp, unsigned(timeMs)), ...blocks),
  }));
  const cuesLength = writeCues(clusters.map(({ timeMs }) => ({ timeMs, position: 0 }))).length;
  let position = head.reduce((sum, part) => sum + part.length, cuesLength);
  const cues = clusters.map(({ timeMs, bytes }) => {
    const cue = { timeMs, position };
    position += bytes.length;
    return cue;
  });
  const segment = element(ids.segment, ...head, writeCues(cues), ...clusters.map(({ bytes }) => bytes));
  return Buffer.concat([describeFormat(), segment]);
}

function describeFormat(): Buffer {
  return element(
    ids.ebml,
    element(ids.ebmlVersion, unsigned(1)),
    element(ids.ebmlReadVersion, unsigned(1)),
    element(ids.ebmlMaxIdLength, unsigned(4)),
    element(ids.ebmlMaxSizeLength, unsigned(8)),
    element(ids.docType, text('webm')),
    element(ids.docTypeVersion, unsigned(4)),
    element(ids.docTypeReadVersion, unsigned(2)),
  );
}

function describeFilm(film: WebmFilm): Buffer {
  return element(
    ids.info,
    element(ids.timestampScale, unsigned(1_000_000)),
    element(ids.muxingApp, text(writer)),
    element(ids.writingApp, text(writer)),
    element(ids.duration, double(film.durationMs)),
  );
}

function describeTracks(film: WebmFilm): Buffer {
  const video = element(
    ids.trackEntry,
    element(ids.trackNumber, unsigned(videoTrack)),
    element(ids.trackUid, unsigned(videoTrack)),
    element(ids.trackType, unsigned(1)),
    element(ids.flagLacing, unsigned(0)),
    element(ids.language, text('und')),
    element(ids.codecId, text('V_VP8')),
    element(ids.defaultDuration, unsigned(Math.round(1e9 / film.framesPerSecond))),
    element(ids.video, element(ids.pixelWidth, unsigned(film.width)), element(ids.pixelHeight, unsigned(film.height))),
  );
  return element(ids.tracks, video);
}

function gatherClusters({ frames }: WebmFilm): Cluster[] {
  const clusters: Cluster[] = [];
  let cluster: Cluster | undefined;
  for (const { timeMs, data } of frames) {
    if (cluster === undefined || timeMs - cluster.timeMs >= clusterMs) {
      cluster = { timeMs, blocks: [] };
      clusters.push(cluster);
    }
    const header = Buffer.from([0x80 | videoTrack, 0, 0, 0x80]); // the track; the time; a key frame
    header.writeInt16BE(timeMs - cluster.timeMs, 1);
    cluster.blocks.push(element(ids.simpleBlock, header, data));
  }
  return clusters;
}

function writeCues(cues: readonly { readonly timeMs: number; readonly position: number }[]): Buffer {
  const points = cues.map(({ timeMs, position }) =>
    element(
      ids.cuePoint,
      element(ids.cueTime, unsigned(timeMs)),
      element(
        ids.cueTrackPositions,
        element(ids.cueTrack, unsigned(videoTrack)),
        element(ids.cueClusterPosition, unsigned(position, 4)),
      ),
    ),
  );
  return element(ids.cues, ...points);
}

export function extractVp8(webp: Buffer): Buffer {
  for (let at = 12; at + 8 <= webp.length; ) {
    const size = webp.readUInt32LE(at + 4);
    if (webp.toString('latin1', at, at + 4) === 'VP8 ') return webp.subarray(at + 8, at + 8 + size);
    at += 8 + size + (size % 2);
  }
  throw new Error('internal error: the WebP file contains no lossy picture');
}

/** Returns whether the bytes start like a VP8 key frame (RFC 6386, 9.1). */
function isVp8KeyFrame(frame: Uint8Array): boolean {
  const [first = 1, , , one, two, three] = frame;
  return frame.length > 10 && (first & 1) === 0 && one === 0x9d && two === 0x01 && three === 0x2a;
}

/** Reads a film. Returns undefined for a damaged film, and for a film that `writeWebm` did not make. */
export function readWebm(bytes: Uint8Array): WebmFilm | undefined {
  const [head, segment, ...more] = readElements(bytes) ?? [];
  if (head?.id !== ids.ebml || segment?.id !== ids.segment || more.length > 0) return undefined;
  const parts = readElements(segment.data);
  if (parts === undefined) return undefined;
  const info = find(parts, ids.info);
  const tracks = readElements(find(parts, ids.tracks) ?? none);
  if (info === undefined || tracks === undefined || !isOurs(info)) return undefined;
  const facts = readFacts(info, tracks);
  const blocks = readBlocks(parts);
  if (facts === undefined || blocks === undefined) return undefined;
  const frames = blocks.filter(({ track }) => track === videoTrack);
  if (frames.length === 0 || !frames.every(({ data }) => isVp8KeyFrame(data))) return undefined;
  return { ...facts, frames };
}

const none = new Uint8Array(0);

function find(elements: readonly Element[] | undefined, id: number): Uint8Array | undefined {
  return elements?.find((part) => part.id === id)?.data;
}

function isOurs(info: Uint8Array): boolean {
  const app = find(readElements(info), ids.writingApp);
  return app !== undefined && Buffer.from(app).toString('latin1') === writer;
}

function readFacts(info: Uint8Array, tracks: readonly Element[]) {
  const [video] = tracks.map(({ data }) => readElements(data));
  const duration = find(readElements(info), ids.duration);
  const frameNs = readUnsigned(find(video, ids.defaultDuration) ?? none);
  const size = readElements(find(video, ids.video) ?? none);
  const width = readUnsigned(find(size, ids.pixelWidth) ?? none);
  const height = readUnsigned(find(size, ids.pixelHeight) ?? none);
  if (duration?.length !== 8 || frameNs === 0 || width === 0 || height === 0) return undefined;
  const durationMs = Buffer.from(duration).readDoubleBE();
  if (!Number.isInteger(durationMs) || durationMs < 1) return undefined;
  return { width, height, durationMs, framesPerSecond: 1e9 / frameNs };
}

function readBlocks(parts: readonly Element[]): (Block & { readonly track: number })[] | undefined {
  const blocks: (Block & { track: number })[] = [];
  for (const cluster of parts.filter(({ id }) => id === ids.cluster)) {
    const inside = readElements(cluster.data);
    const start = find(inside, ids.timestamp);
    if (inside === undefined || start === undefined) return undefined;
    for (const { id, data } of inside) {
      if (id !== ids.simpleBlock) continue;
      if (data.length < 5) return undefined;
      const header = Buffer.from(data.subarray(0, 4));
      const timeMs = readUnsigned(start) + header.readInt16BE(1);
      blocks.push({ track: (header[0] ?? 0) & 0x7f, timeMs, data: data.subarray(4) });
    }
  }
  return blocks;
}

/** EBML element (RFC 8794) with a known size. */
interface Element {
  readonly id: number;
  readonly data: Uint8Array;
}

const ids = {
  ebml: 0x1a45dfa3,
  ebmlVersion: 0x4286,
  ebmlReadVersion: 0x42f7,
  ebmlMaxIdLength: 0x42f2,
  ebmlMaxSizeLength: 0x42f3,
  docType: 0x4282,
  docTypeVersion: 0x4287,
  docTypeReadVersion: 0x4285,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  muxingApp: 0x4d80,
  writingApp: 0x5741,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackUid: 0x73c5,
  trackType: 0x83,
  flagLacing: 0x9c,
  language: 0x22b59c,
  codecId: 0x86,
  defaultDuration: 0x23e383,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cueTrackPositions: 0xb7,
  cueTrack: 0xf7,
  cueClusterPosition: 0xf1,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
} as const;

function element(id: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([unsigned(id), codeSize(length), ...parts]);
}

function unsigned(value: number, bytes?: number): Buffer {
  let length = bytes ?? 1;
  while (bytes === undefined && value >= 2 ** (8 * length)) length += 1;
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}

function double(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(value);
  return buffer;
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

/** Encodes a size below 2^48 as a variable-length integer. A value with all bits set would mean an unknown size. */
function codeSize(value: number): Buffer {
  let length = 1;
  while (value >= 2 ** (7 * length) - 1) length += 1;
  const buffer = unsigned(value, length);
  buffer[0] = (buffer[0] ?? 0) | (0x80 >> (length - 1));
  return buffer;
}

/** Parses a sequence of EBML elements. Returns undefined if the elements do not fill the bytes exactly. */
function readElements(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const id = readMarked(bytes, at, 'with its mark');
    if (id === undefined) return undefined;
    const size = readMarked(bytes, at + id.length, 'without its mark');
    if (size === undefined) return undefined;
    const start = at + id.length + size.length;
    if (start + size.value > bytes.length) return undefined;
    elements.push({ id: id.value, data: bytes.subarray(start, start + size.value) });
    at = start + size.value;
  }
  return elements;
}

function readMarked(bytes: Uint8Array, at: number, mark: 'with its mark' | 'without its mark') {
  const first = bytes[at] ?? 0;
  // The number of leading zero bits in the first byte is the number of bytes that follow, at most five in these films.
  const length = Math.clz32(first) - 23;
  if (length > 6 || at + length > bytes.length) return undefined;
  let value = mark === 'with its mark' ? first : first & (0xff >> length);
  for (let index = 1; index < length; index += 1) value = value * 256 + (bytes[at + index] ?? 0);
  return { value, length };
}

function readUnsigned(data: Uint8Array): number {
  return data.reduce((value, byte) => value * 256 + byte, 0);
}
