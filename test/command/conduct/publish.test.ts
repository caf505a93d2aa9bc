import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Booking } from '../../rig/oracle.ts';
import { answerOnTerminal, hasTerminals } from '../../rig/terminal.ts';
import { makeTrial, type Trial, withFaults } from '../../rig/trial.ts';

async function applyOnTerminal(trial: Trial, answers: string, ...args: string[]) {
  const { code, text } = await answerOnTerminal(['apply', 'campaign.yaml', '--poll-interval', '10', ...args], {
    cwd: trial.folder,
    env: { ...trial.sandbox.env, NO_COLOR: '1' },
    answers: answers.split(',').map((answer) => `${answer.replace('^C', '\u0003')}\r`),
  });
  const questions = [...text.matchAll(/.*\[y\/N\]/g)].map(([question]) => question);
  return { code, questions, text };
}

describe('publish', () => {
  const manifest = `version: 1
name: shop
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    foreach: [a, b]
    with:
      accountIds: [acc_a26a6b25c78b1c8d]
      caption: "Hello {{row}}"
      media: ["{{tasks.hero.url}}"]
      scheduledAt: "2030-05-01T09:00:00Z"
`;

  const kindsOf = (trial: Trial) => trial.sandbox.ledger().map(({ kind }) => kind);

  /** Skipped where there is no python3 to make a terminal with. */
  describe.runIf(hasTerminals)('on a terminal (python3)', () => {
    const spend = 'Spend ≈ 2 credits, at most 3? [y/N]';
    const publish =
      'Publish 2 posts to Instagram @sandbox.studio, at 2030-05-01T09:00:00Z? This cannot be undone. [y/N]';

    test('posts have their own question: how many, to which accounts, when', async () => {
      const trial = await makeTrial(manifest);
      const no = await applyOnTerminal(trial, 'y,n');
      expect(no, no.text).toMatchObject({ code: 5, questions: [spend, publish] });
      expect(kindsOf(trial)).toEqual(['image']);
      expect(no.text).toContain('to publish the posts: mediabatch apply campaign.yaml --publish');
      const yes = await applyOnTerminal(trial, 'y');
      expect(yes, yes.text).toMatchObject({ code: 0, questions: [publish] });
      expect(kindsOf(trial)).toEqual(['image', 'post', 'post']);
      const again = await applyOnTerminal(trial, 'y');
      expect(again, again.text).toMatchObject({ code: 0, questions: [] });
    });

    test.each<[string, string, string[], { code: number; questions: string[] }, number]>([
      ['Ctrl-C at the question publishes nothing', 'y,^C', [], { code: 130, questions: [spend, publish] }, 0],
      ['a user who declined the credits is not prompted for posts', 'n', [], { code: 0, questions: [spend] }, 0],
      ['--yes approves only credits, and posts wait', '', ['--yes'], { code: 5, questions: [] }, 1],
      ['--publish approves only posts, not credits', 'y', ['--publish'], { code: 0, questions: [spend] }, 3],
      ['--yes and --publish together do not prompt', '', ['--yes', '--publish'], { code: 0, questions: [] }, 3],
    ])('%s', async (_name, answers, args, expected, booked) => {
      const trial = await makeTrial(manifest);
      const ran = await applyOnTerminal(trial, answers, ...args);
      expect(ran, ran.text).toMatchObject(expected);
      expect(kindsOf(trial)).toHaveLength(booked);
    });
  });
});

