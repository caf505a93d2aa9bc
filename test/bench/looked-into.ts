import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, removeFolder } from './folders.ts';
import { bin } from './measure.ts';

/**
 * Whether what `expect` looks into is quiet where nothing is wrong: 200 outputs of the sandbox, pictures, voices and songs.
 * `npx tsx test/bench/looked-into.ts` after `npm run build`; prints what does not fit, and ends with 1 when anything does not.
 */
const manifest = `version: 1
name: looked-into
budget: { credits: 5000 }
tasks:
  picture:
    kind: image
    foreach: rows.csv
    key: "{{row.id}}"
    takes: 2
    with: { prompt: "{{row.name}} on an oak table", resolution: 1k }
    expect: { blank: false }
  portrait:
    kind: image
    foreach: rows.csv
    key: "{{row.id}}"
    with: { prompt: "a portrait of {{row.name}}", resolution: 1k, aspectRatio: "9:16" }
    expect: { blank: false }
  voice:
    kind: voiceover
    foreach: rows.csv
    key: "{{row.id}}"
    with: { voice_id: Aria, text: "This is number {{row.id}}, and it is called {{row.name}}." }
    expect: { loudness: { lufs: [-30, -10] }, peak: { max: 0 }, silence: { max: 1s } }
  song:
    kind: music
    foreach: songs.csv
    key: "{{row.id}}"
    with: { prompt: "a song of {{row.name}}", model: "song-7.5" }
    expect: { loudness: { lufs: [-30, -8] }, peak: { max: 0 }, silence: { max: 2s } }
`;

const things = ['lamp', 'vase', 'chair', 'clock', 'kettle', 'mirror'];
const rows = (count: number) =>
  `id,name\n${Array.from({ length: count }, (_, index) => `n${index},${things[index % things.length]} ${index}\n`).join('')}`;
const folder = makeFolder();
writeFileSync(join(folder, 'campaign.yaml'), manifest);
writeFileSync(join(folder, 'rows.csv'), rows(45));
writeFileSync(join(folder, 'songs.csv'), rows(20));
const run = (...args: string[]) =>
  spawnSync(process.execPath, [bin, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HOME: folder, NO_COLOR: '1' },
  });
const { status, stderr, stdout } = run('apply', '--sandbox', '--yes');
process.stdout.write(`${stdout.split('\n').slice(-12).join('\n')}${stderr.split('\n').slice(-12).join('\n')}\n`);
removeFolder(folder, 200);
if (status !== 0) process.exitCode = 1;
