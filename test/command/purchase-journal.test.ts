import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expectExit } from '../rig/command.ts';
import { gitEnvironment } from '../rig/git-environment.ts';
import { firstAccount } from '../rig/service-here.ts';
import { makeTrial, type Trial, withFaults } from '../rig/trial.ts';

/** The nine kinds. */
const manifest = (account: string) => `version: 1
name: launch
budget: { credits: 500 }
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k }, save: out/hero }
  host: { kind: influencer, with: { prompt: a presenter }, save: out/host }
  bed: { kind: music, with: { model: song-7.5, prompt: calm }, save: out/bed }
  voice: { kind: voiceover, with: { text: A lamp, voice_id: Alice }, save: out/voice }
  film: { kind: video, with: { prompt: a push in }, save: out/film }
  cuts: { kind: clipping, with: { videoUrl: "https://example.com/talk.mp4" }, save: out/cuts }
  cover: { kind: thumbnail, with: { title: A lamp }, save: out/cover }
  share: { kind: post, with: { accountIds: [${account}], caption: Hello } }
`;
const lock = 'campaign.lock.jsonl';
const film = (name = 'spring') => `version: 1
name: ${name}
budget: { credits: 200 }
tasks:
  film: { kind: video, foreach: [a, b, c], with: { prompt: "a lamp {{row}}" }, save: "out/{{row}}" }
`;

