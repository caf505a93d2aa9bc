import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { findCheckedOutCommit } from '../../../src/disk/git/git-command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { CampaignRepository } from './campaign-repository.ts';

describe('compare', () => {
  const manifest = `version: 1
name: spring
include: [parts/more.yaml]
prices: { image: 2 }
vars: { brand: Northlight }
tasks:
  hero:
    kind: image
    foreach: rows.csv
    key: "{{row.sku}}"
    with: { prompt: "a {{row.name}} on an oak table, {{vars.brand}}" }
  photo:
    kind: image
    foreach: photos/*.bin
    with: { prompt: "like it", referenceImages: ['{{upload row.path}}'] }
`;
  const more = `tasks:
  side: { kind: image, foreach: linked.csv, key: "{{row.sku}}", with: { prompt: "a small {{row.name}}" } }
`;

  /** A campaign in a sub-folder that reads every kind of file. */
  function repository(): CampaignRepository {
    const here = new CampaignRepository();
    here.write('shop/campaign.yaml', manifest);
    here.write('shop/parts/more.yaml', more);
    here.write('shop/rows.csv', 'sku,name\na,lamp\nb,vase\n');
    here.write('shop/photos/one.bin', 'one');
    here.write('shop/photos/two.bin', 'two');
    symlinkSync('../rows.csv', join(here.folder, 'shop/parts/linked.csv'));
    here.commit();
    here.git('tag', 'v1');
    return here;
  }

  interface Compared {
    steps: { change: string; address: string; movedFrom?: string; text: string; discards?: number }[];
    difference: number;
    bought: { id: string }[];
    boughtThere: { id: string }[];
    discarded: number;
  }

  async function compare(
    here: CampaignRepository,
    ref: string,
    args: string[] = [],
    file = 'campaign.yaml',
    folder = 'shop',
  ) {
    const { code, out, err } = await here.runIn(folder, 'plan', file, '--compare', ref, '--json', ...args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return JSON.parse(out) as Compared;
  }

  const told = ({ steps }: Compared) => steps.map(({ change, address, text }) => `${change} ${address}: ${text}`);
  const same = { steps: [], difference: 0, bought: [], boughtThere: [], discarded: 0 };

  describe('a campaign is compared with a commit', () => {
    test('nothing differs from what was committed: included files, data, links, patterns and uploads', async () => {
      expect(await compare(repository(), 'HEAD')).toMatchObject(same);
    });

    test('shows changed prompts, rows, files and purchases, and the purchases that they replace', async () => {
      const here = repository();
      here.buy({ address: 'hero@a' }, 'shop/campaign.lock.jsonl');
      here.commit();
      here.git('checkout', '--quiet', '-b', 'feature');
      here.write('shop/campaign.yaml', manifest.replace('oak', 'elm'));
      here.write('shop/rows.csv', 'sku,name\na,lamp\nc,chair\n');
      here.write('shop/photos/two.bin', 'another');
      rmSync(join(here.folder, 'shop/photos/one.bin'));
      here.buy({ address: 'hero@c' }, 'shop/campaign.lock.jsonl');
      const { out, err } = await here.runIn('shop', 'plan', 'campaign.yaml', '--compare', 'main');
      expect(err).toBe('');
      expect(out.replace(/\([0-9a-f]{10}\)/, '(…)')).toMatchInlineSnapshot(`
        "spring: 10 credits to buy

        compared with main (…)

        + side@c                 image   2  new
        + hero@c                 image   2  new
        ~ upload@photos:two.bin  upload     photos/two.bin changed
        ~ hero@a                 image   2  prompt: oak → elm
        ~ photo@two              image   2  follows upload@photos:two.bin
        - upload@photos:one.bin  upload     removed
        - side@b                 image      removed
        - hero@b                 image      removed
        - photo@one              image      removed

        2 new · 3 changed · 4 removed

        costs         8 steps for 12 credits before, 6 steps for 10 credits now (-2)
        still to buy  10 credits
        bought        1 job for 2 credits, on record now, but not in the compared version
        "
      `);
      const { out: page } = await here.runIn(
        'shop',
        'plan',
        'campaign.yaml',
        '--compare',
        'main',
        '--format',
        'markdown',
      );
      expect(page).toMatch(/^<!-- mediabatch:shop\/campaign.yaml -->\n\n### `spring`: 10 credits to buy\n/);
      expect(page).toContain('| ~ | `hero@a` | `image` |  | 2 |');
    });

    test.each([
      [20, 2, '20, enough for the remaining purchases', ': 10 credits to buy\n', { carries: 'all', missing: 0 }],
      [
        9,
        4,
        '9, 1 credit too few for the remaining purchases',
        ', 1 more than the budget has left\n',
        { carries: 'part', missing: 1 },
      ],
    ])('a budget of %i: reports whether it covers the change', async (credits, exit, text, title, fit) => {
      const here = repository();
      here.write('shop/campaign.yaml', manifest.replace(/^name:/m, `budget: { credits: ${credits} }\nname:`));
      here.commit();
      here.write('shop/rows.csv', 'sku,name\na,lamp\nc,chair\n');
      rmSync(join(here.folder, 'shop/photos/one.bin'));
      const run = (...args: string[]) =>
        here.runIn('shop', 'plan', 'campaign.yaml', '--compare', 'HEAD', '--detailed-exitcode', ...args);
      const { code, out } = await run();
      expect([code, out], out).toEqual([exit, expect.stringContaining(`budget left   ${text}\n`)]);
      expect((await run('--format', 'markdown')).out).toContain(title);
      expect(JSON.parse((await run('--json')).out).fit).toMatchObject(fit);
    });

    test('manifest, data and lock were renamed', async () => {
      const here = repository();
      here.buy({ address: 'hero@a' }, 'shop/campaign.lock.jsonl');
      here.commit();
      here.git('tag', 'v2');
      here.git('mv', 'shop', 'store');
      here.git('mv', 'store/campaign.yaml', 'store/summer.yaml');
      here.commit();
      here.git('mv', 'store/campaign.lock.jsonl', 'store/summer.lock.jsonl');
      here.git('mv', 'store/rows.csv', 'store/products.csv');
      symlinkSync('../products.csv', join(here.folder, 'store/parts/linked2.csv'));
      here.write('store/parts/more.yaml', more.replace('linked', 'linked2'));
      here.write('store/summer.yaml', manifest.replace('rows.csv', 'products.csv'));
      here.commit();
      expect(await compare(here, 'v2', [], 'summer.yaml', 'store')).toMatchObject(same);
    });

    test('Git LFS: its pointers stand for the files', async () => {
      const here = repository();
      const pointer = (text: string) =>
        `version https://git-lfs.github.com/spec/v1\noid sha256:${hash('sha256', text)}\nsize ${text.length}\n`;
      here.write('shop/photos/one.bin', pointer('one'));
      here.write('shop/photos/two.bin', pointer('2'));
      here.commit();
      here.write('shop/photos/one.bin', 'one');
      here.write('shop/photos/two.bin', 'two');
      const compared = await compare(here, 'HEAD');
      expect(told(compared)).toEqual([
        'changed upload@photos:two.bin: photos/two.bin changed',
        'changed photo@two: follows upload@photos:two.bin',
      ]);
    });

    test('a lock that both sides added, and purchases that only the other one has', async () => {
      const here = repository();
      here.git('checkout', '--quiet', '-b', 'other');
      here.buy({ address: 'hero@a', jobId: 'theirs' }, 'shop/campaign.lock.jsonl');
      here.commit();
      here.git('checkout', '--quiet', 'main');
      here.buy({ address: 'hero@b', jobId: 'ours' }, 'shop/campaign.lock.jsonl');
      here.commit();
      const { code, out, err } = await here.runIn('shop', 'plan', 'campaign.yaml', '--compare', 'other', '--json');
      expect(code).toBe(0);
      expect(err).toContain('notice other has commits that this branch lacks');
      const compared = JSON.parse(out) as Compared;
      expect([compared.bought, compared.boughtThere].map((all) => all.map(({ id }) => id))).toEqual([
        ['ours'],
        ['theirs'],
      ]);
    });
  });

  describe('a commit that cannot be compared with', () => {
    const refuse = async (here: CampaignRepository, ref: string, file = 'campaign.yaml') => {
      const { code, out, err } = await here.runIn('shop', 'plan', file, `--compare=${ref}`);
      expect(out).toBe('');
      return `${code} ${err}`;
    };

    test('its name: an unknown name, or an option of git', async () => {
      const here = repository();
      const options = [`--upload-pack=touch ${here.folder}/ran`, '--output=ran'];
      for (const ref of ['mian', '', '$(touch ran); touch ran', ...options]) {
        expect(await refuse(here, ref)).toContain('65 error MB3602');
      }
      expect(existsSync(join(here.folder, 'shop', 'ran'))).toBe(false);
    });

    test('its manifest: missing, invalid, or a link out of its folder', async () => {
      const here = repository();
      here.write(
        'shop/new.yaml',
        'version: 1\nname: new\ntasks:\n  other: { kind: music, with: { prompt: a song, model: song-7.5 } }\n',
      );
      expect(await refuse(here, 'v1', 'new.yaml')).toContain('65 error MB3604 new.yaml is not in v1');
      here.write('shop/campaign.yaml', manifest.replace('kind: image', 'kind: imgae'));
      here.commit();
      rmSync(join(here.folder, 'shop/campaign.yaml'));
      symlinkSync('../../secret.yaml', join(here.folder, 'shop/campaign.yaml'));
      here.commit();
      rmSync(join(here.folder, 'shop/campaign.yaml'));
      symlinkSync('.hidden', join(here.folder, 'shop/campaign.yaml'));
      here.commit();
      rmSync(join(here.folder, 'shop/campaign.yaml'));
      here.write('shop/campaign.yaml', manifest);
      expect(await refuse(here, 'HEAD~2')).toMatch(
        /65 error MB3604 campaign.yaml at HEAD~2: .*campaign.yaml:8: .*imgae/,
      );
      expect(await refuse(here, 'HEAD~1')).toMatch(/65 error MB3604 .*a symbolic link leads out of its folder/);
      expect(await refuse(here, 'HEAD')).toMatch(/65 error MB3604/);
    });

    test('its data: a link to a hidden file, or out of the folder', async () => {
      const here = repository();
      for (const target of ['.env', '../../outside.csv', '/etc/passwd']) {
        rmSync(join(here.folder, 'shop/rows.csv'));
        symlinkSync(target, join(here.folder, 'shop/rows.csv'));
        here.write('shop/.env', 'sku\nsecret\n');
        here.commit();
      }
      rmSync(join(here.folder, 'shop/rows.csv'));
      here.write('shop/rows.csv', 'sku,name\na,lamp\nb,vase\n');
      for (const ref of ['HEAD', 'HEAD~1', 'HEAD~2']) {
        const said = await refuse(here, ref);
        expect(said).toMatch(/65 error MB3604/);
        expect(said).not.toContain('secret');
      }
    });

    test('its history: cut off in a shallow clone', async () => {
      const here = repository();
      here.commit();
      const path = makeFolder();
      const words = ['clone', '--quiet', '--depth', '1', `file://${here.folder}`, join(path, 'clone')];
      execFileSync('git', words, { env: gitEnvironment, stdio: 'pipe' });
      const clone = new CampaignRepository(join(path, 'clone'));
      expect(await refuse(clone, 'HEAD~1')).toMatch(/65 error MB3603 [\s\S]*git fetch --unshallow/);
      expect(await compare(clone, 'HEAD')).toMatchObject(same);
    });

    test('its objects: missing from a partial clone, and nothing is fetched', async () => {
      const here = repository();
      here.write('shop/rows.csv', 'sku,name\na,chair\n');
      here.commit();
      here.git('config', 'uploadpack.allowFilter', 'true');
      const path = makeFolder();
      const words = ['clone', '--quiet', '--filter=blob:none', `file://${here.folder}`, join(path, 'clone')];
      execFileSync('git', words, { env: gitEnvironment, stdio: 'pipe' });
      const clone = new CampaignRepository(join(path, 'clone'));
      clone.git('config', 'core.sshCommand', `touch ${join(path, 'ran')}`);
      clone.git('config', 'remote.origin.uploadpack', `touch ${join(path, 'ran')}`);
      expect(await refuse(clone, 'HEAD~1')).toMatch(/^65 error MB3606 [\s\S]*git fetch --refetch/);
      expect(existsSync(join(path, 'ran'))).toBe(false);
    });
  });

  test('nothing of a repository is run, nothing is written, nothing is checked out', async () => {
    const here = repository();
    here.git('mv', 'shop/campaign.yaml', 'shop/renamed.yaml');
    here.commit();
    const mark = join(here.folder, 'ran');
    const run = `touch ${mark}; cat`;
    for (const name of [
      'core.fsmonitor',
      'core.pager',
      'diff.external',
      'diff.x.textconv',
      'filter.x.smudge',
      'filter.x.clean',
    ]) {
      here.git('config', name, run);
    }
    here.write('.gitattributes', '* diff=x filter=x\n');
    rmSync(mark, { force: true });
    const before = here.git('-c', 'core.fsmonitor=false', 'rev-parse', 'HEAD') + here.read('.git/index');
    expect(await compare(here, 'HEAD~1', [], 'renamed.yaml')).toMatchObject(same);
    expect(existsSync(mark)).toBe(false);
    expect(here.git('-c', 'core.fsmonitor=false', 'rev-parse', 'HEAD') + here.read('.git/index')).toBe(before);
  });
});

describe('checked out commit', () => {
  function repository() {
    const path = makeFolder();
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: path, env: gitEnvironment, encoding: 'utf8', stdio: 'pipe' }).trim();
    git('init', '-q', '-b', 'main');
    return { path, git, commit: () => git('commit', '-q', '--allow-empty', '-m', 'x') };
  }

  test('finds the checked-out commit in a folder, a linked work tree and a detached head', async () => {
    const { path, git, commit } = repository();
    const inner = join(path, 'campaigns', 'spring');
    mkdirSync(inner, { recursive: true });
    expect(await findCheckedOutCommit(inner)).toBeUndefined();
    commit();
    expect(await findCheckedOutCommit(inner)).toBe(git('rev-parse', 'main'));
    git('worktree', 'add', '-q', '-b', 'other', 'linked', 'main');
    git('checkout', '-q', '--detach', 'main');
    commit();
    expect(await findCheckedOutCommit(inner)).toBe(git('rev-parse', 'HEAD'));
    expect(await findCheckedOutCommit(join(path, 'linked'))).toBe(git('rev-parse', 'other'));
  });

  test('starts no git outside of a repository', async () => {
    const path = makeFolder();
    const bin = join(path, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ntouch ${join(path, 'started')}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await findCheckedOutCommit(path)).toBeUndefined();
    expect(existsSync(join(path, 'started'))).toBe(false);
    mkdirSync(join(path, '.git'));
    await findCheckedOutCommit(path);
    expect(existsSync(join(path, 'started'))).toBe(true);
  });
});
