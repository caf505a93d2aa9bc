import { rmSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { makeTrial, withFaults } from '../../rig/trial.ts';

// Each test starts several processes, and the machine may have other work.
vi.setConfig({ testTimeout: 120_000 });

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
      const ran = await trial.run(args);
      expect(ran.code, ran.err).toBe(65);
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
    expect((await trial.run(['plan', 'campaign.yaml'])).out).toContain(`to account ${account} and account acc_36`);
    const named = 'to Instagram @sandbox.studio and TikTok @sandboxshorts, at once';
    expect((await trial.run(['plan', 'campaign.yaml', '--refresh'])).out).toContain(named);
    expect((await trial.run(['plan', 'campaign.yaml'])).out).toContain(named);
    const { rows } = JSON.parse((await trial.run(['plan', 'campaign.yaml', '--json'])).out);
    expect(rows[1].post).toEqual({
      accounts: [account, 'acc_36c3a20f22ac6098'],
      names: { [account]: 'Instagram @sandbox.studio', acc_36c3a20f22ac6098: 'TikTok @sandboxshorts' },
    });
  });

  test('a saved plan that knew no names is not stale for that, and its posts take a consent of their own', async () => {
    const trial = await makeTrial(campaignOf('acc_36c3a20f22ac6098'));
    expect((await trial.run(['plan', 'campaign.yaml', '--out', 'a.plan.json'])).code).toBe(0);
    expect((await trial.run(['apply', 'a.plan.json', '--yes'])).code).toBe(5);
    expect(trial.sandbox.ledger()).toHaveLength(1);
    const ran = await trial.run(['apply', 'a.plan.json', '--yes', '--publish']);
    expect(ran.code, ran.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(2);
  });

  test('of published posts are not checked again', async () => {
    const trial = await makeTrial(campaignOf('acc_36c3a20f22ac6098'));
    expect((await trial.apply(['--publish'])).code).toBe(0);
    trial.write('campaign.yaml', campaignOf('acc_nope'));
    const again = await trial.apply(['--publish']);
    expect(again.code, again.err).toBe(0);
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
    const ran = await trial.apply(['--publish']);
    expect(ran.code, ran.err).toBe(3);
    expect(ran.err).toContain(`Account ${account} not found`);
    expect(ran.err).not.toContain('refuses the key');
    expect(trial.sandbox.ledger()).toHaveLength(2);
  });

  test('a past time is a warning in the plan and before publishing', async () => {
    const late = '      scheduledAt: "2020-01-01T08:00:00Z"\n';
    const trial = await makeTrial(campaignOf('acc_36c3a20f22ac6098', late));
    const warned =
      'warning MB1510 `scheduledAt` is 2020-01-01T08:00:00Z, which is in the past: the post goes out at once';
    for (const command of ['validate', 'plan', 'apply']) {
      const ran = await trial.run([command, 'campaign.yaml']);
      expect(ran.err).toContain(`campaign.yaml:11:20 ${warned}`);
      if (command === 'plan')
        expect(ran.out.replace(/\s+/g, ' ')).toContain('Z; its time has passed, so it is published at once');
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
