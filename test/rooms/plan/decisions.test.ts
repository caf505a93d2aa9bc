import { describe, expect, test } from 'vitest';
import { countedPurchases } from '../../../src/lock/decisions.ts';
import { joinRecords } from '../../../src/lock/join.ts';
import type { Lock } from '../../../src/lock/record.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { acceptOutput, findAcceptable } from '../../../src/plan/decisions/accept.ts';
import { forgetRecord } from '../../../src/plan/decisions/forget.ts';
import { pinStep, unpinStep } from '../../../src/plan/decisions/pin.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import type { Match } from '../../../src/plan/situation/find-purchases.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { actionsOf, graphOf, TestCampaign } from '../../rig/campaign.ts';

/** Two pictures, and a film that is made from one of them. */
function chain(prompt: string, extra = ''): string {
  return `version: 1
name: test
tasks:
  pic: { kind: image, foreach: [p1, p2], with: { prompt: "${prompt} {{row}}" }${extra} }
  film: { kind: video, with: { prompt: go, image: "{{tasks.pic.url}}" }, from: { pic: { key: p1 } } }
  next: { kind: video, with: { prompt: on, image: "{{tasks.film.url}}" } }
`;
}

async function bought(): Promise<TestCampaign> {
  const campaign = new TestCampaign(chain('a'));
  await campaign.run();
  expect(new Set(Object.values(actionsOf(campaign.plan())))).toEqual(new Set(['keep']));
  return campaign;
}

function matchOf(campaign: TestCampaign, address: string): Match {
  const match = situate(campaign.graph, campaign.file.read()).byAddress.get(address);
  if (match === undefined) throw new Error(`no step ${address}`);
  return match;
}

function record(campaign: TestCampaign, ruling: Ruling): void {
  if (ruling.is !== 'recorded') throw new Error(`${ruling.is}: ${ruling.text}`);
  const lock: Lock = campaign.file.read();
  for (const one of ruling.records) {
    lock.steps.set(one.address, joinRecords(lock.steps.get(one.address) ?? one, one));
  }
  campaign.file.text = writeLock(lock);
}

function forget(campaign: TestCampaign, address: string): void {
  const known = campaign.file.read().steps.get(address);
  if (known === undefined) throw new Error(`nothing on record for ${address}`);
  record(campaign, forgetRecord(known, { force: false }));
}

function accept(campaign: TestCampaign, address: string): Ruling {
  const match = matchOf(campaign, address);
  const found = findAcceptable(match);
  return 'is' in found ? found : acceptOutput(match, found, { seen: [], isUnfit: false });
}

function rowOf(plan: Plan, address: string) {
  return plan.rows.find((row) => row.address === address);
}

const changedRows = { 'pic@p1': 'redo', 'pic@p2': 'redo', film: 'redo', next: 'redo' };

