import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../rig/command.ts';
import { buyEverything } from '../rig/review/bought-campaign.ts';
import { drawPng } from '../rig/review/png.ts';
import { makeFolder, removeFolder } from './folders.ts';

/**
 * How long a gallery takes: the first time, and again when nothing has changed. `npx tsx test/bench/report.ts [--assets N]
 * [--pictures N]`, of which the others are copies, `[--side N]`: pictures that are so
 * wide, of 64 drawings, each a file of its own; after `npm run build`, on Linux; prints seconds, the peak of memory and the length of the page. Ends with 1 when an
 * unchanged gallery of 2,000 takes more than 1.5 s of a core, one of 10,000 more than 5 MB of data, or the first of 8,000
 * pictures of 1K more than 100 s of two cores.
 */
const { values } = parseArgs({
  options: {
    assets: { type: 'string', default: '2000' },
    pictures: { type: 'string' },
    side: { type: 'string' },
  },
});
const count = Number(values.assets);
const pictures = Number(values.pictures ?? count);
const side = values.side === undefined ? undefined : Number(values.side);
const takes = 4;
const goals = { unchangedSeconds: 1.5, dataBytes: 5e6, firstSeconds: 100 } as const;

const folder = makeFolder();
const file = join(folder, 'campaign.yaml');
writeFileSync(
  file,
  `version: 1
name: aurora
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    takes: ${takes}
    gate: { choose: 1 }
    with: { model: alpha-2, resolution: 1k, prompt: "{{row.name}} of {{row.material}} on an oak table, seen from above in the soft light of a morning, for a catalogue" }
    save: images/{{row.sku}}
`,
);
const rows = Array.from({ length: count / takes }, (_, index) => `p${index},Product ${index},material ${index % 7}\n`);
writeFileSync(join(folder, 'products.csv'), `sku,name,material\n${rows.join('')}`);
/** All different, and some of them alike. */
const drawnAs = (index: number) => drawPng(320 + (index % 64), 240 + (Math.floor(index / 64) % 160), index % 256);
const large = side === undefined ? [] : Array.from({ length: 64 }, (_, index) => drawPng(side, side, index * 4));
await buyEverything(file, ({ key, take }, index) => {
  const drawing = large[index % 64];
  // What follows the picture makes each a file of its own.
  const bytes = drawing === undefined ? drawnAs(index % pictures) : Buffer.concat([drawing, Buffer.from(`\n${index}`)]);
  return { path: `images/${key}-${take}.png`, bytes };
});
mkdirSync(join(folder, 'home'));

let isMissed = false;
for (const name of ['first', 'unchanged', 'unchanged again']) {
  const before = process.hrtime.bigint();
  const done = spawnSync(
    '/usr/bin/time',
    ['-f', '%e %U %S %M', process.execPath, join(root, 'dist/cli/bin.js'), 'report', file],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'home') },
    },
  );
  const seconds = Number(process.hrtime.bigint() - before) / 1e9;
  const last = done.stderr.trim().split('\n').at(-1) ?? '';
  const [, user = 0, system = 0, kilobytes = 0] = last.split(' ').map(Number);
  const bytes = statSync(join(folder, 'campaign.report/index.html')).size;
  const thumbs = readdirSync(join(folder, 'campaign.report/thumbs')).length;
  const core = user + system;
  process.stdout.write(
    `${name}: ${seconds.toFixed(2)} s (${core.toFixed(2)} s of a core), ${Math.round(kilobytes / 1024)} MiB, page ${(bytes / 1e6).toFixed(2)} MB, ${thumbs} small pictures\n`,
  );
  if (done.status !== 0) throw new Error(done.stderr);
  if (name === 'first' && side === 1024 && core > (goals.firstSeconds * 2 * count) / 8000) isMissed = true;
  if (name === 'unchanged again' && count <= 2000 && core > goals.unchangedSeconds) isMissed = true;
  if (count <= 10_000 && bytes > goals.dataBytes) isMissed = true;
}
removeFolder(folder, 3 * count);
if (isMissed) process.exitCode = 1;
