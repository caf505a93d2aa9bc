import { describe, expect, test } from 'vitest';
import { actionsOf, graphOf, images, TestCampaign } from '../rig/campaign.ts';

describe('what a plan says', () => {
  test('a new campaign: everything is created, prices unknown until the first charge', () => {
    const campaign = new TestCampaign(images(3));
    const plan = campaign.plan();
    expect(actionsOf(plan)).toEqual({ 'pic@p1': 'create', 'pic@p2': 'create', 'pic@p3': 'create' });
    expect(plan.rows.map(({ credits }) => credits)).toEqual([null, null, null]);
    expect(plan.totals).toMatchObject({ toSpend: 0, unknownPrices: 3, alreadyPaid: 0, discarded: 0 });
  });

  test('after a run: nothing, and what was charged is the price', async () => {
    const campaign = new TestCampaign(images(3));
    await campaign.run();
    const plan = campaign.plan();
    expect(new Set(Object.values(actionsOf(plan)))).toEqual(new Set(['keep']));
    expect(plan.totals).toMatchObject({ toSpend: 0, unknownPrices: 0, alreadyPaid: 9 });
    campaign.graph = graphOf(images(4));
    expect(campaign.plan().rows.at(-1)).toMatchObject({ address: 'pic@p4', action: 'create', credits: 3 });
  });

  test('a changed prompt: redo, with the field, the words that differ and what is given up', async () => {
    const campaign = new TestCampaign(images(2));
    await campaign.run();
    campaign.graph = graphOf(images(2).replace('a {{row}}', 'a red {{row}}'));
    expect(campaign.plan().rows[0]).toMatchObject({
      action: 'redo',
      reason: 'prompt changed: “a p1” → “a red p1”',
      credits: 3,
      discards: 3,
    });
  });

  test('back to an older prompt: the job of then is found again', async () => {
    const campaign = new TestCampaign(images(1));
    await campaign.run();
    const first = campaign.graph;
    campaign.graph = graphOf(images(1).replace('a {{row}}', 'a red {{row}}'));
    await campaign.run();
    campaign.graph = first;
    expect(campaign.plan().rows[0]).toMatchObject({ action: 'download', credits: 0 });
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
    expect(actionsOf(campaign.plan())).toEqual({ 'pic@p1': 'keep' });
  });

  test('a renamed task moves, with its files, and the old records go', async () => {
    const campaign = new TestCampaign(images(2));
    await campaign.run();
    campaign.graph = graphOf(images(2).replace('pic:', 'picture:'));
    expect(actionsOf(campaign.plan())).toEqual({ 'picture@p1': 'move', 'picture@p2': 'move' });
    const before = campaign.service.requests.length;
    await campaign.run();
    expect(campaign.service.requests).toHaveLength(before);
    expect([...campaign.file.read().steps.keys()]).toEqual(['picture@p1', 'picture@p2']);
    expect([...campaign.outputs.files.keys()].sort()).toEqual(['output/picture-p1.png', 'output/picture-p2.png']);
    expect(actionsOf(campaign.plan())).toEqual({ 'picture@p1': 'keep', 'picture@p2': 'keep' });
  });

  test('two tasks that exchange their names exchange their jobs', async () => {
    const text = (a: string, b: string) => `version: 1
name: swap
tasks:
  ${a}: { kind: image, with: { prompt: red } }
  ${b}: { kind: image, with: { prompt: blue } }
`;
    const campaign = new TestCampaign(text('a', 'b'));
    await campaign.run();
    campaign.graph = graphOf(text('b', 'a'));
    expect(Object.values(actionsOf(campaign.plan()))).toEqual(['move', 'move']);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
    expect(new Set(Object.values(actionsOf(campaign.plan())))).toEqual(new Set(['keep']));
  });

  test('a missing file is fetched again, a damaged one too, both for nothing', async () => {
    const campaign = new TestCampaign(images(2));
    await campaign.run();
    campaign.outputs.files.delete('output/pic-p1.png');
    campaign.outputs.files.set('output/pic-p2.png', 'other');
    const plan = campaign.plan();
    expect(plan.rows.map(({ action, credits }) => [action, credits])).toEqual([
      ['download', 0],
      ['download', 0],
    ]);
    expect(plan.rows[0]?.reason).toBe('paid; output/pic-p1.png is missing');
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(2);
    expect(actionsOf(campaign.plan())).toEqual({ 'pic@p1': 'keep', 'pic@p2': 'keep' });
  });

  test('another save path moves the file, for nothing', async () => {
    const campaign = new TestCampaign(images(1));
    await campaign.run();
    campaign.graph = graphOf(images(1).replace('with:', 'save: "x/{{row}}", with:'));
    expect(campaign.plan().rows[0]).toMatchObject({
      action: 'move',
      reason: 'saved under a new name; was output/pic-p1.png',
    });
    await campaign.run();
    expect([...campaign.outputs.files.keys()]).toEqual(['x/p1.png']);
  });

  test('a step that is gone from the manifest is an orphan, and kept', async () => {
    const campaign = new TestCampaign(images(2));
    await campaign.run();
    campaign.graph = graphOf(images(1));
    expect(actionsOf(campaign.plan())).toEqual({ 'pic@p1': 'keep', 'pic@p2': 'orphan' });
    await campaign.run();
    expect([...campaign.file.read().steps.keys()]).toEqual(['pic@p1', 'pic@p2']);
    campaign.graph = graphOf(images(2));
    expect(new Set(Object.values(actionsOf(campaign.plan())))).toEqual(new Set(['keep']));
  });

  test('equal requests are one job', async () => {
    const campaign = new TestCampaign(`version: 1
name: same
tasks:
  one: { kind: image, with: { prompt: a dog } }
  two: { kind: image, with: { prompt: "a dog" } }
`);
    const plan = campaign.plan();
    expect(plan.rows.map(({ action, credits }) => [action, credits])).toEqual([
      ['create', null],
      ['download', 0],
    ]);
    expect(plan.rows[1]?.reason).toBe('same request as one: one job, shared');
    const { outcomes } = await campaign.run();
    expect(outcomes).toEqual({ one: 'done', two: 'done' });
    expect(campaign.service.ledger).toHaveLength(1);
    expect(campaign.plan().totals.alreadyPaid).toBe(3);
    expect([...campaign.outputs.files.keys()].sort()).toEqual(['output/one.png', 'output/two.png']);
  });

  test('takes are bought one by one, because that is what they are for', async () => {
    const campaign = new TestCampaign(`version: 1
name: takes
tasks:
  one: { kind: image, takes: 3, with: { prompt: a dog } }
`);
    await campaign.run();
    expect(campaign.service.ledger).toHaveLength(3);
    expect(new Set(campaign.service.ledger.map(({ key }) => key)).size).toBe(3);
  });

  test('a failed job is left alone until --redo asks', async () => {
    const campaign = new TestCampaign(images(1));
    campaign.service.endOf = () => ({ is: 'failed', error: 'moderated' });
    await campaign.run();
    expect(campaign.plan().rows[0]).toMatchObject({ action: 'failed', credits: 0 });
    expect(campaign.plan().rows[0]?.reason).toContain('moderated');
    campaign.service.endOf = () => undefined;
    expect(campaign.plan({ redo: ['pic@p1'] }).rows[0]).toMatchObject({ action: 'retry', credits: 3 });
    await campaign.run({ redo: ['pic@p1'] });
    expect(campaign.service.ledger).toHaveLength(2);
    expect(new Set(campaign.service.ledger.map(({ key }) => key)).size).toBe(2);
    expect(campaign.plan().totals.alreadyPaid).toBe(6);
    expect(actionsOf(campaign.plan())).toEqual({ 'pic@p1': 'keep' });
  });

  test('what needs a failed step is blocked', async () => {
    const campaign = new TestCampaign(`version: 1
name: chain
tasks:
  base: { kind: image, with: { prompt: base } }
  over: { kind: image, with: { prompt: over, referenceImages: ["{{tasks.base.url}}"] } }
`);
    campaign.service.endOf = () => ({ is: 'failed', error: 'no' });
    const { outcomes } = await campaign.run();
    expect(outcomes).toEqual({ base: 'failed', over: 'blocked' });
    expect(actionsOf(campaign.plan())).toEqual({ base: 'failed', over: 'blocked' });
    expect(campaign.service.ledger).toHaveLength(1);
  });

  test('a changed upstream prompt makes what is built on it new as well', async () => {
    const text = (prompt: string) => `version: 1
name: chain
tasks:
  base: { kind: image, with: { prompt: ${prompt} } }
  over: { kind: image, with: { prompt: over, referenceImages: ["{{tasks.base.url}}"] } }
`;
    const campaign = new TestCampaign(text('one'));
    await campaign.run();
    campaign.graph = graphOf(text('two'));
    expect(actionsOf(campaign.plan())).toEqual({ base: 'redo', over: 'redo' });
    await campaign.run();
    expect(campaign.service.creates.at(-1)?.body).toContain(campaign.service.ledger[2]?.jobId);
  });
});

