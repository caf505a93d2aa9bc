import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CampaignRepository } from '../../command/git/campaign-repository.ts';
import { temporaryFolder } from '../../rig/command.ts';
import { GitHub, type Job, packageFiles, readSteps, runJob } from './runner.ts';

const hasGh = process.platform !== 'win32' && spawnSync('gh', ['--version']).status === 0;

const manifest = (rows: string) => `version: 1
name: spring
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [${rows}], key: "{{row}}", with: { prompt: "a {{row}} on a table" } }
`;

let github: GitHub;
let here: CampaignRepository;
let env: Record<string, string>;
let folder: string;

beforeEach(async () => {
  const temporary = temporaryFolder();
  folder = temporary.path;
  const started = await GitHub.start(folder);
  onTestFinished(() => {
    started.stop();
    temporary.remove();
  });
  ({ github, env } = started);
  here = new CampaignRepository();
  for (const [name, text] of Object.entries(packageFiles)) here.write(name, text);
  here.write('campaign.yaml', manifest('lamp, vase'));
  here.commit();
});

/** The pull request as the runner has it: merged with its branch, in a clone of two commits that stands on no branch. */
async function pullRequest(
  files: Readonly<Record<string, string>>,
  { campaign = 'campaign.yaml', gallery = 'false', bought, given = {} }: Partial<Given> = {},
): Promise<Job> {
  here.git('checkout', '--quiet', '-B', 'feature', 'main');
  for (const [name, text] of Object.entries(files)) here.write(name, text);
  if (bought !== undefined) here.buy({ address: bought });
  here.commit();
  here.git('checkout', '--quiet', '-B', 'merged', 'main');
  here.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'feature');
  const clone = mkdtempSync(join(folder, 'clone-'));
  const words = ['clone', '--quiet', '--depth', '2', '--branch', 'merged', `file://${here.folder}`, clone];
  execFileSync('git', words, { stdio: 'pipe' });
  execFileSync('git', ['checkout', '--quiet', '--detach'], { cwd: clone });
  here.git('checkout', '--quiet', 'main');
  return runJob('plan.yml', {
    folder: clone,
    temporary: mkdtempSync(join(folder, 'runner-')),
    values: {
      'matrix.campaign': campaign,
      'github.token': 'secret',
      'github.event.pull_request.number': '7',
      'github.event.repository.name': 'shop',
      'github.repository_owner': 'team',
    },
    inputs: { gallery },
    env: {
      ...env,
      GITHUB_REPOSITORY: 'team/shop',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_RUN_ID: '12',
      GITHUB_SHA: 'c0ffee'.repeat(7).slice(0, 40),
      ...given,
    },
  });
}

interface Given {
  campaign: string;
  gallery: string;
  /** An address that the branch has bought. */
  bought: string;
  given: Record<string, string>;
}

const bodies = () => github.comments.map(({ body }) => body);