async function nineKinds(): Promise<Trial> {
  const trial = await makeTrial('');
  trial.write('campaign.yaml', manifest(await firstAccount(trial.sandbox)));
  trial.write('logo.png', 'PNG');
  writeFileSync(trial.path('logo.png'), Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex'));
  return trial;
}

const keys = (trial: Trial) => trial.sandbox.ledger().map(({ id }) => id);

/** What may happen to a lock, or to what lies beside it; `old`: a version of it from before most was bought. */
const events: [string, (at: (name: string) => string, old: string) => void][] = [
  ['is lost', (at) => rmSync(at(lock))],
  [
    'is lost with all that was made',
    (at) => {
      for (const name of [lock, '.mediabatch', 'out']) rmSync(at(name), { recursive: true, force: true });
    },
  ],
  ['is emptied', (at) => writeFileSync(at(lock), '')],
  ['is older', (at, old) => writeFileSync(at(lock), old)],
  [
    'is cut at a line',
    (at) => writeFileSync(at(lock), `${readFileSync(at(lock), 'utf8').split('\n').slice(0, 3).join('\n')}\n`),
  ],
  ['is renamed', (at) => renameSync(at(lock), at('other.lock.jsonl'))],
];

/** Where the campaign is carried on. Returns its folder and the manifest there. */
const places: [string, (folder: string) => [folder: string, manifest: string]][] = [
  ['in the same folder', (folder) => [folder, 'campaign.yaml']],
  [
    'in a folder that was renamed',
    (folder) => {
      renameSync(folder, `${folder}-renamed`);
      onTestFinished(() => renameSync(`${folder}-renamed`, folder));
      return [`${folder}-renamed`, 'campaign.yaml'];
    },
  ],
  [
    'in another working tree',
    (folder) => {
      const tree = `${folder}-tree`;
      execFileSync('git', ['worktree', 'add', '-q', '--detach', tree], { cwd: folder, env: gitEnvironment });
      onTestFinished(() => rmSync(tree, { recursive: true }));
      return [tree, 'campaign.yaml'];
    },
  ],
  [
    'by a symbolic link',
    (folder) => {
      rmSync(join(folder, 'latest.yaml'), { force: true });
      symlinkSync('campaign.yaml', join(folder, 'latest.yaml'));
      return [folder, 'latest.yaml'];
    },
  ],
  [
    'by a hard link',
    (folder) => {
      rmSync(join(folder, 'hard.yaml'), { force: true });
      linkSync(join(folder, 'campaign.yaml'), join(folder, 'hard.yaml'));
      return [folder, 'hard.yaml'];
    },
  ],
];

describe('I40 the purchase journal', () => {
  test.each(places)('restores nine kinds %s after every loss of the lock', async (_place, move) => {
    const trial = await nineKinds();
    const git = (...words: string[]) => execFileSync('git', words, { cwd: trial.folder, env: gitEnvironment });
    git('init', '-q');
    expect((await trial.apply(['-s', 'hero'])).code).toBe(0);
    const old = readFileSync(trial.path(lock), 'utf8');
    writeFileSync(trial.path('.gitignore'), 'out\n*.jsonl\n.mediabatch\n');
    git('add', '-A');
    git('commit', '-qm', 'begun');
    await trial.apply(['--publish'], { ends: 0 });
    const bought = keys(trial);
    const [folder, file] = move(trial.folder);
    const at = (name: string) => join(folder, name);
    const own = file.replace('yaml', 'lock.jsonl');
    for (const [event, happen] of events) {
      if (!existsSync(at(own))) writeFileSync(at(own), '');
      happen((name) => at(name === lock ? own : name), old);
      const again = await trial.run(['apply', file, '--yes', '--publish', '--poll-interval', '10'], { cwd: folder });
      expect([event, again.code, keys(trial)], again.err).toEqual([event, 0, bought]);
      expect(readFileSync(at(own), 'utf8').match(/"jobId"/g)?.length, event).toBeGreaterThanOrEqual(8);
      const plan = await trial.run(['plan', file, '--detailed-exitcode'], { cwd: folder });
      expect([event, plan.code], plan.err).toEqual([event, 0]);
    }
  });

  test('reports restored purchases in text, Markdown and JSON, and a plan writes nothing', async () => {
    const trial = await makeTrial(film());
    expect((await trial.apply()).code).toBe(0);
    rmSync(trial.path(lock));
    rmSync(trial.path('out'), { recursive: true });
    const restored = "restored from this machine's purchase journal";
    const text = await trial.run(['plan', 'campaign.yaml']);
    expect(text.out).toContain(`v film  video  3 steps  ${restored}`);
    expect(text.err).toContain(`3 purchases that the lock does not have are ${restored}, for 0 credits`);
    expect((await trial.run(['plan', 'campaign.yaml', '--format', 'markdown'])).out).toContain(restored);
    const { rows, totals } = JSON.parse((await trial.run(['plan', 'campaign.yaml', '--json'])).out);
    expect(rows.map((row: { action: string; reason: object }) => [row.action, row.reason])).toEqual(
      Array(3).fill(['download', { code: 'restored', text: restored }]),
    );
    expect(totals).toMatchObject({ alreadyPaid: 60, budgetLeft: 140 });
    for (const [words, shown] of [
      [['status'], '3 of 3'],
      [['status', 'campaign.yaml', '--graph'], '60'],
      [['cost'], '60'],
      [['explain', 'campaign.yaml', 'film@a'], restored],
    ] as const) {
      const [command, ...more] = words;
      expect((await trial.run([command, ...(more.length > 0 ? more : ['campaign.yaml'])])).out).toContain(shown);
    }
    const listed = JSON.parse((await trial.run(['outputs', 'campaign.yaml', '--format', 'json'])).out);
    expect(listed.files).toHaveLength(3);
    expect(existsSync(trial.path(lock))).toBe(false);
  });

  test('makes another name, another account or --new buy separately; --new reports once which purchases it does not restore', async () => {
    const trial = await makeTrial(film());
    expect((await trial.apply()).code).toBe(0);
    rmSync(trial.path(lock));
    const meant = await trial.apply(['--new'], { ends: 0 });
    expect(meant.err).toContain('--new ignores 3 jobs of 60 credits');
    expect(keys(trial)).toHaveLength(6);
    for (const more of [[], ['--new']]) expect((await trial.apply(more)).code).toBe(0);
    rmSync(trial.path(lock));
    expect((await trial.apply()).code).toBe(0);
    expect(keys(trial)).toHaveLength(6);
    trial.write('other.yaml', film('summer').replaceAll('out/', 'summer/'));
    expect((await trial.run(['apply', 'other.yaml', '--yes'])).code).toBe(0);
    expect(keys(trial)).toHaveLength(9);
  });

  test('a lost lock after a change of the API key: the plan reports that purchases of another key are not restored', async () => {
    const trial = await makeTrial(film());
    expect((await trial.apply()).code).toBe(0);
    const other = { MEDIABATCH_API_KEY: 'another-key-of-this-user' };
    expect((await trial.run(['plan', 'campaign.yaml'], { env: other })).err).not.toContain('another API key');
    rmSync(trial.path(lock));
    expect((await trial.run(['plan', 'campaign.yaml'])).err).not.toContain('another API key');
    expect((await trial.run(['plan', 'campaign.yaml'], { env: other })).err).toContain('made with another API key');
  });

  test('contains forgotten and redone purchases: a lost lock does not restore them, and each number is bought once', async () => {
    const trial = await makeTrial(film());
    expect((await trial.apply()).code).toBe(0);
    expect((await trial.run(['forget', 'campaign.yaml', 'film@a'])).code).toBe(0);
    rmSync(trial.path(lock));
    const { rows } = JSON.parse((await trial.run(['plan', 'campaign.yaml', '--json'])).out);
    expect(rows.map(({ action }: { action: string }) => action)).toEqual(['create', 'keep', 'keep']);
    expect((await trial.apply()).code).toBe(0);
    expect((await trial.apply(['--redo', 'film@b'])).code).toBe(0);
    expect(keys(trial)).toHaveLength(5);
    rmSync(trial.path(lock));
    expect((await trial.apply()).code).toBe(0);
    expect(keys(trial)).toHaveLength(5);
  });

  test('makes simultaneous runs of one campaign through three paths buy each key once within the budget', async () => {
    const trial = await makeTrial(film());
    symlinkSync('campaign.yaml', trial.path('latest.yaml'));
    linkSync(trial.path('campaign.yaml'), trial.path('hard.yaml'));
    const files = ['campaign.yaml', 'latest.yaml', 'hard.yaml'];
    const ran = await Promise.all(
      files.map((file) => trial.run(['apply', file, '--yes', '--poll-interval', '10'], { apart: true })),
    );
    expect(
      ran.map(({ code }) => code),
      ran.map(({ err }) => err).join(),
    ).toEqual([0, 0, 0]);
    expect(keys(trial)).toHaveLength(3);
    for (const file of files) expect((await trial.run(['plan', file, '--detailed-exitcode'])).code).toBe(0);
  });

  test.each(['post', 'film'])(
    'a create request of a %s that was interrupted and lost its lock is unresolved, and no run sends it',
    async (kind) => {
      const fault = withFaults([
        { on: kind === 'film' ? 'create' : 'post', times: 1, do: { type: 'reset', booked: true } },
      ]);
      const trial = await makeTrial('', fault);
      const post = `version: 1\nname: spring\ntasks:\n  share: { kind: post, with: { accountIds: [${await firstAccount(trial.sandbox)}], caption: Hello } }\n`;
      trial.write('campaign.yaml', kind === 'film' ? film().replace('[a, b, c]', '[a]') : post);
      await trial.apply(['--publish', '--on-unknown', 'hold'], { ends: 6 });
      rmSync(trial.path(lock));
      const plan = await trial.run(['plan', 'campaign.yaml', '--json']);
      expect(plan.err).toContain('1 purchase that the lock does not have is restored');
      expect(JSON.parse(plan.out).rows).toMatchObject([
        { reason: { code: kind === 'film' ? 'answer-lost' : expect.anything() } },
      ]);
      expect((await trial.apply(['--publish', '--on-unknown', 'hold'])).code).toBe(6);
      expect(keys(trial)).toHaveLength(1);
      rmSync(trial.path(lock));
      const address = kind === 'film' ? 'film@a' : 'share';
      const resolve = () => trial.run(['resolve', 'campaign.yaml', address, '--job', keys(trial)[0] ?? '']);
      expect((await resolve()).err).toContain('cannot record a decision');
      expect((await trial.apply(['--publish', '--on-unknown', 'hold'])).code).toBe(6);
      await expectExit(0, resolve());
      expect((await trial.apply(['--publish'])).code).toBe(0);
      expect(keys(trial)).toHaveLength(1);
    },
  );

  test('a run without a state folder works and reports it once; with a limit it is refused (73)', async () => {
    const trial = await makeTrial(film());
    trial.write('home', '');
    const env = { XDG_STATE_HOME: trial.path('home') };
    await trial.apply([], { env: { ...env, MEDIABATCH_LIMIT: '100/month' }, ends: 73 });
    expect(keys(trial)).toEqual([]);
    const went = await trial.apply([], { env, ends: 0 });
    expect(went.err.split('purchases are not journaled')).toHaveLength(2);
    expect((await trial.run(['doctor'], { env })).out).toContain('the purchase journal cannot be written');
  });

  test('is empty on another machine: a missing lock next to outputs stops the run, and the error names the recovery commands', async () => {
    const trial = await makeTrial(film());
    expect((await trial.apply()).code).toBe(0);
    rmSync(trial.path(lock));
    const env = { XDG_STATE_HOME: trial.path('elsewhere') };
    const refused = await trial.apply([], { env, ends: 65 });
    expect(refused.err).toMatch(
      /MB3409[\s\S]*3 outputs exist[\s\S]*mediabatch adopt campaign.yaml[\s\S]*mediabatch apply campaign.yaml[^\n]* --new/,
    );
    expect(keys(trial)).toHaveLength(3);
    await trial.run(['adopt', 'campaign.yaml', '--yes'], { env, ends: 0 });
    expect((await trial.apply([], { env })).code).toBe(0);
    expect(keys(trial)).toHaveLength(3);
  });

  test.each([
    ['leaves out', film(), ['-s', 'film@d']],
    ['cannot afford', film().replace('credits: 200', 'credits: 25'), []],
  ])('a missing lock stops a run that %s steps whose outputs exist', async (_name, first, words) => {
    const trial = await makeTrial(first.replace('credits: 25', 'credits: 200').replace('[a, b, c]', '[b, c]'));
    expect((await trial.apply()).code).toBe(0);
    rmSync(trial.path(lock));
    trial.write('campaign.yaml', first.replace('a, b, c', 'd, b, c'));
    const env = { XDG_STATE_HOME: trial.path('elsewhere') };
    const { err } = await trial.apply(words, { env, ends: 65 });
    // A lock with the job of d would count as complete, and the next run would buy b and c again.
    expect(err).toMatch(/MB3409[\s\S]*2 outputs exist/);
    expect([keys(trial).length, existsSync(trial.path(lock))]).toEqual([2, false]);
  });

  test('adopt records nothing if outputs show further purchases and no journal can be stored', async () => {
    const trial = await makeTrial(
      `${film()}  host: { kind: influencer, with: { prompt: a presenter }, save: out/host }\n`,
    );
    expect((await trial.apply()).code).toBe(0);
    rmSync(trial.path(lock));
    const env = { XDG_STATE_HOME: trial.path('campaign.yaml') };
    const { err } = await trial.run(['adopt', 'campaign.yaml', '--yes'], { env, ends: 65 });
    expect(err).toMatch(/MB3409[\s\S]*1 output exists[\s\S]*XDG_STATE_HOME/);
    expect(existsSync(trial.path(lock))).toBe(false);
    await trial.apply([], { env, ends: 65 });
    expect(keys(trial)).toHaveLength(4);
  });

  test('a missing lock stops the run if git has a lock with purchases that the journal lacks, also in the index', async () => {
    const trial = await makeTrial(film());
    const git = (...words: string[]) => execFileSync('git', words, { cwd: trial.folder, env: gitEnvironment });
    git('init', '-q');
    await trial.apply(['-s', 'film@a'], {
      env: { XDG_STATE_HOME: trial.path('elsewhere') },
      ends: 0,
    });
    expect((await trial.apply()).code).toBe(0);
    for (const [event, words, place] of [
      ['staged', ['add', lock], 'git'],
      ['committed', ['commit', '-qm', 'bought'], 'git'],
      ['removed from the index', ['rm', '-q', '--cached', lock], 'the last commit'],
    ] as const) {
      git(...words);
      for (const name of [lock, '.mediabatch', 'out']) rmSync(trial.path(name), { recursive: true, force: true });
      const plan = await trial.run(['plan', 'campaign.yaml']);
      expect(plan.err).toMatch(/MB3409[\s\S]*apply would end with exit code 65/);
      // A run that buys nothing would leave a lock without the job of the colleague.
      expect((await trial.apply(['-s', 'film@b'])).code).toBe(65);
      for (const command of ['pin', 'forget']) {
        const decided = await trial.run([command, 'campaign.yaml', 'film@b']);
        expect([decided.code, existsSync(trial.path(lock))], decided.err).toEqual([65, false]);
        expect(decided.err).toMatch(/cannot record a decision[\s\S]*mediabatch apply campaign.yaml/);
      }
      const refused = await trial.apply();
      expect([event, refused.code, keys(trial).length], refused.err).toEqual([event, 65, 3]);
      expect(refused.err.replaceAll(/\s+/g, ' ')).toContain(`but ${place} has a version of the lock with 1 job; this`);
      const source = place === 'git' ? [] : ['--source=HEAD'];
      expect(refused.err).toContain(['git restore', ...source, lock].join(' '));
      git('restore', ...source, lock);
      expect((await trial.apply()).code).toBe(0);
    }
    expect(keys(trial)).toHaveLength(3);
  });

  test('a missing lock stops the run if a step to be bought has a file whose purchase the journal has lost', async () => {
    const trial = await makeTrial(film());
    const env = { XDG_STATE_HOME: trial.path('home') };
    expect((await trial.apply([], { env })).code).toBe(0);
    rmSync(trial.path(lock));
    const folder = trial.path('home/mediabatch/purchases');
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.jsonl'))) {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n');
      writeFileSync(join(folder, name), lines.filter((line) => !/film@[bc]/.test(line)).join('\n'));
    }
    expect((await trial.run(['plan', 'campaign.yaml'], { env })).err).toContain('MB3409');
    const refused = await trial.apply([], { env });
    expect([refused.code, keys(trial).length], refused.err).toEqual([65, 3]);
    expect(refused.err).toContain('2 outputs exist (out/b.webm, out/c.webm)');
    expect((await trial.run(['doctor'], { env })).out).not.toContain('nothing was bought');
    await trial.run(['adopt', 'campaign.yaml', '--yes'], { env, ends: 0 });
    expect((await trial.apply([], { env })).code).toBe(0);
    expect(keys(trial)).toHaveLength(3);
  });

  test('files on record do not stop a run: of an earlier request, a redone step, another campaign', async () => {
    const trial = await makeTrial(film());
    expect((await trial.apply()).code).toBe(0);
    rmSync(trial.path(lock));
    const redone = await trial.apply(['--redo', 'film@a']);
    expect([redone.code, keys(trial).length], redone.err).toEqual([0, 4]);
    rmSync(trial.path(lock));
    trial.write('campaign.yaml', film().replace('lamp', 'vase'));
    const edited = await trial.apply();
    expect([edited.code, keys(trial).length], edited.err).toEqual([0, 7]);
    trial.write('other.yaml', film('summer').replace('lamp', 'clock'));
    const other = await trial.run(['apply', 'other.yaml', '--yes', '--poll-interval', '10']);
    expect([other.code, keys(trial).length], other.err).toEqual([0, 10]);
  });

  test('an unresolved create request that was edited from a refusal of this machine needs an approval (A1)', async () => {
    const trial = await makeTrial(
      'version: 1\nname: spring\nprices: { image: 2 }\ntasks:\n  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }\n',
      { service: { credits: 0 } },
    );
    expect((await trial.apply()).code).toBe(4);
    const text = readFileSync(trial.path(lock), 'utf8').replace(
      '"state":"refused"',
      `"state":"intent","send":"0123456789abcdef","since":"${new Date().toISOString()}"`,
    );
    writeFileSync(trial.path(lock), text.replace(/,"error":"[^"]*"/, ''));
    const asked = await trial.run(['apply', 'campaign.yaml'], { env: { AI_AGENT: 'x' }, ends: 5 });
    expect(asked.err.replaceAll(/\s+/g, ' ')).toContain('sending it again needs approval');
  });
});