describe('a pin', () => {
  test('keeps the step and all that is made from it, and says what is held back', async () => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    campaign.graph = graphOf(chain('a red'));
    const plan = campaign.plan();
    expect(actionsOf(plan)).toEqual({ ...changedRows, 'pic@p1': 'keep', film: 'keep', next: 'keep' });
    expect(rowOf(plan, 'pic@p1')).toMatchObject({
      reason: {
        code: 'pinned',
        text: 'pinned; prompt: “a p1” → “a red p1” (would cost 3)',
        changes: [{ field: 'prompt', before: 'a p1', after: 'a red p1' }],
      },
      pinned: true,
      wouldCost: 3,
      credits: 0,
    });
    const before = campaign.service.ledger.length;
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(before + 1);
    expect(actionsOf(campaign.plan())).toMatchObject({ 'pic@p1': 'keep', 'pic@p2': 'keep', film: 'keep' });
  });

  test('what is new refers to the purchase that is held', async () => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    campaign.graph = graphOf(
      `${chain('a red')}  more: { kind: video, with: { prompt: new, image: "{{tasks.pic.url}}" }, from: { pic: { key: p1 } } }\n`,
    );
    const result = await campaign.run();
    expect(result.outcomes).toMatchObject({ more: 'done' });
    expect(actionsOf(campaign.plan())).toMatchObject({ more: 'keep', film: 'keep' });
  });

  test('is taken off: the manifest decides again', async () => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    campaign.graph = graphOf(chain('a red'));
    const ruling = unpinStep(matchOf(campaign, 'pic@p1'), 3);
    expect(ruling.text).toContain('the next apply redoes it for 3 credits');
    record(campaign, ruling);
    expect(actionsOf(campaign.plan())).toEqual(changedRows);
  });

  test('`pin: true` of a task does the same, buys what is not bought, and is no purchase of its own', async () => {
    const campaign = await bought();
    campaign.graph = graphOf(chain('a red', ', pin: true').replace('[p1, p2]', '[p1, p2, p3]'));
    const plan = campaign.plan();
    expect(actionsOf(plan)).toEqual({
      'pic@p1': 'keep',
      'pic@p2': 'keep',
      'pic@p3': 'create',
      film: 'keep',
      next: 'keep',
    });
    await campaign.run();
    expect(rowOf(campaign.plan(), 'pic@p3')).toMatchObject({
      action: 'keep',
      reason: { code: 'pinned', text: 'up to date, and pinned' },
    });
  });

  test('a file that is missing is fetched from the pinned job', async () => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    campaign.graph = graphOf(chain('a red'));
    campaign.outputs.files.delete('output/pic-p1.png');
    expect(rowOf(campaign.plan(), 'pic@p1')).toMatchObject({ action: 'download', pinned: true });
    const before = campaign.service.ledger.length;
    await campaign.run({ selected: ['pic@p1'] });
    expect(campaign.service.ledger).toHaveLength(before);
    expect(rowOf(campaign.plan(), 'pic@p1')).toMatchObject({ action: 'keep', wouldCost: 3 });
  });

  test('a step that is pinned is not bought again because somebody asks', async () => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    expect(rowOf(campaign.plan({ redo: ['pic@p1'] }), 'pic@p1')).toMatchObject({ action: 'keep' });
  });

  test('goes along when the task gets another name', async () => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    campaign.graph = graphOf(chain('a').replaceAll('pic', 'shot'));
    await campaign.run();
    expect([...campaign.file.read().steps.keys()]).not.toContain('pic@p1');
    campaign.graph = graphOf(chain('a red').replaceAll('pic', 'shot'));
    expect(actionsOf(campaign.plan())).toMatchObject({ 'shot@p1': 'keep', 'shot@p2': 'redo', film: 'keep' });
  });

  test.each(['intent', 'unresolved'] as const)('does not hide a create whose answer was lost (%s)', async (state) => {
    const campaign = await bought();
    record(campaign, pinStep(matchOf(campaign, 'pic@p1'), 3));
    campaign.graph = graphOf(chain('a red'));
    const { fingerprint } = campaign.graph.steps.find(({ address }) => address === 'pic@p1') ?? { fingerprint: '' };
    const known = campaign.file.read().steps.get('pic@p1');
    const open = {
      fingerprint,
      generation: 2,
      attempt: 1,
      state,
      key: 'k',
      send: 's',
      since: '2000-01-01T00:00:00.000Z',
    };
    record(campaign, {
      is: 'recorded',
      address: 'pic@p1',
      text: '',
      records: [{ address: 'pic@p1', kind: 'image', purchases: [...(known?.purchases ?? []), open] }],
    });
    expect(rowOf(campaign.plan(), 'pic@p1')).toMatchObject({ action: 'unresolved' });
    expect(pinStep(matchOf(campaign, 'pic@p1'), 3)).toMatchObject({ is: expect.not.stringMatching('recorded') });
  });

  test('has nothing to hold where nothing was bought', () => {
    const campaign = new TestCampaign(chain('a'));
    expect(pinStep(matchOf(campaign, 'pic@p1'), 3)).toMatchObject({
      is: 'refused',
      text: 'has nothing that was bought',
    });
  });
});

