import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type CommandOptions, expectExit } from '../rig/command.ts';
import { makeFolder } from '../rig/folder.ts';
import type { Booking } from '../rig/oracle.ts';
import { answerOnTerminal, hasTerminals } from '../rig/terminal.ts';
import { killAt, makeTrial, type Trial } from '../rig/trial.ts';

const manifest = `version: 1
name: shop
budget: { credits: 50 }
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b], with: { prompt: "a lamp {{row}}", resolution: 1k } }
  share:
    kind: post
    with:
      accountIds: [acc_a26a6b25c78b1c8d]
      caption: Hello
      media: "{{tasks.hero.urls}}"
      scheduledAt: "2030-05-01T09:00:00Z"
`;
const kinds = ({ sandbox }: Trial) => (sandbox.ledger() as Booking[]).map(({ kind }) => kind).sort();

/** A campaign whose plan is saved, and a person whose secrets nobody else has. */
async function savedPlan(text = manifest) {
  const trial = await makeTrial(text);
  const state = makeFolder();
  const env = { ...trial.sandbox.env, XDG_STATE_HOME: state, NO_COLOR: '1' };
  const approve = (args: string[] = [], answer = 'y\r') =>
    answerOnTerminal(['approve', 'shop.plan.json', '--by', 'Ada', ...args], {
      ...{ cwd: trial.folder, env, answers: [answer] },
    });
  const run = (args: string[], { env: more, ...options }: Partial<CommandOptions> = {}) =>
    trial.run(args, { ...options, env: { ...env, ...more } });
  /** As a program does it. */
  const apply = (args: string[] = [], options: Partial<CommandOptions> = {}) =>
    run(['apply', 'shop.plan.json', '--poll-interval', '10', ...args], {
      ...options,
      env: { AI_AGENT: 'x', ...options.env },
    });
  await expectExit(0, run(['plan', 'campaign.yaml', '--out', 'shop.plan.json']));
  const approvals = join(state, 'mediabatch', 'approvals');
  return { trial, approvals, approve, run, apply };
}

/** Loaded before a command that is to believe that it is so many days later. */
function daysLater({ folder }: Trial, days: number): Partial<CommandOptions> {
  const path = join(folder, `days${days}.mjs`);
  writeFileSync(path, `const { now } = Date;\nDate.now = () => now() + ${days * 86_400_000};\n`);
  return { preload: pathToFileURL(path).href };
}

