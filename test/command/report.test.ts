import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../src/campaign/open-campaign.ts';
import type { ReportParts } from '../../src/contract/report.ts';
import type { ReviewData } from '../../src/contract/review.ts';
import { makeGallery } from '../../src/review/gallery/make-gallery.ts';
import { temporaryFolder } from '../rig/command.ts';
import { buyEverything } from '../rig/review/bought-campaign.ts';
import { drawPng } from '../rig/review/png.ts';
import { runInProcess } from './in-process.ts';

const manifest = `version: 1
name: spring
prices: { image: 2 }
budget: { credits: 50 }
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    takes: 2
    gate: { choose: 1 }
    with: { model: alpha-2, resolution: 1k, prompt: "{{row.name}} on an oak table" }
  poster: { kind: image, with: { model: alpha-2, resolution: 1k, prompt: a poster } }
`;

/**
 * A campaign of four takes, all but the poster bought, as if by hand: nobody is asked for anything. `behind`: bytes that follow
 * each picture in its file.
 */
async function campaignHere(names: Record<string, string> = {}, behind = 0) {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  writeFileSync(join(folder, 'products.csv'), 'sku,name\nlamp,A lamp\nvase,A vase\n');
  await buyEverything(join(folder, 'campaign.yaml'), ({ task, take = 0, key }, index) =>
    task === 'poster'
      ? undefined
      : {
          path: `images/${names[`${key}`] ?? key}-${take}.png`,
          bytes: Buffer.concat([
            drawPng(160, 120 + (index % 2), 40 * Math.floor(index / 2) + 5),
            Buffer.alloc(behind, index),
          ]),
        },
  );
  const home = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  const report = (...words: string[]) => runInProcess(['report', ...words], home, folder);
  return { folder, report };
}

function dataOf(path: string): ReviewData & { report: ReportParts } {
  const [, json = ''] = /id="data">(.*?)<\/script>/s.exec(readFileSync(path, 'utf8')) ?? [];
  return JSON.parse(json);
}

