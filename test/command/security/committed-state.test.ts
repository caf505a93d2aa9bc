import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRequestBodies } from '../../../src/disk/state/request-bodies.ts';
import { expectExit, readLines } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { makeTrial, type Trial } from '../../rig/trial.ts';
import { png } from '../../rooms/disk/media.ts';

/** What stands in a lock, as far as it is used here. */
interface Line {
  address: string;
  key: string;
  [field: string]: unknown;
}

const lockName = 'campaign.lock.jsonl';
const header = '{"mediabatch":"lock","version":2}';
const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const manifest = `version: 1
name: spring
budget: { credits: 100 }
tasks:
  logo: { kind: upload, with: { file: logo.png } }
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k, referenceImages: ["{{tasks.logo.url}}"] } }
`;

async function makeCampaign(text = manifest): Promise<Trial> {
  const trial = await makeTrial(text);
  writeFileSync(trial.path('logo.png'), png);
  return trial;
}

function place(trial: Trial, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(trial.path(path)), { recursive: true });
  writeFileSync(trial.path(path), content);
}

const linesOf = (trial: Trial) => readLines<Line>(trial.path(lockName)).slice(1);
const writeLock = (trial: Trial, ...lines: object[]) =>
  trial.write(lockName, `${[header, ...lines.map((line) => JSON.stringify(line))].join('\n')}\n`);

const outputOf = (path: string, content: string | Uint8Array) => ({
  path,
  sha256: sha256(content),
  bytes: Buffer.byteLength(content),
  type: 'image/png',
});

function bought(address: string, outputs: object[], more: object = {}): object {
  const jobId = `job-of-somebody-${address}`;
  return {
    address,
    kind: 'image',
    fingerprint: `2:${sha256(address)}`,
    generation: 1,
    attempt: 1,
    state: 'done',
    key: `mb1-${address}`,
    jobId,
    credits: 2,
    outputs,
    ...more,
  };
}

describe('a request body from a branch', () => {
  /** As a clone that lost the answer to the create of `hero` would have it: somebody can write it without ever having sent it. */
  async function makeLost(): Promise<{ trial: Trial; key: string }> {
    const trial = await makeCampaign();
    expect((await trial.apply()).code).toBe(0);
    const [hero] = linesOf(trial).filter(({ address }) => address === 'hero');
    if (hero === undefined) expect.fail('nothing was bought');
    const fresh = await makeCampaign();
    const { fingerprint, key } = hero;
    const since = new Date().toISOString();
    writeLock(fresh, {
      address: 'hero',
      kind: 'image',
      fingerprint,
      generation: 1,
      attempt: 1,
      state: 'intent',
      send: 'lost',
      key,
      since,
    });
    return { trial: fresh, key };
  }
  const theirs = {
    prompt: 'a car',
    resolution: '4k',
    model: 'alpha-2',
    referenceImages: ['https://example.com/x.png'],
  };
  const ours = { prompt: 'a lamp', resolution: '1k', referenceImages: ['https://example.com/kept.png'] };
  const sent = (trial: Trial) =>
    trial.sandbox
      .ledger()
      .filter(({ kind }) => kind === 'image')
      .map(({ body }) => body);

  /** Stores a body as a run of this user does, sealed with the secret of the trial's state folder. */
  async function keepHere(trial: Trial, key: string, body: object): Promise<void> {
    vi.stubEnv('XDG_STATE_HOME', trial.sandbox.env.XDG_STATE_HOME);
    onTestFinished(() => void vi.unstubAllEnvs());
    await createRequestBodies(trial.path('.mediabatch')).keep(key, JSON.stringify(body));
  }

  test('is never sent, neither as it is nor behind a link', async () => {
    const { trial, key } = await makeLost();
    place(trial, `.mediabatch/bodies/${key}.json`, JSON.stringify(theirs));
    await trial.apply([], { ends: 0 });
    expect(sent(trial)).toEqual([{ ...ours, referenceImages: [expect.stringMatching(/^http:\/\/127/)] }]);
  });

  test('is not sent if it was stored here but differs from the plan', async () => {
    const { trial, key } = await makeLost();
    await keepHere(trial, key, theirs);
    expect((await trial.apply()).code).toBe(0);
    expect(sent(trial)).toMatchObject([{ prompt: 'a lamp', resolution: '1k' }]);
  });

  test('is sent again with the same bytes if it was stored here for this request', async () => {
    const { trial, key } = await makeLost();
    await keepHere(trial, key, ours);
    expect((await trial.apply()).code).toBe(0);
    expect(sent(trial)).toEqual([ours]);
  });
});