describe('credits decide', () => {
  const chains = `version: 1
name: chains
budget: { credits: 12 }
tasks:
  a: { kind: music, with: { model: song-7.5, prompt: a } }
  b: { kind: music, with: { model: song-7.5, prompt: b } }
  c: { kind: music, needs: [a], with: { model: song-7.5, prompt: c } }
  d: { kind: music, needs: [b], with: { model: song-7.5, prompt: d } }
`;

  test('whole chains are bought before others are begun', () => {
    const plan = new TestCampaign(chains).plan();
    expect(actionsOf(plan)).toEqual({ a: 'create', b: 'create', c: 'create', d: 'blocked' });
    expect(plan.totals).toMatchObject({ toSpend: 12, budget: 12, budgetLeft: 12 });
    expect(plan.rows.find(({ address }) => address === 'd')?.reason).toBe('the credits do not reach: it costs 4');
    const smaller = new TestCampaign(chains.replace('12', '8')).plan();
    expect(Object.values(actionsOf(smaller)).sort()).toEqual(['blocked', 'blocked', 'create', 'create']);
    expect(actionsOf(smaller)).toMatchObject({ a: 'create', c: 'create' });
  });

  test('--max-credits caps one run, the budget all of them', async () => {
    const campaign = new TestCampaign(chains);
    await campaign.run({ maxCredits: 8 });
    expect(campaign.service.ledger.reduce((sum, { credits }) => sum + credits, 0)).toBeLessThanOrEqual(8);
    expect(campaign.plan({ maxCredits: 0 }).totals.toSpend).toBe(0);
  });
});
