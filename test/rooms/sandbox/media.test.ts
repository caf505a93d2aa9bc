import { describe, expect, test } from 'vitest';
import { dataOf, goodBodies, type KindName, openRig, type Rig } from './rig.ts';

const infinite = { speed: Number.POSITIVE_INFINITY, credits: 100_000 };

async function fetchFile(rig: Rig, url: unknown) {
  const response = await rig.sandbox.fetch(new Request(String(url)));
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), bytes };
}

/** What the first bytes say a file is. */
function sniff(bytes: Buffer): string {
  if (bytes.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (bytes.toString('latin1', 0, 4) === 'RIFF') return bytes.toString('latin1', 8, 12).trim().toLowerCase();
  if (bytes.readUInt16BE(0) === 0xffd8) return 'jpeg';
  if (bytes.readUInt16BE(0) >>> 5 === 0x7ff) return 'mp3';
  return bytes.toString('latin1', 0, 4).toLowerCase();
}

const film = { prompt: 'a slow push in', duration: 2 };

describe('what a job gives is what its type says', () => {
  test.each<[KindName, object, string, string]>([
    ['thumbnail', {}, 'image/jpeg', 'jpeg'],
    ['influencer', { aspectRatio: '16:9' }, 'image/webp', 'webp'],
    ['voiceover', {}, 'audio/mpeg', 'mp3'],
    ['voiceover', { output_format: 'wav' }, 'audio/wav', 'wave'],
    ['voiceover', { output_format: 'flac' }, 'audio/flac', 'flac'],
    ['video', film, 'video/webm', 'webm'],
  ])('%s %o', async (kind, fields, type, format) => {
    const rig = openRig(infinite);
    const id = await rig.jobId(kind, { ...goodBodies[kind], ...fields });
    const file = await fetchFile(rig, await rig.outputUrl(kind, id));
    expect([file.type, sniff(file.bytes)]).toEqual([type, format]);
  });

  test('a video has a poster; no other name is served', async () => {
    const rig = openRig(infinite);
    const { outputUrl, thumbnailUrl } = await rig.status('video', await rig.jobId('video', film));
    const poster = await fetchFile(rig, thumbnailUrl);
    expect([poster.type, sniff(poster.bytes)]).toEqual(['image/webp', 'webp']);
    expect((await fetchFile(rig, String(outputUrl).replace('video.webm', 'clip-1.webm'))).status).toBe(404);
  });

  test('a voice and an account have samples', async () => {
    const rig = openRig();
    const voices = (await rig.call('GET', '/api/v1/voiceovers/voices')).body.voices as { previewUrl: string }[];
    const sample = await fetchFile(rig, voices[4]?.previewUrl);
    expect([sample.type, sniff(sample.bytes)]).toEqual(['audio/mpeg', 'mp3']);
    const accounts = (await rig.call('GET', '/api/v1/accounts')).body.data as { profilePicture: string }[];
    const picture = await fetchFile(rig, accounts[0]?.profilePicture);
    expect([picture.type, sniff(picture.bytes)]).toEqual(['image/jpeg', 'jpeg']);
  });
});

describe('clips', () => {
  const clipsOf = async (rig: Rig, body: object) => {
    const { clips } = await rig.status('clipping', await rig.jobId('clipping', body));
    const urls = (clips as { outputAsset: { url: string } }[]).map(({ outputAsset }) => outputAsset.url);
    return Promise.all(urls.map((url) => fetchFile(rig, url)));
  };
  const total = (files: { bytes: Buffer }[]) => files.reduce((sum, { bytes }) => sum + bytes.length, 0);

  test('of a video of this sandbox are its pieces; of its copy in the library too', async () => {
    const rig = openRig(infinite);
    const videoUrl = await rig.outputUrl('video', await rig.jobId('video', film));
    const source = await fetchFile(rig, videoUrl);
    const copy = dataOf((await rig.call('POST', '/api/v1/uploads', { body: { url: videoUrl } })).body).url;
    for (const url of [videoUrl, copy]) {
      const clips = await clipsOf(rig, { videoUrl: url, maxClips: 2 });
      expect(clips.map(({ type, bytes }) => [type, sniff(bytes)])).toEqual(clips.map(() => ['video/webm', 'webm']));
      // Copied frames: together about as large as the film, whatever is written around them.
      expect(total(clips) / source.bytes.length).toBeGreaterThan(0.9);
      expect(total(clips) / source.bytes.length).toBeLessThan(1.1);
    }
  });
});
