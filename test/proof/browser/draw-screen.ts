import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bin, root, temporaryFolder } from '../../rig/command.ts';
import { frameSvg } from './frame-svg.ts';

/** Draws the screen of a run for the README, as tmux shows it: `npm run pictures`. Needs tmux. */
const size = { columns: 92, rows: 24 };
/** A run that looks like one: this share of its steps is done. */
const share = { from: 0.62, to: 0.85 };

const folder = temporaryFolder();
const campaign = join(folder.path, 'aurora-launch');
mkdirSync(campaign);
writeFileSync(join(campaign, 'campaign.yaml'), manifest());

const socket = join(folder.path, 'tmux');
const tmux = (...args: string[]) =>
  execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
const call = `'${process.execPath}' '${bin}' apply --sandbox --yes`;
const pace = '--sandbox-speed 2 --concurrency 16';
try {
  const { columns, rows } = size;
  // What was seen before tells how long the rest takes.
  const line = `${call} --first 6 ${pace} >first.log 2>&1; ${call} ${pace}; sleep 600`;
  const state = `XDG_STATE_HOME=${join(folder.path, 'state')}`;
  const place = ['-x', String(columns), '-y', String(rows), '-c', campaign, '-e', state];
  tmux('new-session', '-d', ...place, line);
  writeFileSync(
    join(root, 'examples/screen.svg'),
    frameSvg(await frameOfRun(), 'mediabatch apply, in the middle of a run'),
  );
} finally {
  tmux('kill-server');
  // What it wrote is on its way to the disk.
  await wait(2000);
  folder.remove();
}

/** Waits until enough is done. A frame that was caught half drawn lacks its totals. */
async function frameOfRun(): Promise<string> {
  for (let looks = 0; looks < 1500; looks++) {
    await wait(200);
    const plain = tmux('capture-pane', '-p');
    const [, done = '0', all = '1'] = /^([\d,]+) of ([\d,]+) done/m.exec(plain) ?? [];
    const part = Number(done.replaceAll(',', '')) / Number(all.replaceAll(',', ''));
    if (part < share.from || part > share.to) continue;
    const screen = tmux('capture-pane', '-p', '-e').split('\n');
    const first = screen.findIndex((line) => line.includes('hero') && line.includes(' of '));
    return screen.slice(Math.max(0, first)).join('\n');
  }
  throw new Error('the run did not come to its middle');
}

function manifest(): string {
  const keys = Array.from({ length: 60 }, (_, index) => `p${index + 1}`).join(', ');
  return `version: 1
name: aurora-launch
budget: { credits: 900 }
vars: { products: [${keys}] }
defaults: { image: { model: alpha-2, resolution: 1k } }
tasks:
  hero:
    kind: image
    foreach: "{{vars.products}}"
    matrix: { ratio: ["1:1", "9:16"] }
    with: { prompt: "product {{row}}, catalogue style", aspectRatio: "{{matrix.ratio}}" }
    save: hero/{{row}}-{{slug matrix.ratio}}
  voice:
    kind: voiceover
    foreach: "{{vars.products}}"
    with: { text: "Product {{row}}. Turn it once, and the evening begins.", voice_id: Alice }
    save: voice/{{row}}
  teaser:
    kind: video
    foreach: "{{vars.products}}"
    with: { model: motion-2-fast, ratio: "9:16", duration: 2, image: "{{tasks.hero.url}}", prompt: slow push in }
    from: { hero: { ratio: "9:16" } }
    save: teaser/{{row}}
  song:
    kind: music
    foreach: [spring, summer, autumn, winter, dawn, noon, dusk, night]
    with: { model: song-7.5, prompt: "piano for {{row}}" }
    save: song/{{row}}
`;
}
