import { expect, test, vi } from 'vitest';
import { programVariables } from '../../src/campaign/environment.ts';
import { consentIn, withConsent } from '../../src/cli/consent.ts';
import { apply, load, plan, readEnvironment } from '../../src/index.ts';
import { expectExit } from '../rig/command.ts';
import type { Booking } from '../rig/oracle.ts';
import { killAt, makeTrial, type Trial } from '../rig/trial.ts';

/** Its prices are known, and its budget covers them: nothing but a consent is missing. */
const manifest = `version: 1
name: shop
budget: { credits: 50 }
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b], with: { prompt: "a lamp {{row}}", resolution: 1k } }
  share:
    kind: post
    with: { accountIds: [acc_a26a6b25c78b1c8d], caption: Hello, media: "{{tasks.hero.urls}}" }
`;
const program = { env: { AI_AGENT: 'x' } };
const kinds = ({ sandbox }: Trial) => (sandbox.ledger() as Booking[]).map(({ kind }) => kind).sort();
const quick = ['--poll-interval', '10'];

test.each<[string, string[], { env?: Record<string, string> }]>([
  ['a budget', [], {}],
  ['a cap of the run', ['--max-credits', '9'], {}],
  ['--yes of a program', ['--yes', '--publish'], program],
  ['--yes where a person is wanted', ['--yes', '--publish'], { env: { MEDIABATCH_CONSENT: 'person' } }],
])('%s is no consent: exit 5, and no create request', async (_, args, given) => {
  const trial = await makeTrial(manifest);
  const ran = await expectExit(5, trial.run(['apply', 'campaign.yaml', ...args], given));
  expect(ran.err).toContain('error MB3007 no approval for 4 credits');
  expect(ran.err).toContain('mediabatch plan campaign.yaml');
  expect(kinds(trial)).toEqual([]);
});

test('a saved plan alone is not a consent', async () => {
  const trial = await makeTrial(manifest);
  expect((await trial.run(['plan', 'campaign.yaml', '--out', 'a.plan.json'])).code).toBe(0);
  const silent = await trial.run(['apply', 'a.plan.json'], { ends: 5 });
  expect(silent.err).toContain(
    'have the payer approve the plan in an interactive terminal of this user on this machine: mediabatch approve a.plan.json\n    or add --yes if the payer has already approved\n',
  );
  await expectExit(5, trial.run(['apply', 'a.plan.json', '--yes', '--publish'], program));
  expect(kinds(trial)).toEqual([]);
  // It has what the plan says only from who types so.
  await trial.run(['apply', 'a.plan.json', '--yes', ...quick], { ends: 5 });
  expect(kinds(trial)).toEqual(['image', 'image']);
  await trial.run(['apply', 'a.plan.json', '--publish', ...quick], { ends: 0 });
  expect(kinds(trial)).toEqual(['image', 'image', 'post']);
});

test('shows an agent what to present to the user, and no command that avoids the approval', async () => {
  const trial = await makeTrial(manifest);
  const refused = await trial.run(['apply', 'campaign.yaml', '-s', 'hero'], program);
  expect(refused.err).toContain('AI_AGENT marks the caller as an agent');
  expect(refused.err).toContain('mediabatch plan campaign.yaml --select hero --out campaign.plan.json');
  expect((await trial.apply(['-s', 'hero'])).code).toBe(0);
  const waiting = await expectExit(5, trial.run(['apply', 'campaign.yaml'], program));
  for (const { err } of [refused, waiting])
    expect(err).not.toMatch(/--publish|(?<!and )--yes|unset|MEDIABATCH_CONSENT/);
});

test('a post with its own consent waits for its media only', async () => {
  const trial = await makeTrial(`version: 1
name: shop
tasks:
  hero: { kind: image, foreach: [a, b], with: { prompt: "a lamp {{row}}", resolution: 1k } }
  share:
    kind: post
    with: { accountIds: [acc_a26a6b25c78b1c8d], caption: Hello, media: "{{tasks.hero.urls}}" }
`);
  await killAt(/hero@a {2}created/, (options) => trial.apply(['-s', 'hero@a', '-v'], options));
  const collected = await trial.run(['apply', 'campaign.yaml', ...quick, '--publish'], { ends: 5 });
  expect(collected.err).toMatch(/1 step for approval of 2 credits\n {9}1 post waits for these steps\n/);
  expect(collected.err).not.toContain('needs its own consent');
});

test('a saved plan with purchases refers an agent to a user', async () => {
  const trial = await makeTrial(manifest);
  const saving = (...words: string[]) =>
    trial.run(['plan', 'campaign.yaml', '--out', 'shop.plan.json', ...words], program);
  expect((await saving()).err).toContain(
    'saved  shop.plan.json; to have a user approve it: mediabatch approve shop.plan.json\n',
  );
  expect((await saving('--sandbox')).err).toContain('apply it: mediabatch apply shop.plan.json\n');
});