describe('renamed posts', () => {
  /** Two accounts of every sandbox. */
  const account = 'acc_a26a6b25c78b1c8d';
  const campaignOf = (...tasks: [name: string, caption: string, accounts?: string][]) =>
    [
      'version: 1',
      'name: shop',
      'tasks:',
      ...tasks.map(
        ([name, caption, accounts = account]) =>
          `  ${name}: { kind: post, with: { accountIds: [${accounts}], caption: "${caption}" } }`,
      ),
      '',
    ].join('\n');

  const captions = ({ sandbox }: Trial) =>
    (sandbox.ledger() as Booking[]).flatMap(({ kind, body }) => (kind === 'post' ? [body.caption] : []));

  describe('a post is published once', () => {
    test('I41 after a lost answer, an edit and a rename, no post goes to its account until a user decides', async () => {
      const lost = withFaults([{ on: 'post', times: 1, do: { type: 'reset', booked: true } }]);
      const trial = await makeTrial(campaignOf(['share', 'Hello']), lost);
      expect((await trial.apply(['--publish'])).code).toBe(6);
      trial.write(
        'campaign.yaml',
        campaignOf(['tell', 'Hello!'], ['other', 'Another one', `acc_36c3a20f22ac6098, ${account}`]),
      );
      for (const more of [[], ['--redo', 'tell'], ['--select', 'tell'], ['--exclude', 'other']]) {
        const again = await trial.apply(['--publish', ...more], { ends: 6 });
        expect(again.err).toContain('waits for share, which may be published');
        expect(again.err).toContain('mediabatch resolve campaign.yaml share');
      }
      expect(captions(trial)).toEqual(['Hello']);
      // It is out: now it is one that has lost its step.
      const [{ id } = { id: '' }] = trial.sandbox.ledger() as Booking[];
      await trial.run(['resolve', 'campaign.yaml', 'share', '--job', id], { ends: 0 });
      expect((await trial.apply(['--publish'])).code).toBe(5);
      expect(captions(trial)).toEqual(['Hello']);
    });

    test('I41 after a lost answer no other post goes to the same account', async () => {
      const lost = withFaults([{ on: 'post', times: 1, do: { type: 'reset', booked: true } }]);
      const many = campaignOf(...[1, 2, 3, 4].map((one): [string, string] => [`share${one}`, `Hello ${one}`]));
      const trial = await makeTrial(many, lost);
      const ran = await trial.apply(['--publish'], { ends: 6 });
      expect(captions(trial)).toHaveLength(1);
      expect(ran.err).toContain('which may be published already');
    });
  });

  describe('a new post next to a published post without a step', () => {
    async function changed() {
      const trial = await makeTrial(campaignOf(['share', 'Hello']));
      expect((await trial.apply(['--publish'])).code).toBe(0);
      trial.write('campaign.yaml', campaignOf(['tell', 'Hello!']));
      return trial;
    }

    test('waits, and is shown next to it with all next commands', async () => {
      const trial = await changed();
      const waits = await trial.apply(['--publish'], { ends: 5 });
      expect(waits.err).toMatch(/published {2}share: “Hello” \(\w+\)\n *new {8}tell: “Hello!”\n/);
      expect(waits.err).toContain('mediabatch move campaign.yaml share tell\n');
      expect(waits.err).toContain('mediabatch apply campaign.yaml --redo tell --publish\n');
      expect(waits.err).toContain('mediabatch forget campaign.yaml share\n');
      const plan = JSON.parse((await trial.run(['plan', 'campaign.yaml', '--json'])).out);
      expect(plan.rows[0]).toMatchObject({ blockedBy: 'consent', beside: { address: 'share', after: 'Hello!' } });
    });

    test.each<[string, string[][], string[]]>([
      ['moved', [['move', 'campaign.yaml', 'share', 'tell']], ['Hello']],
      ['forgotten', [['forget', 'campaign.yaml', 'share']], ['Hello', 'Hello!']],
      ['redone', [['apply', 'campaign.yaml', '--redo', 'tell', '--publish']], ['Hello', 'Hello!']],
      [
        'redone by a saved plan',
        [
          ['plan', 'campaign.yaml', '--redo', 'tell', '--out', 'a.plan.json'],
          ['apply', 'a.plan.json', '--yes', '--publish'],
        ],
        ['Hello', 'Hello!'],
      ],
    ])('is settled for good when it is %s', async (_name, commands, out) => {
      const trial = await changed();
      for (const command of commands) {
        await trial.run(command, { ends: 0 });
      }
      for (let times = 0; times < 2; times += 1) {
        await trial.apply(['--publish'], { ends: 0 });
        expect(captions(trial)).toEqual(out);
      }
    });

    test('is in no saved plan that does not name it', async () => {
      const trial = await changed();
      expect((await trial.run(['plan', 'campaign.yaml', '--out', 'a.plan.json'])).code).toBe(0);
      await trial.run(['apply', 'a.plan.json', '--yes', '--publish'], { ends: 5 });
      expect(captions(trial)).toEqual(['Hello']);
    });

    /** Skipped where there is no python3 to make a terminal with. */
    test.runIf(hasTerminals).each<[string, string[], string, number, string[]]>([
      ['no', [], 'n', 5, ['Hello']],
      ['no, with --publish', ['--publish'], 'n', 5, ['Hello']],
      ['yes', [], 'y', 0, ['Hello', 'Hello!']],
      ['not asked', ['--yes', '--publish'], '', 5, ['Hello']],
    ])('a terminal shows both posts (python3): %s', async (_name, args, answer, code, out) => {
      const trial = await changed();
      const { text, ...ran } = await applyOnTerminal(trial, answer, ...args);
      expect(ran.code, text).toBe(code);
      if (answer !== '') {
        expect(text).toMatch(
          /tell may be the published post share under a new name\npublished {2}share: “Hello” .*\nnew/,
        );
        expect(text).toContain('Publish 1 post to Instagram @sandbox.studio, at once, in addition to share?');
      }
      expect(captions(trial)).toEqual(out);
    });
  });
});

