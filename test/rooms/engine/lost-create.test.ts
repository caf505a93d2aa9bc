import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/contract/errors.ts';
import { actionsOf, graphOf, type RunResult, TestCampaign } from '../../rig/campaign.ts';
import type { Trouble } from '../../rig/scripted-service.ts';

const lost: Trouble = { answer: { is: 'ambiguous', message: 'the connection was reset' }, booked: true };
const unmade: Trouble = { answer: { is: 'ambiguous', message: 'HTTP 502: bad gateway' } };

/** Voiceovers that say these texts, in this order. */
function voices(...texts: string[]): string {
  const tasks = texts.map((text, index) => `  v${index + 1}: { kind: voiceover, with: { text: ${text} } }`);
  return `version: 1\nname: test\ntasks:\n${tasks.join('\n')}\n`;
}

/** One voiceover is on record, so the list has shown what it gives back. */
async function campaignWithOne(): Promise<TestCampaign> {
  const campaign = new TestCampaign(voices('first'));
  await campaign.run();
  return campaign;
}

/** The nth create from now on meets this. */
function meet(campaign: TestCampaign, troubles: { [create: number]: Trouble }): void {
  const before = campaign.service.creates.length;
  campaign.service.trouble = (create) => troubles[create - before];
}

const ids = ({ ledger }: RunResult) =>
  [...ledger.lock.steps.values()].flatMap(({ purchases }) => purchases.flatMap(({ jobId }) => jobId ?? []));

describe('a create of a listed kind whose answer was lost', () => {
  test('was made: its job is found in the list, in the same run', async () => {
    const campaign = await campaignWithOne();
    campaign.graph = graphOf(voices('first', 'second'));
    meet(campaign, { 1: lost });
    const result = await campaign.run();
    expect(result.outcomes).toMatchObject({ v2: 'done' });
    expect(campaign.service.creates).toHaveLength(2);
    expect(ids(result).sort()).toEqual(campaign.service.ledger.map(({ jobId }) => jobId).sort());
    expect(result.events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['create-searched', 'job-found', 'job-created']),
    );
    expect(actionsOf(campaign.plan())).toEqual({ v1: 'keep', v2: 'keep' });
  });

  test('was charged what the list shows, which is no proof of a price: the next goes alone', async () => {
    const campaign = await campaignWithOne();
    campaign.graph = graphOf(`${voices('first', 'second', 'third', 'fourth')}budget: { credits: 100 }\n`);
    campaign.service.listsCredits = true;
    meet(campaign, { 1: lost });
    const { events } = await campaign.run({ concurrency: 4 });
    const acts = events.map(({ event }) => event).filter((event) => /^(create-intended|job-created)$/.test(event));
    expect(acts).toEqual(Array(3).fill(['create-intended', 'job-created']).flat());
  });

  test('a list that lags for less than the time that is waited is no danger', async () => {
    const campaign = await campaignWithOne();
    campaign.service.listLagMs = 50_000;
    campaign.graph = graphOf(voices('first', 'second'));
    campaign.clock.advance(100_000);
    meet(campaign, { 1: lost });
    expect((await campaign.run()).outcomes).toMatchObject({ v2: 'done' });
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test('nothing on record shows that the list can be trusted: a person decides', async () => {
    const campaign = new TestCampaign(voices('first'));
    meet(campaign, { 1: lost });
    const result = await campaign.run();
    expect(result.outcomes).toEqual({ v1: 'unresolved' });
    expect(campaign.service.creates).toHaveLength(1);
    const finished = result.events.find(({ event }) => event === 'step-finished');
    expect(finished).toMatchObject({ error: expect.stringContaining('the list shows no recorded job') });
    expect(finished).toMatchObject({ error: expect.stringContaining(campaign.service.ledger[0]?.jobId ?? '?') });
  });

  test('several at once, some made and some not', async () => {
    const campaign = await campaignWithOne();
    campaign.graph = graphOf(voices('first', 'second', 'third', 'fourth', 'fifth'));
    meet(campaign, { 1: lost, 2: unmade, 4: lost });
    const result = await campaign.run({ concurrency: 4 });
    expect(new Set(Object.values(result.outcomes))).toEqual(new Set(['done']));
    expect(campaign.service.ledger).toHaveLength(5);
    expect(new Set(ids(result)).size).toBe(5);
  });

  test('the list cannot be read now: the next run reads it', async () => {
    const campaign = await campaignWithOne();
    campaign.graph = graphOf(voices('first', 'second'));
    meet(campaign, { 1: lost });
    let broken = false;
    campaign.service.listTrouble = () => (broken ? new ServiceError('unreachable', 'HTTP 503') : undefined);
    const result = await campaign.run({
      onEvent: ({ event }) => {
        if (event === 'create-searched') broken = true;
      },
    });
    expect(result.outcomes).toMatchObject({ v2: 'unresolved' });
    broken = false;
    const plan = campaign.plan();
    expect(plan.rows[1]).toMatchObject({
      action: 'create',
      reason: { text: expect.stringContaining('list is searched first') },
    });
    expect((await campaign.run()).outcomes).toMatchObject({ v2: 'done' });
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test('without a fence a person decides: the list could not be read before it was sent', async () => {
    const campaign = await campaignWithOne();
    campaign.graph = graphOf(voices('first', 'second'));
    campaign.service.listTrouble = () => new ServiceError('refused', 'HTTP 403', { status: 403 });
    meet(campaign, { 1: lost });
    expect((await campaign.run()).outcomes).toMatchObject({ v2: 'unresolved' });
    campaign.service.listTrouble = () => undefined;
    expect(actionsOf(campaign.plan())).toMatchObject({ v2: 'unresolved' });
  });

  test('--on-unknown hold: nothing is searched for, in this run and the next', async () => {
    const campaign = await campaignWithOne();
    campaign.graph = graphOf(voices('first', 'second'));
    meet(campaign, { 1: lost });
    expect((await campaign.run({ onUnknown: 'hold' })).outcomes).toMatchObject({ v2: 'unresolved' });
    expect(actionsOf(campaign.plan({ onUnknown: 'hold' }))).toMatchObject({ v2: 'unresolved' });
    expect((await campaign.run()).outcomes).toMatchObject({ v2: 'done' });
    expect(campaign.service.ledger).toHaveLength(2);
  });

  test('dying at any line: it is paid once, and found again', async () => {
    for (let line = 0; line < 8; line += 1) {
      for (const written of [true, false]) {
        const campaign = await campaignWithOne();
        campaign.graph = graphOf(voices('first', 'second', 'third'));
        meet(campaign, { 1: unmade, 2: lost });
        await campaign.runAndDie({ line, written }, { concurrency: 1 });
        await campaign.run();
        await campaign.run();
        const bodies = campaign.service.ledger.map(({ body }) => body);
        expect(new Set(bodies).size, `line ${line} ${written}`).toBe(bodies.length);
        // Died between a record that it is sent and the sending, and what was sent instead came to nothing: it is not sent
        // a third time in that run.
        const isHeld = line <= 1 && written;
        expect(bodies).toHaveLength(isHeld ? 2 : 3);
        const actions = new Set(Object.values(actionsOf(campaign.plan())));
        expect(actions).toEqual(new Set(isHeld ? ['keep', 'create'] : ['keep']));
      }
    }
  });
});
