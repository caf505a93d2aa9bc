import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { command, temporaryFolder } from '../../rig/command.ts';
import { gitEnvironment } from '../../rig/git-environment.ts';
import { CampaignRepository } from './campaign-repository.ts';

const manifest = `version: 1
name: spring
tasks:
  hero: { kind: image, tags: [launch], with: { prompt: a lamp } }
  side: { kind: image, with: { prompt: a vase } }
`;

function repository(): CampaignRepository {
  const here = new CampaignRepository();
  here.write('campaign.yaml', manifest);
  return here;
}

/** Spent credits by author, of a campaign whose jobs are 2 credits each. */
async function byAuthor(here: CampaignRepository, folder = '.', file = 'campaign.yaml') {
  const { code, out, err } = await here.runIn(folder, 'cost', file, '--by', 'author', '--json');
  expect(err).toBe('');
  expect(code).toBe(0);
  const { rows } = JSON.parse(out) as { rows: { author: string | null; credits: { spent: number } }[] };
  return Object.fromEntries(rows.map(({ author, credits }) => [author?.split(' ')[0] ?? 'nobody', credits.spent]));
}

describe('authors and months are those of the commit in which a job first stands in the lock', () => {
  test('over branches that git joins by union, for either merge direction', async () => {
    const here = repository();
    here.buy({ address: 'hero', jobId: 'a' });
    here.commit({ author: 'Ann', date: '2026-01-31T23:30:00-05:00' });
    here.git('checkout', '--quiet', '-b', 'other');
    here.buy({ address: 'side', jobId: 'b' });
    here.commit({ author: 'Bob', date: '2026-03-01T12:00:00Z' });
    here.git('checkout', '--quiet', 'main');
    here.buy({ address: 'hero', jobId: 'c', generation: 2 });
    here.commit({ author: 'Ann', date: '2026-02-01T12:00:00Z' });
    here.gitAs({ author: 'Cat' }, 'merge', '--quiet', '--no-edit', 'other');
    here.buy({ address: 'hero', jobId: 'd', generation: 3, state: 'failed' });
    expect(await byAuthor(here)).toEqual({ Ann: 4, Bob: 2, nobody: 2 });
    const { out } = await here.run('cost', 'campaign.yaml', '--by', 'month,author');
    expect(out).toMatchInlineSnapshot(`
      "spring: 8 credits spent
      0 delivered, 6 superseded, 2 failed and charged; 0 reserved

      month              author                 jobs  credits  superseded  failed
      2026-01            Ann <ann@example.com>     1        2           2
      2026-02            Ann <ann@example.com>     1        2           2
      2026-03            Bob <bob@example.com>     1        2           2
      not committed yet  not committed yet         1        2                   2
      "
    `);
  });

  test('over renames of the lock, and a branch that goes on under the old name', async () => {
    const here = repository();
    for (const job of ['a', 'b', 'c', 'd']) here.buy({ address: `hero@${job}`, jobId: job });
    here.commit({ author: 'Ann' });
    here.git('checkout', '--quiet', '-b', 'other');
    here.buy({ address: 'hero@e', jobId: 'e' });
    here.commit({ author: 'Bob' });
    here.git('checkout', '--quiet', 'main');
    mkdirSync(join(here.folder, 'sub'));
    here.git('mv', 'campaign.lock.jsonl', 'sub/spring.lock.jsonl');
    here.git('mv', 'campaign.yaml', 'sub/spring.yaml');
    here.commit({ author: 'Cat' });
    here.gitAs({ author: 'Cat' }, 'merge', '--quiet', '--no-edit', 'other');
    here.buy({ address: 'hero@f', jobId: 'f' }, 'sub/spring.lock.jsonl');
    here.commit({ author: 'Dan' });
    expect(await byAuthor(here, 'sub', 'spring.yaml')).toEqual({ Ann: 8, Bob: 2, Dan: 2 });
  });

  test('where both sides added a lock, the earlier commit counts', async () => {
    const here = repository();
    here.commit();
    here.git('checkout', '--quiet', '-b', 'other');
    here.buy({ address: 'hero', jobId: 'a' });
    here.buy({ address: 'side', jobId: 'b' });
    here.commit({ author: 'Bob', date: '2026-02-02T00:00:00Z' });
    here.git('checkout', '--quiet', 'main');
    here.buy({ address: 'hero', jobId: 'a' });
    here.commit({ author: 'Ann', date: '2026-02-01T00:00:00Z' });
    here.gitAs({ author: 'Cat', date: '2026-02-03T00:00:00Z' }, 'merge', '--quiet', '--no-edit', 'other');
    expect(await byAuthor(here)).toEqual({ Ann: 2, Bob: 2 });
  });

  test('one id of two kinds is two jobs, and a number in a text is none', async () => {
    const here = repository();
    here.buy({ address: 'side', jobId: '7', fingerprint: '1:x', request: { prompt: '"jobId":"8" "jobId" : "8"' } });
    here.commit({ author: 'Ann' });
    here.buy({ address: 'hero', jobId: '7', fingerprint: '1:y' });
    here.buy({ address: 'hero', jobId: '8', fingerprint: '1:z', generation: 2 });
    here.commit({ author: 'Bob' });
    expect(await byAuthor(here)).toEqual({ Ann: 2, Bob: 4 });
  });
});

test('--since leaves out what is on record in that commit', async () => {
  const here = repository();
  here.buy({ address: 'hero', jobId: 'a' });
  here.commit();
  here.git('tag', 'v1');
  here.buy({ address: 'side', jobId: 'b', credits: 5 });
  const { out } = await here.run('cost', 'campaign.yaml', '--since', 'v1', '--by', 'task,tag', '--format', 'csv');
  expect(out).toBe(
    'task,tag,jobs,spent,delivered,running,superseded,failed,held,heldUnknown\r\nside,,1,5,0,0,5,0,0,0\r\n',
  );
});

