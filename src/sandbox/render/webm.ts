import { double, element, ids, text, unsigned } from './ebml.ts';

/** A film of VP8 key frames, with or without Opus sound. Times in whole milliseconds from the start. */
export interface WebmFilm {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  readonly framesPerSecond: number;
  readonly frames: readonly Block[];
  readonly sound: { readonly channels: number; readonly packets: readonly Block[] } | undefined;
}

export interface Block {
  readonly timeMs: number;
  readonly data: Uint8Array;
}

/** Written into every file, and asked for before one is cut. */
export const writer = 'mediabatch sandbox';
export const videoTrack = 1;
export const soundTrack = 2;
/** Samples that the Opus encoder puts before the first one, at 48 kHz. */
const opusDelaySamples = 312;
const opusRate = 48_000;
const clusterMs = 1000;

interface Cluster {
  readonly timeMs: number;
  readonly blocks: Buffer[];
}

/** The cues stand before the clusters, so that a player can seek before it has everything. */
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
  const common = (number: number, type: 1 | 2, codec: string) => [
    element(ids.trackNumber, unsigned(number)),
    element(ids.trackUid, unsigned(number)),
    element(ids.trackType, unsigned(type)),
    element(ids.flagLacing, unsigned(0)),
    element(ids.language, text('und')),
    element(ids.codecId, text(codec)),
  ];
  const video = element(
    ids.trackEntry,
    ...common(videoTrack, 1, 'V_VP8'),
    element(ids.defaultDuration, unsigned(Math.round(1e9 / film.framesPerSecond))),
    element(ids.video, element(ids.pixelWidth, unsigned(film.width)), element(ids.pixelHeight, unsigned(film.height))),
  );
  if (film.sound === undefined) return element(ids.tracks, video);
  const { channels } = film.sound;
  const sound = element(
    ids.trackEntry,
    ...common(soundTrack, 2, 'A_OPUS'),
    element(ids.codecPrivate, describeOpus(channels)),
    element(ids.codecDelay, unsigned((opusDelaySamples * 1e9) / opusRate)),
    element(ids.seekPreRoll, unsigned(80_000_000)),
    element(ids.audio, element(ids.samplingFrequency, double(opusRate)), element(ids.channels, unsigned(channels))),
  );
  return element(ids.tracks, video, sound);
}

/** The header of an Opus stream (RFC 7845, 5.1). */
function describeOpus(channels: number): Buffer {
  const header = Buffer.alloc(19);
  header.write('OpusHead', 0, 'latin1');
  header[8] = 1; // version
  header[9] = channels;
  header.writeUInt16LE(opusDelaySamples, 10);
  header.writeUInt32LE(opusRate, 12);
  return header;
}

/** A cluster starts with a frame of the video, once a second; its blocks are in the order of time. */
function gatherClusters({ frames, sound }: WebmFilm): Cluster[] {
  const blocks = [
    ...frames.map((block) => ({ ...block, track: videoTrack })),
    ...(sound?.packets ?? []).map((block) => ({ ...block, track: soundTrack })),
  ].sort((a, b) => a.timeMs - b.timeMs || a.track - b.track);
  const clusters: Cluster[] = [];
  let cluster: Cluster | undefined;
  for (const { timeMs, data, track } of blocks) {
    if (cluster === undefined || (track === videoTrack && timeMs - cluster.timeMs >= clusterMs)) {
      cluster = { timeMs, blocks: [] };
      clusters.push(cluster);
    }
    const header = Buffer.from([0x80 | track, 0, 0, 0x80]); // the track; the time; a key frame
    header.writeInt16BE(timeMs - cluster.timeMs, 1);
    cluster.blocks.push(element(ids.simpleBlock, header, data));
  }
  return clusters;
}

/** As long for one list of positions as for any other. */
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

/** The VP8 key frame inside a lossy WebP file (RFC 9649). */
export function extractVp8(webp: Buffer): Buffer {
  for (let at = 12; at + 8 <= webp.length; ) {
    const size = webp.readUInt32LE(at + 4);
    if (webp.toString('latin1', at, at + 4) === 'VP8 ') return webp.subarray(at + 8, at + 8 + size);
    at += 8 + size + (size % 2);
  }
  throw new Error('internal error: the WebP file holds no lossy picture');
}

/** Whether the bytes start as a VP8 key frame does (RFC 6386, 9.1). */
export function isVp8KeyFrame(frame: Uint8Array): boolean {
  const [first = 1, , , one, two, three] = frame;
  return frame.length > 10 && (first & 1) === 0 && one === 0x9d && two === 0x01 && three === 0x2a;
}
