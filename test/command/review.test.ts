import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openCampaign } from '../../src/campaign/open-campaign.ts';
import type { ReportParts } from '../../src/contract/report.ts';
import type { ReviewData } from '../../src/contract/review.ts';
import { makeGallery } from '../../src/review/gallery/make-gallery.ts';
import { command } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import { listenHere } from '../rig/listen.ts';
import { readLockFile } from '../rig/oracle.ts';
import { makePlace, type Place, until } from '../rig/place.ts';
import { buyEverything } from '../rig/review/bought-campaign.ts';
import { pageOf } from '../rig/review/page-of-run.ts';
import { drawPng } from '../rig/review/png.ts';
import { runInProcess } from './in-process.ts';

describe('review', () => {
  const manifest = `version: 1
name: posters
tasks:
  hero: { kind: image, takes: 3, gate: { choose: 1 }, with: { prompt: a lamp, resolution: 1k, model: alpha-2 } }
  poster: { kind: image, with: { prompt: a poster, resolution: 1k, model: alpha-2, referenceImages: ["{{tasks.hero.url}}"] } }
`;

  async function bought(): Promise<Place> {
    const place = await makePlace(manifest);
    await place.apply([], { ends: 5 });
    return place;
  }

  /** `review`, once its page is there. */
  async function review(place: Place, words = ['--no-open'], env: Record<string, string> = {}) {
    const run = place.start(['review', 'campaign.yaml', ...words], env);
    const page = await pageOf(run);
    await until(() => run.err().includes('Ctrl-C stops the page'));
    const end = async () => {
      run.child.kill('SIGINT');
      const { code } = await run.ended;
      return { code, err: run.err() };
    };
    return { url: page.url, page, said: run.err, end };
  }

  const verdictsOf = ({ lock }: Place, address: string) => readLockFile(lock).steps.get(address)?.decisions?.verdicts;

  test('prints open gates, serves page, data, pictures and thumbnails, records decisions, and prints a summary at Ctrl-C', async () => {
    const place = await bought();
    const { url, page, said, end } = await review(place);
    expect(said()).toContain('  1 gate is open, 3 outputs to review; Ctrl-C stops the page\n');
    const html = await (await fetch(url)).text();
    for (const name of [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')) {
      expect((await fetch(`${url}${name}`)).status, name).toBe(200);
    }
    const takes = (await page.data()).assets.filter(({ task }) => task === 'hero');
    const [file] = takes[0]?.files ?? [];
    const picture = Buffer.from(await (await fetch(`${url}${file?.url}`)).arrayBuffer());
    expect(picture).toEqual(readFileSync(place.path(file?.path ?? '')));
    const thumb = await fetch(`${url}${file?.thumb}`);
    expect(thumb.headers.get('content-type')).toBe('image/jpeg');
    const small = Buffer.from(await thumb.arrayBuffer());
    expect([small.readUInt16BE(0), small.length < 60_000]).toEqual([0xffd8, true]);
    await until(() => existsSync(place.path(`.mediabatch/thumbs/${file?.sha256}.jpg`)));
    const verdicts = { 'hero/1': 'picked', 'hero/2': 'rejected', 'hero/3': 'picked' } as const;
    expect(await page.judge(verdicts)).toMatchObject({ is: 'recorded', refused: [] });
    const { code, err } = await end();
    expect(code).toBe(0);
    expect(err).toMatch(/picked 1, rejected 1, every gate is decided\n {2}then: mediabatch apply campaign\.yaml\n$/);
    expect(verdictsOf(place, 'hero/3')).toMatchObject([{ is: 'picked', job: takes[2]?.job }]);
    await place.apply([], { ends: 0 });
  });

  test('decisions in transit at Ctrl-C are recorded', async () => {
    const place = await bought();
    const { page, end } = await review(place);
    const judged = page.judge({ 'hero/2': 'picked' }).catch(() => undefined);
    await wait(3);
    const { code } = await end();
    const answer = await judged;
    expect(code).toBe(0);
    // It had arrived, or it had not: what was answered is in the lock.
    if (answer !== undefined) expect(verdictsOf(place, 'hero/2')).toMatchObject([{ is: 'picked' }]);
  });

  test.skipIf(process.platform !== 'linux')(
    'opens the address as one word, and says how to go on where nothing opens it',
    async () => {
      const place = await bought();
      mkdirSync(place.path('bin'));
      const asked = place.path('asked');
      const opener = (does: string) =>
        writeFileSync(place.path('bin/xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${asked}'\n${does}\n`, {
          mode: 0o755,
        });
      const env = { PATH: `${place.path('bin')}:/usr/bin:/bin` };
      opener('exit 0');
      const first = await review(place, [], env);
      await until(() => existsSync(asked) && readFileSync(asked, 'utf8').includes('http'));
      const [count, entrance = ''] = readFileSync(asked, 'utf8').split('\n');
      expect(count).toBe('1');
      // Everybody on this machine can read what a program is called with: it leads to the page once.
      expect(entrance).not.toBe(first.url);
      expect((await fetch(entrance)).url).toBe(first.url);
      expect((await fetch(entrance)).status).toBe(403);
      await first.end();
      opener('exit 3');
      const second = await review(place, [], env);
      await until(() => second.said().includes('no browser was opened'));
      expect((await second.end()).code).toBe(0);
    },
    60_000,
  );

  test('a port in use, an empty selection or an invalid manifest is an error, and nothing is served', async () => {
    const cwd = makeFolder();
    const run = (...words: string[]) => command(['review', 'campaign.yaml', '--no-open', ...words], { cwd });
    writeFileSync(join(cwd, 'campaign.yaml'), manifest);
    const { port } = new URL(await listenHere(createServer()));
    expect(await run('--port', port)).toMatchObject({
      code: 64,
      err: expect.stringContaining(`port ${port} is already in use`),
    });
    expect(await run('-s', 'nothing')).toMatchObject({ code: 64, err: expect.stringContaining('matches no step') });
    writeFileSync(join(cwd, 'campaign.yaml'), manifest.replace('kind: image', 'kind: imago'));
    expect(await run()).toMatchObject({ code: 65 });
  });
});

describe('report', () => {
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
    const folder = makeFolder();
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

  test('an interruption leaves the page unchanged and keeps finished thumbnails, which the next report uses', async () => {
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

  test('writes a folder with links to the outputs, their charges and the origin of each value', async () => {
    const { folder, report } = await campaignHere();
    const lock = readFileSync(join(folder, 'campaign.lock.jsonl'), 'utf8');
    const { code, out, err } = await report();
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('campaign.report/index.html\n');
    expect(err).toContain('4 outputs of 5 steps\n');
    const data = dataOf(join(folder, 'campaign.report/index.html'));
    const [first] = data.assets;
    expect(first).toMatchObject({ address: 'hero@lamp/1', state: 'done', credits: 2, report: { estimated: 2 } });
    expect(first?.files[0]).toMatchObject({ url: '../images/lamp-1.png', thumb: expect.stringMatching(/^thumbs\//) });
    expect(first?.report?.origins).toMatchObject({ prompt: 'campaign.yaml:12, name of products.csv:2' });
    // The default that is written out is no part of the purchase.
    expect(first?.report?.origins).not.toHaveProperty('model');
    expect(data.assets.at(-1)).toMatchObject({ address: 'poster', state: 'planned', files: [] });
    expect(data.canDecide).toBe(false);
    expect(readFileSync(join(folder, 'campaign.lock.jsonl'), 'utf8')).toBe(lock);
  });

  test('--copy --max-size shrinks pictures that are too large, and reports if that is not enough', async () => {
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
      { address: lamp?.report?.step, is: 'picked', job: lamp?.job },
      { address: data.assets[2]?.report?.step, is: 'picked', job: other?.job },
    ];
    const picks = { mediabatch: 'picks', version: 1, by: 'Ada', verdicts };
    writeFileSync(join(folder, 'picks.json'), JSON.stringify(picks));
    const picked = await runInProcess(['pick', '--from', 'picks.json'], home, folder);
    expect(picked.out + picked.err).toContain('picked hero@lamp/1');
    expect(picked.out + picked.err).toContain('hero@vase/1: has changed since Ada reviewed it');
    expect((await report('--note', 'x')).err).toContain('--note requires --for');
  });

  test('never overwrites anything but a gallery (73), and refuses contradictory options (64)', async () => {
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
    expect(nowhere).toMatchObject({ code: 73, err: expect.stringContaining('choose a file in an existing folder') });
    expect((await report('--single-file', 'a.html', '--copy')).code).toBe(64);
    expect((await report('-s', 'nothing')).code).toBe(64);
  });
});
