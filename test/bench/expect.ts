import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMp3Encoder } from 'wasm-media-encoders';
import { KeptMeasures } from '../../src/disk/state/kept-measures.ts';
import { buyEverything } from '../rig/review/bought-campaign.ts';
import { makeFolder, removeFolder } from './folders.ts';
import { bin, measureOnce, median } from './measure.ts';

/**
 * What `expect` costs a plan once its files were measured: 10,000 voiceovers, with and without `expect.duration`, in turn.
 * `npx tsx test/bench/expect.ts` after `npm run build`; ends with 1 when it takes more than 10 % more CPU.
 */
const count = 10_000;
const rounds = 7;
const most = 1.1;

const folder = makeFolder();
const file = join(folder, 'campaign.yaml');
const home = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
Object.assign(process.env, home);
const manifest = `version: 1
name: voices
prices: { voiceover: 2 }
tasks:
  voice:
    kind: voiceover
    foreach: lines.csv
    key: "{{row.id}}"
    with: { text: "{{row.text}}" }
    save: voice/{{row.id}}
`;
const expecting = `${manifest}    expect: { duration: { min: 1, max: 3 } }\n`;
const rows = Array.from({ length: count }, (_, index) => `l${index},Sentence ${index}\n`);
writeFileSync(join(folder, 'lines.csv'), `id,text\n${rows.join('')}`);
writeFileSync(file, manifest);

const encoder = await createMp3Encoder();
encoder.configure({ channels: 1, sampleRate: 24_000, bitrate: 32 });
const head = Buffer.from(encoder.encode([new Float32Array(24_000 * 2)]));
const sound = Buffer.concat([head, Buffer.from(encoder.finalize())]);
const lock = await buyEverything(file, ({ key }, index) => ({
  path: `voice/${key}.mp3`,
  bytes: Buffer.concat([sound, Buffer.from(`\n${index}`)]),
  type: 'audio/mpeg',
}));
// A run has measured each when it was saved.
const kept = new KeptMeasures(join(folder, '.mediabatch'));
for (const { purchases } of lock.steps.values()) {
  const [output] = purchases[0]?.outputs ?? [];
  if (output !== undefined) await kept.add(output.sha256, { size: { durationSeconds: 2.04 } });
}
await kept.keep();
await measureOnce({ args: [bin, 'apply', file, '--yes'], env: home });

const times = { without: [] as number[], with: [] as number[] };
for (let round = 0; round < rounds; round += 1) {
  for (const [name, text] of [
    ['without', manifest],
    ['with', expecting],
  ] as const) {
    writeFileSync(file, text);
    times[name].push((await measureOnce({ args: [bin, 'plan', file], env: home })).cpuMs);
  }
}
const ratio = median(times.with.map((ms, index) => ms / (times.without[index] ?? Number.NaN)));
process.stdout.write(
  `plan of ${count} voiceovers: ${Math.round(median(times.without))} ms of CPU, with expect.duration ${Math.round(median(times.with))} ms: ${ratio.toFixed(2)} × (goal ${most})\n`,
);
removeFolder(folder, count);
if (!(ratio <= most)) process.exitCode = 1;
