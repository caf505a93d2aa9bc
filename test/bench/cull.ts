import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { openChromium } from '../rig/chromium.ts';
import { root } from '../rig/command.ts';
import { buyEverything } from '../rig/review/bought-campaign.ts';
import { drawPng } from '../rig/review/png.ts';
import { makeFolder, removeFolder } from './folders.ts';

/**
 * How quickly one culls: picks by keys on the real server, in groups, loupe and comparison, cold and warm, with a decided
 * step behind each gate.
 * `npx tsx test/bench/cull.ts [--groups N] [--picks N]` after `npm run build`, on Linux with a Chromium; prints the time from a
 * key to the next picture, and for each verdict what the server took of a core and what went over the wire. Ends with 1 when a
 * verdict takes the server more than 20 ms, or the next picture more than 40 ms (half of them) or 100 ms (of 20 all but one), the first picture
 * more than 2 s, or a search more than 200 ms.
 */
const { values } = parseArgs({
  options: { groups: { type: 'string', default: '2000' }, picks: { type: 'string', default: '60' } },
});
const [groups, picks] = [Number(values.groups), Number(values.picks)];
const takes = 4;
const goals = { half: 40, most: 100, coreMs: 20, search: 200, first: 2000 } as const;
/** A person looks at each for a moment, in ms. */
const lookMs = 300;

const folder = makeFolder();
const file = join(folder, 'campaign.yaml');
writeFileSync(
  file,
  `version: 1
name: aurora
prices: { image: 2 }
tasks:
  draft:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    takes: ${takes}
    gate: { choose: 1 }
    with: { resolution: 1k, prompt: "{{row.name}} on an oak table, seen from above in the soft light of a morning, for a catalogue" }
    save: images/{{row.sku}}
  final:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with: { resolution: 2k, prompt: "{{row.name}}, finished", referenceImages: ["{{tasks.draft.url}}"] }
`,
);
const rows = Array.from({ length: groups }, (_, index) => `p${String(index).padStart(4, '0')},Product ${index}\n`);
writeFileSync(join(folder, 'products.csv'), `sku,name\n${rows.join('')}`);
const drawn = Array.from({ length: 64 }, (_, index) => drawPng(1024, 768, index * 4));
await buyEverything(file, ({ task, key, take }, index) => {
  if (task === 'final') return undefined;
  // What follows the picture makes each a file of its own.
  const end = Buffer.from(`\n${index}`);
  return { path: `images/${key}-${take}.png`, bytes: Buffer.concat([drawn[index % 64] ?? Buffer.alloc(0), end]) };
});
mkdirSync(join(folder, 'home'));

const server = spawn(process.execPath, [join(root, 'dist/cli/bin.js'), 'review', file, '--no-open'], {
  cwd: folder,
  env: { PATH: process.env.PATH ?? '', HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'home') },
});
const url = await new Promise<string>((resolve, reject) => {
  let seen = '';
  server.stderr.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    const found = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(seen)?.[0];
    if (found !== undefined) resolve(found);
  });
  server.once('exit', () => reject(new Error(seen)));
});
const { browser, close } = await openChromium();
let isMissed = false;
try {
  const page = await browser.newPage();
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  let bytes = 0;
  const pictures = new Set<string>();
  network.on('Network.responseReceived', ({ requestId, response }) => {
    if (/\/(?:media|thumb)\//.test(response.url)) pictures.add(requestId);
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!pictures.has(requestId)) bytes += encodedDataLength;
  });
  const began = performance.now();
  await page.goto(url);
  await page.locator('.active[data-address] img').first().waitFor();
  const first = Math.round(performance.now() - began);
  process.stdout.write(`first picture: ${first} ms\n`);
  if (first > goals.first) isMissed = true;
  await page.waitForTimeout(3000);
  for (const [name, ...keys] of [
    ['groups, cold'],
    ['loupe, cold', 'Enter'],
    ['comparison, cold', 'Escape', 'c'],
    ['groups, warm', 'Escape'],
    ['loupe, warm', 'Enter'],
    ['comparison, warm', 'Escape', 'c'],
  ] as const) {
    // A reload in the same browser: small pictures are made, and the first undecided group is active again.
    if (name === 'groups, warm') await page.reload();
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForTimeout(1500);
    [bytes] = [0];
    const core = coreMsOf(server.pid ?? 0);
    const times: number[] = [];
    for (let n = 0; n < picks; n += 1) {
      await page.waitForTimeout(lookMs);
      times.push(await timeToPicture(page, String(1 + (n % takes))));
    }
    await page.waitForTimeout(1000);
    const each = (coreMsOf(server.pid ?? 0) - core) / picks;
    const [half, most] = [quantile(times, 0.5), quantile(times, 0.95)];
    process.stdout.write(
      `${name}: key to next picture ${half} ms (half), ${most} ms (19 of 20), ${Math.round(Math.max(...times))} ms (all); a verdict: ${each.toFixed(1)} ms of the thread that answers, ${(bytes / picks / 1000).toFixed(1)} kB without pictures\n`,
    );
    if (half > goals.half || most > goals.most || each > goals.coreMs) isMissed = true;
  }
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  const search = await page.evaluate<number>(`(async () => {
    const field = document.getElementById('search');
    const before = performance.now();
    field.value = 'Product 1777';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return Math.round(performance.now() - before);
  })()`);
  process.stdout.write(`search: ${search} ms\n`);
  if (search > goals.search) isMissed = true;
} finally {
  await close();
  server.kill('SIGINT');
  await new Promise((resolve) => server.once('exit', resolve));
  removeFolder(folder, 4 * groups * takes);
}
if (isMissed) process.exitCode = 1;

/** From the press of a key to the first frame in which another asset is active and its picture is whole. */
async function timeToPicture(page: Page, key: string): Promise<number> {
  await page.evaluate(`(() => {
    const active = () => document.querySelector('.active[data-address]');
    const before = active()?.dataset.address;
    window.shown = new Promise((resolve) => {
      document.addEventListener('keydown', (event) => {
        const look = () => {
          const now = active();
          const image = now?.querySelector('.on-stage:not([hidden]) img, .picture img, .pane-picture img');
          if (now && now.dataset.address !== before && image?.complete && image.naturalWidth > 0) resolve(performance.now() - event.timeStamp);
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      }, { once: true, capture: true });
    });
  })()`);
  await page.keyboard.press(key);
  return page.evaluate<number>('window.shown');
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN);
}

/** Time that the thread which answers has had of a core, in ms: small pictures are made on others. */
function coreMsOf(pid: number): number {
  const [user = 0, system = 0] = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}
