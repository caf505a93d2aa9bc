import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { apply, load, plan } from '../../src/index.ts';
import { makeTrial, type Trial, withFaults } from '../rig/trial.ts';

const kinds = {
  video: '{ kind: video, with: { prompt: a lamp that turns } }',
  voiceover: '{ kind: voiceover, with: { text: Hello from the workshop, voice_id: Aria } }',
  thumbnail: '{ kind: thumbnail, with: { prompt: a lamp, title: Lamps } }',
  clipping: '{ kind: clipping, with: { videoUrl: "https://example.com/talk.mp4" } }',
  image: '{ kind: image, with: { prompt: a lamp, resolution: 1k } }',
  influencer: '{ kind: influencer, with: { prompt: a lamp and its maker } }',
};
const manifestOf = (...names: (keyof typeof kinds)[]) =>
  `version: 1\nname: lost\ntasks:\n${names.map((name) => `  my-${name}: ${kinds[name]}\n`).join('')}`;

const remove = (trial: Trial, ...names: string[]) => {
  for (const name of names) rmSync(trial.path(name), { recursive: true, force: true });
};
const lock = 'campaign.lock.jsonl';

async function bought(...names: (keyof typeof kinds)[]): Promise<Trial> {
  const trial = await makeTrial(manifestOf(...names));
  const first = await trial.apply();
  expect(first.code, first.err).toBe(0);
  return trial;
}

