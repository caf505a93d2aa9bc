import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readResultFiles } from '../rig/media-files.ts';
import { firstAccount, type ServiceOptions } from '../rig/service-here.ts';
import { makeTrial, type Trial, withFaults } from '../rig/trial.ts';

/** Every kind once, each with something that another one made. */
const manifest = `version: 1
name: launch
budget: { credits: 500 }
vars: { account: none }
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  hero:
    kind: image
    with: { prompt: "A lamp with this logo", resolution: 1k, aspectRatio: "16:9", referenceImages: ["{{tasks.logo.url}}"] }
  host: { kind: influencer, with: { prompt: "A presenter with the lamp", referenceImages: ["{{tasks.hero.url}}"] } }
  bed: { kind: music, with: { model: song-7.5, prompt: calm, output_format: wav } }
  voice: { kind: voiceover, with: { text: "A lamp like no other.", voice_id: Alice, output_format: wav } }
  film: { kind: video, with: { prompt: "A slow push in", image: "{{tasks.hero.url}}", duration: 2 } }
  cuts: { kind: clipping, with: { videoUrl: "{{tasks.film.url}}", maxClips: 2 } }
  cover:
    kind: thumbnail
    foreach: "{{tasks.cuts.clips}}"
    maxItems: 4
    with: { title: "Part {{row.number}}", image: "{{tasks.film.thumbnailUrl}}" }
  share:
    kind: post
    foreach: "{{tasks.cuts.clips}}"
    maxItems: 4
    with: { accountIds: ["{{vars.account}}"], caption: "Part {{row.number}}", media: ["{{row.url}}", "{{tasks.cover.url}}"] }
`;

async function launch(options: { service?: ServiceOptions } = {}): Promise<{ trial: Trial; apply: Trial['apply'] }> {
  const trial = await makeTrial(manifest, options);
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55', 'hex');
  writeFileSync(trial.path('logo.png'), png);
  const vars = ['--var', `account=${await firstAccount(trial.sandbox)}`];
  return { trial, apply: (args = [], given = {}) => trial.apply(['--publish', ...vars, ...args], given) };
}

const kindsOf = (trial: Trial) => trial.sandbox.ledger().map(({ kind }) => kind);

describe('a campaign of every kind', () => {
  test('runs from a local file to posts, and a rerun costs nothing', async () => {
    const { trial, apply } = await launch();
    const first = await apply();
    expect(first.code, first.err).toBe(0);
    const kinds = kindsOf(trial);
    expect(new Set(kinds)).toEqual(
      new Set(['image', 'influencer', 'music', 'voiceover', 'video', 'clipping', 'thumbnail', 'post']),
    );
    // What cannot be taken back comes last.
    const firstPost = kinds.indexOf('post');
    expect(kinds.slice(firstPost)).toEqual(kinds.slice(firstPost).map(() => 'post'));
    expect(kinds.filter((kind) => kind === 'post').length).toBe(kinds.filter((kind) => kind === 'thumbnail').length);
    expect(readResultFiles(trial.path('output'))).toMatchObject({
      hero: 'image',
      host: 'image',
      bed: 'audio',
      voice: 'audio',
      film: 'video',
      'cuts-1': 'video',
      'cover-1': 'image',
    });
    const lock = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    expect(lock).toMatch(/"kind":"upload"[^\n]*"url":"http/);
    expect(lock).toMatch(/"kind":"thumbnail"[^\n]*"recordId":"/);
    // Links of other steps' outputs are signed and may change: none of them is kept.
    expect(lock).not.toMatch(/\/files\//);

    const again = await apply();
    expect(again.code, again.err).toBe(0);
    expect(again.err).toContain('Nothing to do');
    expect(trial.sandbox.ledger()).toHaveLength(kinds.length);
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(lock);
  });

  test('downloads deleted files again, and repeats no post or upload', async () => {
    const { trial, apply } = await launch();
    expect((await apply()).code).toBe(0);
    const bought = trial.sandbox.ledger().length;
    const before = readdirSync(trial.path('output')).sort();
    rmSync(trial.path('output'), { recursive: true });
    const again = await apply();
    expect(again.code, again.err).toBe(0);
    expect(readdirSync(trial.path('output')).sort()).toEqual(before);
    expect(trial.sandbox.ledger()).toHaveLength(bought);
  });

  test('a lost answer without recovery waits for a user decision, and other steps continue', async () => {
    const { trial, apply } = await launch(
      withFaults([{ on: 'create', match: 'slow push in', do: { type: 'reset', booked: true } }]),
    );
    const first = await apply();
    expect(first.code, first.err).toBe(6);
    const videos = () => kindsOf(trial).filter((kind) => kind === 'video').length;
    expect(videos()).toBe(1);
    expect((await apply()).code).toBe(6);
    expect(videos()).toBe(1);
    const job = trial.sandbox.ledger().find(({ kind }) => kind === 'video');
    const decided = await trial.run([
      'resolve',
      'campaign.yaml',
      'film',
      '--job',
      job?.id ?? '',
      '--credits',
      String(job?.credits),
    ]);
    expect(decided.code, decided.err).toBe(0);
    const last = await apply();
    expect(last.code, last.err).toBe(0);
    expect(videos()).toBe(1);
  });

  test('a request that does not fit the service’s description is reported before anything is paid', async () => {
    const { trial, apply } = await launch();
    trial.write('campaign.yaml', manifest.replace('duration: 2', 'duration: 90'));
    const refused = await apply();
    expect(refused.code).toBe(65);
    expect(refused.err).toContain('duration');
    expect(trial.sandbox.ledger()).toHaveLength(0);
  });
});