describe('unavailable git history', () => {
  test('a shallow clone says so, and what to type; without months it is no matter', async () => {
    const here = repository();
    here.buy({ address: 'hero', jobId: 'a' });
    here.commit();
    here.buy({ address: 'side', jobId: 'b' });
    here.commit();
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    const words = ['clone', '--quiet', '--depth', '1', `file://${here.folder}`, join(path, 'clone')];
    execFileSync('git', words, { env: gitEnvironment, stdio: 'pipe' });
    const clone = new CampaignRepository(join(path, 'clone'));
    const said = await clone.run('cost', 'campaign.yaml', '--by', 'month');
    expect(said).toMatchObject({ code: 65, out: '', err: expect.stringContaining('error MB3603') });
    expect(said.err).toContain('git fetch --unshallow');
    expect(await clone.run('cost', 'campaign.yaml', '--since', 'HEAD~1')).toMatchObject({
      code: 65,
      err: expect.stringContaining('error MB3603'),
    });
    expect(await clone.run('cost', 'campaign.yaml')).toMatchObject({ code: 0, err: '' });
    clone.git('fetch', '--quiet', '--unshallow');
    expect(await byAuthor(clone)).toEqual({ Ann: 4 });
  });

  test('no git on this machine, no repository, no such commit', async () => {
    const here = repository();
    here.commit();
    const noGit = await command(['cost', 'campaign.yaml', '--by', 'month'], {
      cwd: here.folder,
      env: { PATH: '/nowhere' },
    });
    expect(noGit).toMatchObject({ code: 69, err: expect.stringContaining('error MB3605') });
    expect(await here.run('cost', 'campaign.yaml', '--since', 'v9')).toMatchObject({
      code: 65,
      err: expect.stringContaining('error MB3602 git knows no commit "v9" here'),
    });
    for (const ref of ['--upload-pack=touch x', '-x', '', 'a\nb']) {
      expect(await here.run('cost', 'campaign.yaml', `--since=${ref}`)).toMatchObject({ code: 64 });
    }
    expect(await here.run('cost', 'campaign.yaml', '--since', 'main..main')).toMatchObject({ code: 65 });
  });

  test('a broken lock and a newer one there', async () => {
    const here = repository();
    here.write('campaign.lock.jsonl', '{"mediabatch":"lock","version":2}\nnonsense\n{}\n');
    here.commit();
    here.write('campaign.lock.jsonl', '{"mediabatch":"lock","version":99}\n');
    here.commit();
    here.write('campaign.lock.jsonl', '{"mediabatch":"lock","version":2}\n');
    const newer = await here.run('cost', 'campaign.yaml', '--since', 'HEAD');
    expect(newer).toMatchObject({
      code: 65,
      err: expect.stringContaining('campaign.lock.jsonl at HEAD was made by a newer'),
    });
    const broken = await here.run('cost', 'campaign.yaml', '--since', 'HEAD~1');
    expect(broken).toMatchObject({
      code: 65,
      err: expect.stringContaining('error MB3604 campaign.lock.jsonl at HEAD~1:2'),
    });
    expect(broken.err).toMatch(/git show [0-9a-f]{12}:campaign\.lock\.jsonl/);
  });
});

test('nothing that a repository says is run: hooks, filters, text conversions, pagers, file-system monitors', async () => {
  const here = repository();
  here.buy({ address: 'hero' });
  here.commit();
  const mark = join(here.folder, 'ran');
  const run = `touch ${mark}; cat`;
  for (const [name, value] of [
    ['core.fsmonitor', run],
    ['core.pager', run],
    ['core.sshCommand', run],
    ['diff.external', run],
    ['diff.x.textconv', run],
    ['diff.x.command', run],
    ['filter.x.smudge', run],
    ['filter.x.clean', run],
    ['filter.x.process', run],
    ['gpg.program', run],
    ['log.showSignature', 'true'],
    ['pager.log', run],
    ['pager.cat-file', run],
    ['alias.log', `!${run}`],
    ['color.ui', 'always'],
    ['diff.orderFile', 'nowhere'],
    ['format.pretty', 'of a person'],
    ['i18n.logOutputEncoding', 'UTF-16'],
  ] as const) {
    here.git('config', name, value);
  }
  here.write('.gitattributes', '* diff=x filter=x\n');
  process.env.GIT_EXTERNAL_DIFF = run;
  process.env.GIT_PAGER = run;
  onTestFinished(() => {
    delete process.env.GIT_EXTERNAL_DIFF;
    delete process.env.GIT_PAGER;
  });
  expect((await here.run('cost', 'campaign.yaml', '--by', 'month', '--since', 'HEAD')).code).toBe(0);
  expect(await byAuthor(here)).toEqual({ Ann: 2 });
  expect(existsSync(mark)).toBe(false);
});

test('a repository that lies in the folder as plain files is none, whatever its configuration says', async () => {
  const here = repository();
  here.write('inner/campaign.yaml', manifest);
  here.buy({ address: 'hero' }, 'inner/campaign.lock.jsonl');
  here.commit();
  cpSync(join(here.folder, '.git'), join(here.folder, 'inner'), { recursive: true });
  here.git('config', '--file', 'inner/config', 'core.worktree', join(here.folder, 'inner'));
  const { code, err } = await here.runIn('inner', 'cost', 'campaign.yaml', '--by', 'month');
  expect({ code, err }).toEqual({ code: 65, err: expect.stringContaining('error MB3601') });
});
