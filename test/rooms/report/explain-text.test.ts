import { expect, test } from 'vitest';
import { explainView } from '../../../src/report/plan/explain-text.ts';
import { graphOf, images, TestCampaign } from '../../rig/campaign.ts';
import { paste } from './paste.ts';
import { textOf } from './samples.ts';

function explain(campaign: TestCampaign, address: string): string {
  const row = campaign.plan().rows.find((candidate) => candidate.address === address);
  const step = campaign.graph.steps.find((candidate) => candidate.address === address);
  const record = campaign.file.read().steps.get(address);
  if (row === undefined || step === undefined) throw new Error(`no step ${address}`);
  return textOf(explainView({ row, step, ...(record && { record }) }, paste))
    .replace(/1:[0-9a-f]{64}/g, '1:…')
    .replace(/mb1-[0-9a-f]{40}/g, 'mb1-…')
    .replace(/job-[0-9a-f]{8}-1/g, 'job-1');
}

test('a step that is not bought yet', () => {
  expect(explain(new TestCampaign(images(1)), 'pic@p1')).toMatchInlineSnapshot(`
    "pic@p1  image  create: not bought yet

    spends       unknown until the first of its kind and size was charged
    saves to     output/pic-p1.…
    waits for    nothing
    fingerprint  1:…
    key          mb1-…

    request
      prompt: a p1
    "
  `);
});

test('a post leaves no file', () => {
  const text = `version: 1
name: test
tasks:
  share: { kind: post, with: { accountIds: [a1], caption: hello } }
`;
  const told = explain(new TestCampaign(text), 'share');
  expect(told).toContain('share  post  create: not posted yet');
  expect(told).not.toContain('saves to');
});

test('a changed step: both texts of the field that changed, and what is on record', async () => {
  const campaign = new TestCampaign(images(1));
  await campaign.run();
  campaign.graph = graphOf(images(1).replace('a {{row}}', 'a red {{row}}'));
  expect(explain(campaign, 'pic@p1')).toMatchInlineSnapshot(`
    "pic@p1  image  redo: prompt: “a p1” → “a red p1”

    spends       3 credits (as charged before: image/alpha-2/resolution=2k)
    discards     3 credits of paid work
    saves to     output/pic-p1.…
    waits for    nothing
    fingerprint  1:…
    key          mb1-…

    request
      - prompt: a p1
      + prompt: a red p1

    on record
      1.1 done, job job-1, 3 credits, output/pic-p1.png
    "
  `);
});