describe('an acceptance', () => {
  test('keeps the output for this very input, and all that is made from it', async () => {
    const campaign = await bought();
    campaign.graph = graphOf(chain('a red'));
    expect(actionsOf(campaign.plan())).toEqual(changedRows);
    record(campaign, accept(campaign, 'pic@p1'));
    expect(actionsOf(campaign.plan())).toEqual({ ...changedRows, 'pic@p1': 'keep', film: 'keep', next: 'keep' });
    expect(rowOf(campaign.plan(), 'pic@p1')).toMatchObject({ accepted: true, credits: 0 });
    campaign.graph = graphOf(chain('a blue'));
    expect(rowOf(campaign.plan(), 'pic@p1')).toMatchObject({ action: 'redo' });
  });

  test('ends where the new input is bought after all', async () => {
    const campaign = await bought();
    campaign.graph = graphOf(chain('a red'));
    record(campaign, accept(campaign, 'pic@p1'));
    const redo = campaign.plan({ redo: ['pic@p1'] });
    expect(actionsOf(redo)).toEqual(changedRows);
    await campaign.run({ redo: ['pic@p1'] });
    expect(actionsOf(campaign.plan())).toEqual({ 'pic@p1': 'keep', 'pic@p2': 'keep', film: 'keep', next: 'keep' });
    expect(rowOf(campaign.plan(), 'pic@p1')).not.toHaveProperty('accepted');
  });

  test('of an edited file: whatever is bought later does not take its place', async () => {
    const campaign = await bought();
    const match = matchOf(campaign, 'pic@p2');
    const found = findAcceptable(match);
    const output = match.purchase?.outputs?.[0];
    if ('is' in found || output === undefined) throw new Error('there is nothing to accept');
    const edited = { ...output, sha256: 'e'.repeat(64), edited: true as const };
    record(
      campaign,
      acceptOutput(match, found, {
        seen: [{ path: output.path, file: { is: 'edited', output: edited } }],
        isUnfit: false,
      }),
    );
    campaign.outputs.files.set(output.path, edited.sha256);
    expect(rowOf(campaign.plan(), 'pic@p2')).toMatchObject({
      action: 'keep',
      reason: { code: 'up-to-date', text: 'up to date' },
    });
    const control = campaign.plan({ redo: ['pic@p1', 'pic@p2'] });
    expect(rowOf(control, 'pic@p1')?.order?.replaces).toHaveLength(1);
    expect(rowOf(control, 'pic@p2')?.order?.replaces).toEqual([]);
  });

  test('has nothing to say where everything is as the manifest asks', async () => {
    const campaign = await bought();
    expect(accept(campaign, 'pic@p1')).toMatchObject({ is: 'refused' });
    campaign.graph = graphOf(chain('a red'));
    record(campaign, accept(campaign, 'pic@p1'));
    expect(accept(campaign, 'pic@p1')).toMatchObject({ is: 'unchanged' });
  });
});

describe('what is forgotten', () => {
  test('is bought anew under another key, and still counts against the budget', async () => {
    const campaign = await bought();
    const spent = campaign.plan().totals.alreadyPaid;
    forget(campaign, 'pic@p2');
    expect(rowOf(campaign.plan(), 'pic@p2')).toMatchObject({ action: 'create', credits: 3 });
    expect(campaign.plan().totals.alreadyPaid).toBe(spent);
    await campaign.run();
    expect(campaign.plan().totals.alreadyPaid).toBe(spent + 3);
    const record = campaign.file.read().steps.get('pic@p2');
    expect(record?.purchases.map(({ generation }) => generation)).toEqual([2, 1]);
    expect(new Set(record?.purchases.map(({ jobId }) => jobId)).size).toBe(2);
    expect(new Set(record?.purchases.map(({ key }) => key)).size).toBe(2);
    expect(record && countedPurchases(record)).toHaveLength(1);
  });

  test('is no orphan any more, and stays in the lock', async () => {
    const campaign = await bought();
    campaign.graph = graphOf(chain('a').replace('[p1, p2]', '[p1]'));
    expect(actionsOf(campaign.plan())).toMatchObject({ 'pic@p2': 'orphan' });
    forget(campaign, 'pic@p2');
    expect(actionsOf(campaign.plan())).not.toHaveProperty('pic@p2');
    await campaign.run();
    expect(campaign.file.read().steps.get('pic@p2')?.purchases).toHaveLength(1);
  });

  test('stays forgotten when what was bought instead gets another name', async () => {
    const campaign = await bought();
    forget(campaign, 'pic@p2');
    campaign.graph = graphOf(chain('a red'));
    await campaign.run();
    campaign.graph = graphOf(chain('a red').replaceAll('pic', 'shot'));
    await campaign.run();
    campaign.graph = graphOf(chain('a').replaceAll('pic', 'shot'));
    expect(actionsOf(campaign.plan())).toMatchObject({ 'shot@p1': 'download', 'shot@p2': 'redo' });
  });

  test('is not found by a step that asks for the same', async () => {
    const campaign = await bought();
    const other = '  other: { kind: image, with: { prompt: "a p2" } }\n';
    campaign.graph = graphOf(`${chain('a').replace('[p1, p2]', '[p1]')}${other}`);
    expect(actionsOf(campaign.plan())).toMatchObject({ other: 'move' });
    forget(campaign, 'pic@p2');
    expect(actionsOf(campaign.plan())).toMatchObject({ other: 'create' });
  });
});