describe.runIf(hasTerminals)('an approved plan (python3)', () => {
  test('runs with any apply, and no other plan does', async () => {
    const { trial, approve, run, apply } = await savedPlan();
    // Without a terminal, so that a program can show it as well.
    const rows = await run(['approve', 'shop.plan.json', '--rows']);
    expect([rows.code, rows.out]).toEqual([
      0,
      expect.stringMatching(/^hero@a {2}image\n {2}prompt: a lamp a\n(?:.*\n)*.*caption: Hello\n/),
    ]);
    const yes = await approve();
    expect(yes, yes.text).toMatchObject({ code: 0 });
    expect(yes.text).toContain('mediabatch approve shop.plan.json --rows');
    expect(yes.text).toMatch(
      /Approve 4 credits, and 1 post to .*, at 2030-05-01T09:00:00Z\? Until .*, apply can run this plan once without asking\. \[y\/N\]/,
    );
    expect((await run(['apply', 'campaign.yaml'], { env: { AI_AGENT: 'x' } })).code).toBe(5);
    expect(kinds(trial)).toEqual([]);
    const ran = await expectExit(0, apply());
    expect(ran.err).toMatch(/^approved by Ada at .*: 4 credits, and 1 post/m);
    expect(kinds(trial)).toEqual(['image', 'image', 'post']);
    const { runs } = JSON.parse((await run(['runs', '--json'])).out);
    expect(runs[0].approved).toMatchObject({ by: 'Ada' });
    expect((await run(['runs', 'show', runs[0].id])).out).toMatch(/^approved {2}by Ada, /m);
    expect((await run(['approve', '--list'])).out).toMatch(/ Ada +done /);
  });

  test('does not run again with a new lock', async () => {
    const { trial, approvals, approve, apply } = await savedPlan();
    await approve();
    expect((await apply()).code).toBe(0);
    const empty = () => {
      for (const name of readdirSync(trial.folder).filter((one) => !/^(campaign\.yaml|shop)/.test(one)))
        rmSync(trial.path(name), { recursive: true });
    };
    empty();
    expect((await apply()).code).toBe(0);
    empty();
    rmSync(join(approvals, '..', 'purchases'), { recursive: true });
    const again = await expectExit(5, apply());
    expect(again.err).toMatch(/the plan that Ada approved at .* was already applied/);
    expect(kinds(trial)).toEqual(['image', 'image', 'post']);
  });

  test('is valid for the approved account only', async () => {
    const { trial, approve, apply } = await savedPlan();
    expect((await approve()).code).toBe(0);
    const other = await expectExit(5, apply([], { env: { MEDIABATCH_API_KEY: 'other_live_0123456789abcdef' } }));
    expect(other.err).toContain('Ada approved the plan for another account');
    expect(kinds(trial)).toEqual([]);
    expect((await apply()).code).toBe(0);
  });

  test('continues after a kill without a prompt', async () => {
    const { trial, approve, apply } = await savedPlan();
    await approve();
    await killAt(/hero@\w {2}created/, (options) => apply(['-v'], options));
    await expectExit(0, apply());
    expect(kinds(trial)).toEqual(['image', 'image', 'post']);
  });

  test('pays once when the lock is restored in between', async () => {
    const { trial, approve, apply } = await savedPlan(manifest.replace('[a, b]', '[a, b, c, d]'));
    await approve();
    await killAt(/hero@b {2}created/, (options) => apply(['-v', '--concurrency', '1'], options));
    for (const name of readdirSync(trial.folder).filter((one) => !/^(campaign\.yaml|shop)/.test(one)))
      rmSync(trial.path(name), { recursive: true });
    await expectExit(0, apply());
    expect(kinds(trial)).toEqual(['image', 'image', 'image', 'image', 'post']);
  });

  test('is valid for seven days or --valid, and not before its approval', async () => {
    const { trial, approve, apply } = await savedPlan();
    await approve();
    for (const [days, why] of [
      [8, /the approval of Ada was valid until/],
      [-1, /the approval of Ada is dated .*, which is later than the clock/],
    ] as const) {
      const late = await expectExit(5, apply([], daysLater(trial, days)));
      expect(late.err).toMatch(why);
    }
    await approve(['--valid', '1h']);
    expect((await apply([], daysLater(trial, 1))).code).toBe(5);
    expect(kinds(trial)).toEqual([]);
    expect((await apply([], daysLater(trial, 0))).code).toBe(0);
  });

  test('a post whose time has passed waits', async () => {
    const soon = new Date(Date.now() + 3 * 86_400_000).toISOString();
    const { trial, approve, apply } = await savedPlan(manifest.replace('2030-05-01T09:00:00Z', soon));
    await approve();
    await expectExit(5, apply([], daysLater(trial, 4)));
    expect(kinds(trial)).toEqual(['image', 'image']);
  });

  test('is invalid once the plan differs', async () => {
    const { trial, approve, apply } = await savedPlan();
    await approve();
    const text = readFileSync(trial.path('shop.plan.json'), 'utf8');
    const dearer = JSON.parse(text);
    for (const row of dearer.rows) if (row.credits === 2) row.credits = 1;
    trial.write('shop.plan.json', JSON.stringify(dearer));
    expect((await apply()).code).toBe(65);
    const reworded = JSON.parse(text);
    reworded.rows[0].reason.text = 'costs nothing';
    trial.write('shop.plan.json', JSON.stringify(reworded));
    const edited = await expectExit(5, apply());
    expect(edited.err).toMatch(/the plan has changed since Ada approved it/);
    expect(kinds(trial)).toEqual([]);
    // Laid out in another way it says the same.
    trial.write('shop.plan.json', JSON.stringify(JSON.parse(text)));
    expect((await apply()).code).toBe(0);
  });

  test('is bound to one lock: a copy of the folder has no approval', async () => {
    const { trial, approve, apply, run } = await savedPlan();
    await approve();
    mkdirSync(trial.path('copy'));
    for (const name of ['campaign.yaml', 'shop.plan.json']) cpSync(trial.path(name), trial.path(`copy/${name}`));
    const copied = await expectExit(5, run(['apply', 'copy/shop.plan.json'], { env: { AI_AGENT: 'x' } }));
    expect(copied.err).toContain('Ada approved the plan for another lock');
    expect(kinds(trial)).toEqual([]);
    expect((await apply()).code).toBe(0);
  });

  test('an approval of another user, or an edited or renamed one, is invalid', async () => {
    const { trial, approvals, approve, apply } = await savedPlan();
    await approve();
    const [name = ''] = readdirSync(approvals);
    const path = join(approvals, name);
    const sealed = readFileSync(path, 'utf8');
    const state = makeFolder();
    cpSync(join(approvals, '..'), join(state, 'mediabatch'), { recursive: true });
    // A copy of the key is of another time, and so another secret.
    expect((await apply([], { env: { XDG_STATE_HOME: state } })).code).toBe(5);
    writeFileSync(path, sealed.replace('Ada', 'Bob'));
    expect((await apply()).code).toBe(5);
    writeFileSync(join(approvals, `${'0'.repeat(32)}.json`), sealed);
    expect((await apply()).code).toBe(5);
    writeFileSync(path, sealed);
    expect(kinds(trial)).toEqual([]);
    expect((await apply()).code).toBe(0);
  });

  test('can be revoked, can be declined, and requires a terminal', async () => {
    const { trial, approve, apply, run } = await savedPlan();
    expect((await approve([], 'n\r')).text).toContain('nothing was approved');
    await expectExit(5, run(['approve', 'shop.plan.json']));
    expect((await run(['approve', '--list'])).err).toContain('no plan was approved on this machine');
    await approve();
    expect(JSON.parse((await run(['approve', '--list', '--json'])).out).approvals).toMatchObject([
      { by: 'Ada', campaign: 'shop', counts: true },
    ]);
    expect((await run(['approve', '--revoke', 'shop.plan.json'])).err).toContain('revoked 1 approval');
    const revoked = await expectExit(5, apply());
    expect(revoked.err).toContain('mediabatch approve shop.plan.json');
    expect(kinds(trial)).toEqual([]);
  });

  test('buys one step of unknown price; the others need another approval once it is known', async () => {
    const text = manifest.replace('prices: { image: 2 }\n', '').replace('budget: { credits: 50 }\n', '');
    const { trial, approve, apply } = await savedPlan(text.replace('[a, b]', '[a, b, c]'));
    await approve();
    const ran = await expectExit(4, apply());
    // That nobody could say at most how much was agreed to.
    expect(ran.err).toContain('steps whose price the approved total does not cover are not bought');
    expect(kinds(trial)).toEqual(['image']);
    expect((await apply()).code).toBe(4);
    expect(kinds(trial)).toEqual(['image']);
  });
});