describe('a lost lock', { timeout: 90_000 }, () => {
  test.each([
    ['whose outputs lie at their paths', 'video', [lock, '.mediabatch'], /output\/my-video\./],
    ['whose history is here', 'video', [lock, 'output'], /runs on this machine/],
    ['of which only the service knows', 'video', [lock, '.mediabatch', 'output'], /lists 1 job/],
    ['of a voiceover that the service lists', 'voiceover', [lock, '.mediabatch', 'output'], /lists 1 job/],
    ['of a thumbnail that the service lists', 'thumbnail', [lock, '.mediabatch', 'output'], /lists 1 job/],
    ['of a picture whose key may be too old', 'image', [lock, '.mediabatch'], /output\/my-image\.png/],
  ] as const)('%s is not bought again in silence (I40)', async (_name, kind, lost, said) => {
    const trial = await bought(kind);
    remove(trial, ...lost);
    const before = trial.sandbox.ledger().length;
    for (const more of [[], ['-s', `my-${kind}`]]) {
      const again = await trial.apply(more);
      expect(again.code, again.err).toBe(65);
      expect(again.err).toContain('MB3409');
      expect(again.err).toMatch(said);
      expect(again.err).toContain('was the lock lost?');
      expect(again.err).toContain('mediabatch apply campaign.yaml');
      expect(again.err).toContain('--new');
    }
    expect(trial.sandbox.ledger()).toHaveLength(before);
    const meant = await trial.apply(['--new']);
    expect(meant.code, meant.err).toBe(0);
    expect((await trial.apply()).err).toContain('Nothing to do');
  });

  test('comes back by what the refusal prints: adopt, without a credit', async () => {
    const trial = await bought('video', 'voiceover');
    remove(trial, lock, '.mediabatch', 'output');
    const before = trial.sandbox.ledger().length;
    const refused = await trial.apply(['--json']);
    expect(refused.code, refused.err).toBe(65);
    expect(refused.err).toMatch(/to bring back 2 jobs \(\d+ credits and more\): mediabatch adopt campaign.yaml$/m);
    expect(JSON.parse(refused.out)).toMatchObject({ code: 'MB3409', exit: 65, lock, jobs: 2 });
    expect((await trial.run(['adopt', 'campaign.yaml', '--yes'])).code).toBe(0);
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(before);
  });

  test('comes back in part: the rest is asked about all the same', async () => {
    const trial = await bought('video', 'influencer');
    remove(trial, lock);
    const before = trial.sandbox.ledger().length;
    expect((await trial.run(['adopt', 'campaign.yaml', '--yes'])).code).toBe(0);
    const refused = await trial.apply();
    expect(refused.code, refused.err).toBe(65);
    expect(refused.err).toContain('tells only of what was brought back');
    const [, address = '', job = ''] = /mediabatch import campaign.yaml (\S+) (\S+)$/m.exec(refused.err) ?? [];
    expect((await trial.run(['import', 'campaign.yaml', address, job, '--credits', '8'])).code).toBe(0);
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(before);
    // What is asked for later is new, and nobody is asked.
    trial.write('campaign.yaml', manifestOf('video', 'influencer', 'image'));
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(before + 1);
  });

  test('of which one job was imported by hand is not whole, where only files and lists tell, too', async () => {
    const trial = await bought('video', 'voiceover');
    remove(trial, lock, '.mediabatch');
    const before = trial.sandbox.ledger();
    const video = before.find(({ kind }) => kind === 'video');
    expect((await trial.run(['import', 'campaign.yaml', 'my-video', video?.id ?? '', '--credits', '4'])).code).toBe(0);
    expect((await trial.apply()).code).toBe(65);
    expect((await trial.run(['adopt', 'campaign.yaml', '--yes'])).code).toBe(0);
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(before.length);
  });

  test('of a post that is out: it stays, and no import is printed, which takes jobs only', async () => {
    const post = '{ kind: post, with: { caption: Hello, accountIds: [acc_a26a6b25c78b1c8d] } }';
    const trial = await makeTrial(`version: 1\nname: lost\ntasks:\n  say: ${post}\n`);
    const first = await trial.apply(['--publish']);
    expect(first.code, first.err).toBe(0);
    remove(trial, lock);
    const again = await trial.apply(['--publish']);
    expect(again.code, again.err).toBe(65);
    expect(again.err).toContain('runs on this machine bought say');
    expect(again.err).not.toContain('mediabatch import');
  });

  test('of pictures heals by itself within a day, where this machine knows that it is one', async () => {
    const trial = await bought('image');
    remove(trial, lock);
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test.each([
    ['is empty', ''],
    ['has a header only', '{"mediabatch":"lock","version":2}\n'],
    ['knows an upload only', 'upload'],
  ])('that %s is no lock either', async (_name, text) => {
    const trial = await makeTrial(`${manifestOf('video')}  logo: { kind: upload, with: { file: logo.png } }\n`);
    writeFileSync(
      trial.path('logo.png'),
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    );
    expect((await trial.apply()).code).toBe(0);
    remove(trial, lock, '.mediabatch', 'output');
    if (text === 'upload') expect((await trial.apply(['-s', 'logo'])).code).toBe(0);
    else trial.write(lock, text);
    const videos = () => trial.sandbox.ledger().filter(({ kind }) => kind === 'video');
    const again = await trial.apply();
    expect(again.code, again.err).toBe(65);
    expect(videos()).toHaveLength(1);
  });

  test('that git has is put back from there', async () => {
    const trial = await bought('video');
    const git = (...words: string[]) => execFileSync('git', words, { cwd: trial.folder });
    git('init', '-q');
    git('add', lock, 'campaign.yaml');
    git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'bought');
    remove(trial, lock, '.mediabatch', 'output');
    const again = await trial.apply();
    expect(again.code, again.err).toBe(65);
    expect(again.err).toContain('the last commit has it');
    expect(again.err).toContain('git restore campaign.lock.jsonl');
    git('restore', lock);
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('that a commit removed is found in the one before, unless another lock has taken over what it tells of', async () => {
    const trial = await bought('video');
    const git = (...words: string[]) => execFileSync('git', words, { cwd: trial.folder }).toString();
    const commit = (...words: string[]) =>
      git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'x', ...words);
    git('init', '-q');
    git('add', lock, 'campaign.yaml');
    commit();
    git('rm', '-q', lock);
    commit();
    remove(trial, '.mediabatch', 'output');
    const again = await trial.apply();
    expect(again.code, again.err).toBe(65);
    const [restore = ''] = /git restore --source=\S+ \S+/.exec(again.err) ?? [];
    execFileSync('sh', ['-c', restore], { cwd: trial.folder });
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(1);

    git('add', lock);
    commit();
    git('mv', lock, 'spring.lock.jsonl');
    git('mv', 'campaign.yaml', 'spring.yaml');
    commit('-a');
    trial.write('campaign.yaml', manifestOf('video').replace('name: ', 'name: another-'));
    const other = await trial.run(['plan', 'campaign.yaml']);
    expect(other.err).not.toContain('before it was removed');
  });

  test('is told by plan, which goes on without the network; a saved plan says what is meant', async () => {
    const trial = await bought('video');
    remove(trial, lock, '.mediabatch');
    const shown = await trial.run(['plan', 'campaign.yaml', '--out', 'a.plan.json'], {
      env: { MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1' },
    });
    expect(shown.code, shown.err).toBe(0);
    expect(shown.err).toContain('notice MB3409');
    expect(shown.err).toContain('mediabatch adopt campaign.yaml');
    await trial.run(['plan', 'campaign.yaml', '--out', 'a.plan.json']);
    const refused = await trial.run(['apply', 'a.plan.json', '--yes']);
    expect(refused.code, refused.err).toBe(65);
    expect((await trial.run(['apply', 'a.plan.json', '--new'])).code).toBe(64);
    const meant = await trial.run(['plan', 'campaign.yaml', '--new', '--out', 'b.plan.json']);
    expect(meant.err).not.toContain('MB3409');
    const applied = await trial.run(['apply', 'b.plan.json', '--yes']);
    expect(applied.code, applied.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(2);
  });

  test('with play money is the same', async () => {
    const trial = await makeTrial(manifestOf('video'));
    const rehearse = (...more: string[]) =>
      trial.run(['apply', 'campaign.yaml', '--sandbox', '--yes', '--sandbox-speed', '10000', ...more]);
    expect((await rehearse()).code).toBe(0);
    remove(trial, 'campaign.sandbox.lock.jsonl');
    const again = await rehearse();
    expect(again.code, again.err).toBe(65);
    expect(again.err).toContain('mediabatch apply campaign.yaml --sandbox');
    expect((await rehearse('--new')).code).toBe(0);
    expect((await rehearse()).code).toBe(0);
  });

  test('is refused by the library, too', async () => {
    const trial = await bought('video');
    remove(trial, lock, '.mediabatch', 'output');
    const { MEDIABATCH_BASE_URL: baseUrl = '', MEDIABATCH_API_KEY: token = '' } = trial.sandbox.env as Record<
      string,
      string
    >;
    const campaign = await load(trial.path('campaign.yaml'), { environment: { baseUrl, token } });
    const refused = apply(await plan(campaign));
    await expect(refused).rejects.toMatchObject({ failure: { code: 'MB3409' } });
    const { exit } = await apply(await plan(campaign, { new: true }), { pollIntervalMs: 10 });
    expect(exit).toBe(0);
  });
});

describe('nothing is asked', { timeout: 90_000 }, () => {
  test('of a first run, of a file that another campaign of the folder has on record, of a second task later', async () => {
    const trial = await bought('video');
    trial.write(
      'other.yaml',
      'version: 1\nname: other\ntasks:\n  my-video: { kind: image, with: { prompt: a boat, resolution: 1k }, save: output/my-video }\n',
    );
    const other = await trial.run(['apply', 'other.yaml', '--yes', '--poll-interval', '10']);
    expect(other.code, other.err).toBe(0);
    trial.write('campaign.yaml', manifestOf('video', 'voiceover'));
    expect((await trial.apply()).code).toBe(0);
  });

  test('of a list that the service does not have; one that does not answer ends the run before anything is bought', async () => {
    const fault = (status: number) => [{ on: 'list', nth: 1, do: { type: 'status', status, body: { oops: true } } }];
    const none = await makeTrial(manifestOf('video'), withFaults(fault(404)));
    const first = await none.apply();
    expect(first.code, first.err).toBe(0);
    expect(first.err).toContain('list of video jobs does not tell whether one was bought before');
    const away = await makeTrial(manifestOf('video'), withFaults(fault(503)));
    const refused = await away.apply();
    expect(refused.code, refused.err).toBe(69);
    expect(away.sandbox.ledger()).toHaveLength(0);
    expect((await away.apply()).code).toBe(0);
  });

  test('of a job that the lock of another campaign of the tree knows', async () => {
    const trial = await bought('video');
    mkdirSync(trial.path('copy'));
    mkdirSync(trial.path('.git'));
    trial.write('copy/campaign.yaml', manifestOf('video').replace('name: lost', 'name: copied'));
    const copied = await trial.run(['apply', 'copy/campaign.yaml', '--yes', '--poll-interval', '10']);
    expect(copied.code, copied.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(2);
  });
});