/** One second that grows silent, of one channel of 8 bits. */
function fadingWav(): Buffer {
  const samples = Buffer.from(Array.from({ length: 8000 }, (_, at) => 128 + (at % 2 === 0 ? 1 : -1) * (127 - at / 63)));
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

describe('report', () => {
  test('interrupted, it leaves the page as it was, keeps the small pictures that are made, and goes on from there', async () => {
    const { folder, report } = await campaignHere();
    const stop = new AbortController();
    const path = join(folder, 'campaign.report');
    const interrupted = await makeGallery(await openCampaign(join(folder, 'campaign.yaml')), {
      ...{ path, paste: () => '', signal: stop.signal },
      onThumb: () => stop.abort(),
    });
    expect(interrupted).toBeUndefined();
    expect(readFileSync(join(path, 'index.html'), 'utf8')).not.toContain('id="data"');
    expect(readdirSync(join(folder, '.mediabatch/thumbs')).length).toBeGreaterThan(0);
    expect((await report()).code).toBe(0);
    expect(dataOf(join(path, 'index.html')).assets).toHaveLength(5);
  });

  test('writes a folder with links to what is there, what it cost and where each value is from', async () => {
    const { folder, report } = await campaignHere();
    const lock = readFileSync(join(folder, 'campaign.lock.jsonl'), 'utf8');
    const { code, out, err } = await report();
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('campaign.report/index.html\n');
    expect(err).toContain('4 outputs of 5 steps\n');
    const data = dataOf(join(folder, 'campaign.report/index.html'));
    const [first] = data.assets;
    expect(first).toMatchObject({ address: 'hero@lamp/1', state: 'done', credits: 2, estimated: 2 });
    expect(first?.files[0]).toMatchObject({ url: '../images/lamp-1.png', thumb: expect.stringMatching(/^thumbs\//) });
    expect(first?.origins).toMatchObject({ prompt: 'campaign.yaml:12, name of products.csv:2' });
    // The default that is written out is no part of the purchase.
    expect(first?.origins).not.toHaveProperty('model');
    expect(data.assets.at(-1)).toMatchObject({ address: 'poster', state: 'planned', files: [] });
    expect(data.canDecide).toBe(false);
    expect(readFileSync(join(folder, 'campaign.lock.jsonl'), 'utf8')).toBe(lock);
  });

  test('again it writes nothing that has not changed, and --copy puts media into it, apart from those that were bought', async () => {
    const { folder, report } = await campaignHere();
    await report();
    const [thumb = ''] = readdirSync(join(folder, 'campaign.report/thumbs'));
    const inode = statSync(join(folder, 'campaign.report/thumbs', thumb)).ino;
    expect((await report('--copy')).code).toBe(0);
    expect(statSync(join(folder, 'campaign.report/thumbs', thumb)).ino).toBe(inode);
    const [file] = dataOf(join(folder, 'campaign.report/index.html')).assets[0]?.files ?? [];
    expect(file?.url).toMatch(/^media\/lamp-1-[0-9a-f]{12}\.png$/);
    const copied = readFileSync(join(folder, 'campaign.report', file?.url ?? ''));
    expect(copied.equals(readFileSync(join(folder, 'images/lamp-1.png')))).toBe(true);
    const copy = join(folder, 'campaign.report', file?.url ?? '');
    const first = statSync(copy);
    expect((await report('--copy')).code).toBe(0);
    expect(statSync(copy).ino).toBe(first.ino);
    writeFileSync(copy, 'made smaller for a mail');
    expect(readFileSync(join(folder, 'images/lamp-1.png')).equals(copied)).toBe(true);
    expect((await report('--copy')).code).toBe(0);
    expect(readFileSync(copy).equals(copied)).toBe(true);
    await report();
    expect(readdirSync(join(folder, 'campaign.report/media'))).toEqual([]);
  });

  test('--copy --max-size makes pictures smaller where originals are too large, and says when even that is too much', async () => {
    const { folder, report } = await campaignHere({}, 20_000);
    const whole = statSync(join(folder, 'images/lamp-1.png')).size;
    // Into a folder that is not there yet, too.
    const reduced = await report('--copy', '--max-size', '60 kB');
    expect(reduced.err).toContain('pictures as JPEGs of 1600 pixels at most');
    const [file] = dataOf(join(folder, 'campaign.report/index.html')).assets[0]?.files ?? [];
    expect(file?.url).toMatch(/^media\/lamp-1-[0-9a-f]{12}\.jpg$/);
    const copy = readFileSync(join(folder, 'campaign.report', file?.url ?? ''));
    expect(copy.subarray(0, 2).toString('hex')).toBe('ffd8');
    expect(copy.length).toBeLessThan(whole);
    expect((await report('--copy', '--max-size', '1GB')).err).not.toContain('JPEGs');
    const [original] = dataOf(join(folder, 'campaign.report/index.html')).assets[0]?.files ?? [];
    expect(original?.url).toMatch(/\.png$/);
    await report('--copy', '--max-size', '60 kB');
    expect(readdirSync(join(folder, 'campaign.report/media')).every((name) => name.endsWith('.jpg'))).toBe(true);
    const tooMuch = await report('--copy', '--max-size', '1kB', '--out', 'small');
    expect(tooMuch.code).toBe(73);
    expect(tooMuch.err).toMatch(
      /would have \d+ kB with pictures of 800 pixels: [\d.]+ kB more than 1\.0 kB; nothing was written/,
    );
    expect(readdirSync(folder)).not.toContain('small');
    expect((await report('--copy', '--max-size', '20')).err).toContain('20MB');
  });

  test('--for client has names and pictures; no price, prompt, id, path or command is in any of its bytes', async () => {
    const { folder, report } = await campaignHere();
    const home = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
    const decide = (...words: string[]) => runInProcess([...words, '--by', 'Uta'], home, folder);
    await decide('reject', 'hero@vase/2', '--reason', 'six fingers', '--note', 'cheap lighting');
    await decide('pick', 'hero@lamp/2', '--note', 'the boss likes it');
    expect((await report('--for', 'client', '--note', 'Studio Nord, until Friday', '--out', 'client')).code).toBe(0);
    const data = dataOf(join(folder, 'client/index.html'));
    expect(data.groups.map(({ name }) => name)).toEqual(['A lamp', 'A vase']);
    expect(data.assets.map(({ address }) => address)).toContain('A lamp, take 1');
    expect(data.report.client).toMatch(/^Studio Nord, until Friday · Pick .* back to the sender$/);
    const lock = readFileSync(join(folder, 'campaign.lock.jsonl'), 'utf8');
    const jobs = [...lock.matchAll(/"jobId":"([^"]+)"/g)].map(([, job = '']) => job);
    expect(jobs).toHaveLength(4);
    // Nothing is decided for the client, and what was rejected is not in the gallery.
    expect(data.assets.map(({ address }) => address)).toEqual(['A lamp, take 1', 'A lamp, take 2', 'A vase']);
    expect(data.groups.map(({ gate }) => gate?.state)).toEqual(['open', 'open']);
    const text = JSON.stringify(data);
    const words = ['oak table', 'images/', 'mediabatch', 'campaign.yaml', 'credits"', 'estimated', 'alpha-2'];
    const judged = ['six fingers', 'cheap lighting', 'the boss', 'Uta', 'rejected', 'picked'];
    for (const secret of [...jobs, ...words, ...judged]) expect(text, secret).not.toContain(secret);
    const secrets = [...jobs, 'oak table', 'campaign.yaml', ...judged.slice(0, 4)];
    for (const name of readdirSync(join(folder, 'client'), { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, 'client', name);
      if (!statSync(path).isFile()) continue;
      const bytes = readFileSync(path);
      for (const secret of secrets) expect(bytes.includes(secret), `${secret} in ${name}`).toBe(false);
    }
    expect(readdirSync(join(folder, 'client/media')).join()).not.toMatch(/lamp-1-|vase-1-/);
    // What the client sends back names steps, and the job that was looked at.
    const [lamp, other] = data.assets;
    const verdicts = [
      { address: lamp?.step, is: 'picked', job: lamp?.job },
      { address: data.assets[2]?.step, is: 'picked', job: other?.job },
    ];
    const picks = { mediabatch: 'picks', version: 1, by: 'Ada', verdicts };
    writeFileSync(join(folder, 'picks.json'), JSON.stringify(picks));
    const picked = await runInProcess(['pick', '--from', 'picks.json'], home, folder);
    expect(picked.out + picked.err).toContain('picked hero@lamp/1');
    expect(picked.out + picked.err).toContain('hero@vase/1: has changed since Ada reviewed it');
    expect((await report('--note', 'x')).err).toContain('--note requires --for');
  });

  test('missing, damaged, empty and foreign files are shown as what they are', async () => {
    const { folder, report } = await campaignHere();
    rmSync(join(folder, 'images/lamp-1.png'));
    truncateSync(join(folder, 'images/lamp-2.png'));
    const foreign = readFileSync(join(folder, 'images/vase-1.png'));
    foreign.fill(7, 30);
    writeFileSync(join(folder, 'images/vase-1.png'), foreign);
    const { err } = await report();
    expect(err).toContain('1 output of 5 steps; 3 files missing or damaged');
    const { assets } = dataOf(join(folder, 'campaign.report/index.html'));
    const files = assets.slice(0, 4).map(({ files: [file] }) => file?.problem ?? file?.url);
    expect(files).toEqual(['missing', 'damaged', 'damaged', '../images/vase-2.png']);
    expect(assets.slice(0, 3).map(({ files: [file] }) => [file?.url, file?.thumb])).toEqual(
      Array(3).fill([undefined, undefined]),
    );
  });

  test('--single-file has the small pictures in it, and says how many; --select chooses', async () => {
    const { folder, report } = await campaignHere();
    const { err } = await report('--single-file', 'gallery.html', '-s', 'hero@vase*');
    expect(err).toMatch(/2 outputs of 2 steps; 2 small pictures in \d+ kB, without their 2 originals/);
    const { assets, report: parts } = dataOf(join(folder, 'gallery.html'));
    expect(assets.map(({ address }) => address)).toEqual(['hero@vase/1', 'hero@vase/2']);
    expect(assets[0]?.files[0]?.thumb).toMatch(/^data:image\/jpeg;base64,/);
    expect(assets[0]?.files[0]?.url).toBeUndefined();
    expect(parts.embedded).toEqual({ thumbs: 2, left: 2 });
    expect((await report('--single-file', 'gallery.html')).code).toBe(0);
  });

  test('has the waveforms of sounds, in a single file, too', async () => {
    const { path: folder, remove } = temporaryFolder();
    onTestFinished(remove);
    const song =
      'version: 1\nname: songs\ntasks:\n  song: { kind: music, with: { prompt: a song, model: song-7.5 } }\n';
    writeFileSync(join(folder, 'campaign.yaml'), song);
    await buyEverything(join(folder, 'campaign.yaml'), () => ({
      path: 'song.wav',
      bytes: fadingWav(),
      type: 'audio/wav',
    }));
    const report = (...words: string[]) => runInProcess(['report', ...words], { HOME: folder }, folder);
    expect(await report('--single-file', 'gallery.html')).toMatchObject({ code: 0 });
    expect(await report()).toMatchObject({ code: 0 });
    for (const page of ['gallery.html', 'campaign.report/index.html']) {
      expect(dataOf(join(folder, page)).assets[0]?.files[0]?.wave, page).toMatch(/^[yz].*h.*[01]$/);
    }
  });

  test('never writes over what is not a gallery (73), and refuses what does not go together (64)', async () => {
    const { folder, report } = await campaignHere();
    const refused = await report('--out', 'images');
    expect(refused).toMatchObject({ code: 73, out: '' });
    expect(refused.err).toContain('is not a gallery written by report');
    for (const [name, code] of [
      ['notes.txt', 64],
      ['notes.html', 73],
    ] as const) {
      writeFileSync(join(folder, name), 'sku,name');
      expect((await report('--single-file', name)).code, name).toBe(code);
      expect(readFileSync(join(folder, name), 'utf8')).toBe('sku,name');
    }
    const nowhere = await report('--single-file', 'none/a.html');
    expect(nowhere).toMatchObject({ code: 73, err: expect.stringContaining('name a file in a folder that exists') });
    expect((await report('--single-file', 'a.html', '--copy')).code).toBe(64);
    expect((await report('-s', 'nothing')).code).toBe(64);
  });
});