describe.skipIf(!hasGh)('plan.yml (needs gh and a POSIX shell)', () => {
  test('a comment is made where something differs, updated in place, and says so when nothing differs any more', async () => {
    const without = await pullRequest({ 'note.txt': 'hi' });
    expect({ ...without, asked: github.asked }).toMatchObject({ code: 0, summary: '', asked: [] });
    const made = await pullRequest({ 'campaign.yaml': manifest('lamp, vase, chair') });
    expect(made.code, made.said).toBe(0);
    expect(bodies()).toEqual([
      expect.stringMatching(/^<!-- mediabatch:campaign\.yaml -->\n\n### `spring`: 6 credits to buy\n/),
    ]);
    await pullRequest({ 'campaign.yaml': manifest('lamp, vase, chair, rug') });
    expect(bodies()).toEqual([expect.stringContaining('### `spring`: 8 credits to buy')]);
    await pullRequest({ 'note.txt': 'hello' });
    expect(bodies()).toEqual([expect.stringContaining('No step differs.')]);
    expect(github.asked).toEqual([
      'POST /repos/team/shop/issues/7/comments',
      'PATCH /repos/team/shop/issues/comments/1',
      'PATCH /repos/team/shop/issues/comments/1',
    ]);
  });

  test('the program comes from the lock of the branch, and a pull request does not choose another', async () => {
    const chosen = { 'campaign.yaml': manifest('lamp'), 'package-lock.json': '{}\n' };
    const { code, said } = await pullRequest(chosen);
    expect(code, said).toBe(0);
    here.git('rm', '--quiet', 'package-lock.json');
    here.commit();
    const without = await pullRequest({ 'campaign.yaml': manifest('lamp'), ...packageFiles });
    expect(without.code).toBe(1);
    expect(without.said).toContain('has no package-lock.json, from which mediabatch is installed');
  });

  test('a marker in a comment of somebody else, or behind hundreds of others', async () => {
    github.say('<!-- mediabatch:campaign.yaml -->\nof a stranger', { viewerDidAuthor: false });
    for (let count = 0; count < 250; count += 1) github.say('hello', { viewerDidAuthor: true });
    github.say('<!-- mediabatch:campaign.yaml -->\nof before', { viewerDidAuthor: true });
    const { code, said } = await pullRequest({ 'campaign.yaml': manifest('lamp') });
    expect(code, said).toBe(0);
    expect(github.comments).toHaveLength(252);
    expect(bodies()[0]).toContain('of a stranger');
    expect(bodies().at(-1)).toContain(': 2 credits to buy');
  });

  test('a token that only reads: the text is in the summary of the job', async () => {
    github.readOnly = true;
    const { code, summary, said } = await pullRequest(
      { 'campaign.yaml': manifest('lamp, chair') },
      { gallery: 'true', bought: 'hero@lamp' },
    );
    expect(code, said).toBe(0);
    expect(summary).toMatch(/^<!-- mediabatch:campaign\.yaml -->[\s\S]*: 4 credits to buy/);
    expect(bodies()).toEqual([]);
  });

  test('mistakes are a comment, and the job fails', async () => {
    const { code } = await pullRequest({ 'campaign.yaml': manifest('lamp').replace('kind:', 'knd:') });
    expect(code).toBe(65);
    expect(bodies()).toEqual([
      expect.stringMatching(/^<!-- mediabatch:campaign\.yaml -->\n\n### `campaign\.yaml`: \d mistakes?\n[\s\S]*MB\d/),
    ]);
    await pullRequest({ 'campaign.yaml': manifest('lamp') });
    expect(bodies()).toEqual([expect.stringContaining(': 2 credits to buy')]);
  });

  test('nothing of a manifest, and no name of a file, reaches the shell', async () => {
    const hostile = `$(touch "${folder}/ran") \`touch ${folder}/ran\` ; touch ${folder}/ran; $GH_TOKEN`;
    const name = '-x $(touch ran) `touch ran`; touch ran; --> .yaml';
    const text = manifest('lamp').replace('"a {{row}} on a table"', JSON.stringify(`@team ${hostile}`));
    const { code, said } = await pullRequest({ [name]: text }, { campaign: name });
    expect(code, said).toBe(0);
    expect(bodies()).toEqual([expect.stringMatching(/^<!-- mediabatch:-x%20[A-Za-z0-9%.-]+ -->\n/)]);
    expect(bodies()[0]).not.toContain('secret');
    expect(
      [folder, ...readdirSync(folder).map((inner) => join(folder, inner))].filter((at) => existsSync(join(at, 'ran'))),
    ).toEqual([]);
  });

  test('a gallery of what the branch bought is an artifact, and the comment links to it', async () => {
    const { code, said, step } = await pullRequest(
      { 'campaign.yaml': manifest('lamp') },
      { gallery: 'true', bought: 'hero@lamp' },
    );
    expect(code, said).toBe(0);
    expect(bodies()[0]).toContain('(https://github.com/team/shop/actions/runs/12#artifacts)');
    expect(step('Upload the gallery').with.path).toMatch(/campaign-yaml-[0-9a-f]{8}\.html$/);
  });
});

test.each(['plan.yml', 'apply.yml', 'action.yml'])(
  '%s gives strangers no token, and writes nothing of theirs into a script',
  (name) => {
    const { steps, text } = readSteps(name);
    expect(text).not.toMatch(/^ {2}pull_request_target:/m);
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
    for (const { uses = './' } of steps) expect(uses).toMatch(/^\.\/|@[0-9a-f]{40}$/);
  },
);