describe('a lock that names files of other campaigns, with their true digests', () => {
  const files: { [path: string]: string | Uint8Array } = {
    'src/index.ts': 'export {};\n',
    'assets/logo.png': png,
    'rows.csv': 'sku\n',
  };
  const placeAll = (trial: Trial) => {
    for (const [path, content] of Object.entries(files)) place(trial, path, content);
  };
  const expectAll = (trial: Trial) => {
    for (const [path, content] of Object.entries(files)) {
      expect(readFileSync(trial.path(path)).equals(Buffer.from(content)), path).toBe(true);
    }
  };

  test('gc deletes none of them, only files that this user saved', async () => {
    const trial = await makeCampaign(manifest.replace(/ {2}hero.*\n/, ''));
    placeAll(trial);
    const named = { ...files, 'campaign.yaml': readFileSync(trial.path('campaign.yaml')) };
    writeLock(
      trial,
      bought(
        'old',
        Object.entries(named).map(([path, content]) => outputOf(path, content)),
      ),
    );
    const { err } = await trial.run(['gc', 'campaign.yaml', '--yes'], { ends: 0 });
    expect(err.match(/left alone/g), err).toHaveLength(Object.keys(named).length);
    expectAll(trial);
    expect(existsSync(trial.path('campaign.yaml'))).toBe(true);
    // A control: an output of this person’s own.
    trial.write('campaign.yaml', manifest);
    rmSync(trial.path(lockName));
    expect((await trial.apply()).code).toBe(0);
    trial.write('campaign.yaml', manifest.replace(/ {2}hero.*\n/, ''));
    expect((await trial.run(['gc', 'campaign.yaml', '--yes'])).err).toContain('deleted 1 file');
    expect(existsSync(trial.path('output/hero.png'))).toBe(false);
  });

  test('apply moves none of them: it copies', async () => {
    const trial = await makeCampaign();
    expect((await trial.apply()).code).toBe(0);
    placeAll(trial);
    const lines = linesOf(trial).map((line) =>
      line.address === 'hero' ? { ...line, outputs: [outputOf('assets/logo.png', png)] } : line,
    );
    writeLock(trial, ...lines);
    const { err } = await trial.apply([], { ends: 0 });
    expectAll(trial);
    expect(readFileSync(trial.path('output/hero.png')).equals(png)).toBe(true);
    expect(err).toContain('assets/logo.png was not removed');
    // A control: the copy is this person’s own, and moves.
    trial.write('campaign.yaml', manifest.replace('"] } }', '"] }, save: pictures/hero }'));
    expect((await trial.apply()).code).toBe(0);
    expect([existsSync(trial.path('output/hero.png')), existsSync(trial.path('pictures/hero.png'))]).toEqual([
      false,
      true,
    ]);
  });

  test('apply replaces none of them: it keeps the old file under another name', async () => {
    const trial = await makeCampaign(manifest.replace('"] } }', '"] }, save: assets/logo }'));
    placeAll(trial);
    writeLock(trial, bought('hero', [outputOf('assets/logo.png', png)]));
    await trial.apply([], { ends: 0 });
    const aside = `assets/logo.changed-${sha256(png).slice(0, 8)}.png`;
    expect(readFileSync(trial.path(aside)).equals(png)).toBe(true);
    expect(readFileSync(trial.path('assets/logo.png')).equals(png)).toBe(false);
    // A control: what was saved from here makes way for what is bought anew.
    expect((await trial.apply(['--redo', 'hero'])).code).toBe(0);
    expect(readdirSync(trial.path('assets')).sort()).toEqual([aside.slice('assets/'.length), 'logo.png']);
  });

  test('another user with the same lock and files moves and deletes nothing, either', async () => {
    const trial = await makeCampaign();
    expect((await trial.apply()).code).toBe(0);
    const env = { XDG_STATE_HOME: makeFolder() };
    trial.write('campaign.yaml', manifest.replace(/ {2}hero.*\n/, ''));
    expect((await trial.run(['gc', 'campaign.yaml', '--yes'], { env })).err).toContain('left alone output/hero.png');
    trial.write('campaign.yaml', manifest.replace('hero:', 'main:'));
    expect((await trial.apply([], { env })).code).toBe(0);
    expect([existsSync(trial.path('output/hero.png')), existsSync(trial.path('output/main.png'))]).toEqual([
      true,
      true,
    ]);
  });
});

describe('a committed state folder of another user', () => {
  test('does not change a run or its output', async () => {
    const theirs = await makeCampaign();
    const stateHome = makeFolder();
    for (let runs = 0; runs < 2; runs += 1) {
      expect((await theirs.apply([], { env: { XDG_STATE_HOME: stateHome } })).code).toBe(0);
    }
    const ours = await makeCampaign();
    cpSync(theirs.path('.mediabatch'), ours.path('.mediabatch'), { recursive: true });
    cpSync(theirs.path(lockName), ours.path(lockName));
    // Their lock, and all that they have kept, say that everything is done, and here is no file.
    const { env } = theirs.sandbox;
    const planned = await ours.run(['plan', 'campaign.yaml', '--json'], { env });
    const { rows } = JSON.parse(planned.out) as { rows: { address: string; action: string }[] };
    expect(rows, planned.err).toMatchObject([{ action: 'keep' }, { address: 'hero', action: 'download' }]);
    await expectExit(0, ours.run(['apply', 'campaign.yaml', '--yes'], { env }));
    expect(existsSync(ours.path('output/hero.png'))).toBe(true);
  });

  test('plan, status, validate and explain store nothing, and create no secret', async () => {
    const trial = await makeCampaign();
    const home = makeFolder();
    const env = { XDG_STATE_HOME: home, TMPDIR: home };
    for (const args of [['validate'], ['plan'], ['status'], ['explain', 'hero']]) {
      const [name = '', ...more] = args;
      await trial.run([name, 'campaign.yaml', ...more], { env, ends: 0 });
    }
    expect(readdirSync(home).filter((name) => !name.startsWith('mediabatch-code'))).toEqual([]);
    expect(existsSync(trial.path('.mediabatch'))).toBe(false);
  });

  test('a user who cannot write state buys, and buys nothing twice', async () => {
    const trial = await makeCampaign();
    const home = join(makeFolder(), 'file');
    writeFileSync(home, '');
    const env = { XDG_STATE_HOME: home, TMPDIR: home, HOME: home };
    for (let runs = 0; runs < 3; runs += 1) {
      await trial.apply([], { env, ends: 0 });
    }
    expect(trial.sandbox.ledger().filter(({ kind }) => kind === 'image')).toHaveLength(1);
  });
});