test('the plan for approval lists each repurchase once', async () => {
  const one = 'version: 1\nname: shop\ntasks:\n  a: { kind: image, with: { prompt: a lamp, resolution: 1k } }\n';
  const trial = await makeTrial(one);
  expect((await trial.apply()).code).toBe(0);
  trial.write('campaign.yaml', `${one}  b: { kind: image, with: { prompt: a vase, resolution: 1k } }\n`);
  await killAt(/b {2}created/, (options) => trial.apply(['-s', 'b', '-v'], options));
  const waiting = await trial.run(['apply', 'campaign.yaml', ...quick, '--redo', 'a'], { ends: 5 });
  expect(waiting.err).toContain('mediabatch plan campaign.yaml --redo a --out campaign.plan.json\n');
  await trial.apply(['--redo', 'a'], { ends: 0 });
  expect(kinds(trial)).toEqual(['image', 'image', 'image']);
});

test('a library call is no consent if a user must consent: MB3007, and no create request', async () => {
  const trial = await makeTrial(manifest);
  const { env } = trial.sandbox;
  const applied = async (
    more: Record<string, string>,
    environment = readEnvironment({ ...env, ...more }, trial.folder),
  ) => {
    const campaign = await load(trial.path('campaign.yaml'), { environment });
    return apply(await plan(campaign), { publish: true });
  };
  for (const more of [{ MEDIABATCH_CONSENT: 'person' }, program.env]) {
    await expect(applied(more)).rejects.toMatchObject({ failure: { code: 'MB3007' } });
  }
  // An environment made by hand takes away nothing that holds for this process.
  vi.stubEnv('CLAUDECODE', '1');
  const { MEDIABATCH_BASE_URL: baseUrl = '', MEDIABATCH_API_KEY: token = '' } = env;
  await expect(applied({}, { baseUrl, token })).rejects.toMatchObject({ failure: { code: 'MB3007' } });
  vi.unstubAllEnvs();
  expect(kinds(trial)).toEqual([]);
  expect((await trial.apply(['-s', 'hero'])).code).toBe(0);
  // The post alone is left.
  await expect(applied(program.env)).rejects.toMatchObject({ failure: { code: 'MB3007' } });
  expect(kinds(trial)).toEqual(['image', 'image']);
});

test('the sandbox accepts --yes from every caller', async () => {
  const trial = await makeTrial(manifest);
  const args = ['apply', 'campaign.yaml', '--sandbox', ...quick];
  expect((await trial.run(args, program)).code).toBe(5);
  await expectExit(0, trial.run([...args, '--yes', '--publish'], program));
  expect(kinds(trial)).toEqual([]);
});

test('paid jobs are collected without approval, and nothing else is bought', async () => {
  const trial = await makeTrial(`version: 1
name: shop
tasks:
  hero:
    kind: image
    foreach: [a, b, c]
    retry: { attempts: 2 }
    with: { prompt: "a lamp {{row}}", resolution: 1k }
  last: { kind: voiceover, needs: [hero], with: { text: a lamp, voice_id: Aria, model: speech-2 } }
`);
  await killAt(/hero@a {2}created/, (options) => trial.apply(['-s', 'hero@a', '-v'], options));
  expect(kinds(trial)).toEqual(['image']);
  const collected = await expectExit(5, trial.run(['apply', 'campaign.yaml', ...quick, '--json'], program));
  expect(kinds(trial)).toEqual(['image']);
  expect(collected.err).toContain('3 steps for approval of ≈ 5 credits, at most 6');
  const status = await trial.run(['status', 'campaign.yaml', '--list']);
  expect(status.out).toMatch(/hero@a .*done/);
  const nothing = await trial.run(['apply', 'campaign.yaml'], program);
  expect(nothing.err).toContain('MB3007');
});

test('the kind of caller is detected from the environment', () => {
  for (const name of programVariables) {
    expect(consentIn({ [name]: '1' }, { sandbox: false })).toEqual({
      flags: 'ignored',
      because: `${name} marks the caller as an agent`,
    });
  }
  expect(consentIn({ CI: 'true', AGENT: '', TERM: 'dumb' }, { sandbox: false })).toEqual({ flags: 'count' });
  expect(consentIn({ AGENT: 'x', MEDIABATCH_CONSENT: 'person' }, { sandbox: true })).toEqual({ flags: 'count' });
  expect(() => consentIn({ MEDIABATCH_CONSENT: 'persons' }, { sandbox: false })).toThrow(
    'the only allowed value is person',
  );
  const options = { yes: true, publish: true, maxCredits: 3 };
  expect(withConsent(options, { flags: 'ignored', because: '' })).toEqual({ maxCredits: 3 });
});
