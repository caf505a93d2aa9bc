import { double, element, ids, text, unsigned } from './ebml.ts';

/** Film of VP8 key frames. Times are integer milliseconds from the start. */
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

/** Name of the writing application in every film. Only films with this name can be cut. */
export const writer = 'mediabatch sandbox';
export const videoTrack = 1;
const clusterMs = 1000;

interface Cluster {
  readonly timeMs: number;
  readonly blocks: Buffer[];
}

/** Writes a WebM file. The cues precede the clusters, so that a player can seek before the download is complete. */
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
  throw new Error('internal error: the WebP file holds no lossy picture');
}

/** Returns whether the bytes start like a VP8 key frame (RFC 6386, 9.1). */
export function isVp8KeyFrame(frame: Uint8Array): boolean {
  const [first = 1, , , one, two, three] = frame;
  return frame.length > 10 && (first & 1) === 0 && one === 0x9d && two === 0x01 && three === 0x2a;
}