describe('post accounts', () => {
  const account = 'acc_a26a6b25c78b1c8d';
  const campaignOf = (id: string, more = '') => `version: 1
name: shop
prices: { image: 2 }
tasks:
  hero: { kind: image, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    with:
      accountIds: [${account}, ${id}]
      caption: Hello
${more}`;

  describe('the accounts of posts', () => {
    test('are checked before anything is bought, with position and suggestion', async () => {
      const trial = await makeTrial(campaignOf('acc_a26a6b25c78b1c8e'));
      for (const args of [
        ['apply', 'campaign.yaml', '--yes', '--publish'],
        ['apply', 'campaign.yaml', '--yes'],
      ]) {
        const ran = await trial.run(args, { ends: 65 });
        expect(ran.err).toContain('campaign.yaml:9:42 error MB1509 `acc_a26a6b25c78b1c8e` is not a connected account');
        expect(ran.err).toContain(`did you mean \`${account}\`? connected: ${account} (Instagram @sandbox.studio), `);
      }
      expect(trial.sandbox.ledger()).toEqual([]);
      // What the service has said is kept for plans, which ask nobody.
      const planned = await trial.run(['plan', 'campaign.yaml']);
      expect(planned, planned.err).toMatchObject({ code: 65, err: expect.stringContaining('MB1509') });
      const validated = await trial.run(['validate', 'campaign.yaml']);
      expect(validated, validated.err).toMatchObject({ code: 65, err: expect.stringContaining('MB1509') });
    });

    test('appear in plans by name once known; plan queries them only with --refresh', async () => {
      const trial = await makeTrial(campaignOf('acc_36c3a20f22ac6098'));
      expect((await trial.run(['plan', 'campaign.yaml'])).out).toContain(`to account ${account}, account acc_36`);
      const named = 'to Instagram @sandbox.studio, TikTok @sandboxshorts, at once';
      expect((await trial.run(['plan', 'campaign.yaml', '--refresh'])).out).toContain(named);
      expect((await trial.run(['plan', 'campaign.yaml'])).out).toContain(named);
      const { rows } = JSON.parse((await trial.run(['plan', 'campaign.yaml', '--json'])).out);
      expect(rows[1].post).toEqual({
        accounts: [account, 'acc_36c3a20f22ac6098'],
        names: { [account]: 'Instagram @sandbox.studio', acc_36c3a20f22ac6098: 'TikTok @sandboxshorts' },
      });
    });

    test('that cannot be checked fail their step at the service, and the run continues', async () => {
      const error = { success: false, error: `Account ${account} not found` };
      const trial = await makeTrial(
        campaignOf(
          'acc_36c3a20f22ac6098',
          '  other: { kind: post, with: { accountIds: [acc_36c3a20f22ac6098], caption: Another } }\n',
        ),
        withFaults([{ on: 'post', match: 'Hello', do: { type: 'status', status: 404, body: error } }]),
      );
      const ran = await trial.apply(['--publish'], { ends: 3 });
      expect(ran.err).toContain(`Account ${account} not found`);
      expect(ran.err).not.toContain('refuses the key');
      expect(trial.sandbox.ledger()).toHaveLength(2);
    });

    test('a past time is a warning in the plan and before publishing', async () => {
      const late = '      scheduledAt: "2020-01-01T08:00:00Z"\n';
      const trial = await makeTrial(campaignOf('acc_36c3a20f22ac6098', late));
      const warned =
        'warning MB1510 `scheduledAt` is 2020-01-01T08:00:00Z, which is in the past: the post is published at once';
      for (const command of ['validate', 'plan', 'apply']) {
        const ran = await trial.run([command, 'campaign.yaml']);
        expect(ran.err).toContain(`campaign.yaml:11:20 ${warned}`);
        if (command === 'plan') expect(ran.out.replace(/\s+/g, ' ')).toContain('Z; 1 overdue, published at once');
      }
      rmSync(trial.path('.mediabatch'), { recursive: true });
      expect((await trial.run(['plan', 'campaign.yaml'])).err).toContain(warned);
      expect((await trial.apply(['--publish'])).code).toBe(0);
      // What is out is not judged again.
      expect((await trial.run(['validate', 'campaign.yaml'])).err).not.toContain('MB1510');
    });

    test('warns before a post that another campaign has sent', async () => {
      const trial = await makeTrial(campaignOf('acc_36c3a20f22ac6098'));
      expect((await trial.apply(['--publish'])).code).toBe(0);
      trial.write('other.yaml', campaignOf('acc_36c3a20f22ac6098').replace('name: shop', 'name: other'));
      const planned = await trial.run(['plan', 'other.yaml']);
      expect(planned.err).toContain(
        '1 post may be published already by another campaign: share (share of campaign.lock.jsonl is',
      );
      expect((await trial.run(['plan', 'campaign.yaml'])).err).not.toContain('another campaign');
    });
  });
});
