import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCampaign } from '../../src/campaign/open-campaign.ts';
import { openPlanDesk } from '../../src/cli/plan-desk.ts';
import { listApprovals } from '../../src/disk/state/own-files.ts';
import { temporaryFolder } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { runInProcess } from './in-process.ts';

const manifest = `version: 1
name: shop
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b], key: "{{row}}", with: { prompt: "a lamp {{row}}", resolution: 1k } }
`;

/** A folder with saved plans, and the review page of its lock on a terminal at which a person sits. */
async function pageHere(...names: string[]) {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(folder, 'campaign.yaml'), manifest);
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
  for (const name of names) {
    const { code, err } = await runInProcess(['plan', '--sandbox', '--out', name], env, folder);
    expect(code, err).toBe(0);
  }
  const { terminal, said } = bufferTerminal();
  const paste = () => 'mediabatch apply shop.plan.json';
  const person = { ...terminal, interactive: true, paste };
  const campaign = await openCampaign('campaign.yaml', { sandbox: true });
  return { folder, said, campaign, terminal, person, desk: openPlanDesk(campaign, person, {}) };
}

test('a saved plan is shown as a terminal shows it, and approved for its lock', async () => {
  const { desk, said } = await pageHere('shop.plan.json');
  const [plan, ...others] = (await desk?.list()) ?? [];
  if (plan === undefined) throw new Error('no plan');
  expect(others).toEqual([]);
  expect(plan).toMatchObject({ path: 'shop.plan.json', what: '4 credits' });
  expect(plan.text).toMatch(/hero/);
  expect(await listApprovals()).toEqual([]);
  expect(await desk?.approve(plan)).toMatch(/^approved by .* until .*; to do it: mediabatch apply shop\.plan\.json$/);
  expect(await listApprovals()).toMatchObject([{ digest: plan.digest, campaign: 'shop', what: '4 credits' }]);
  expect(said.err).toContain('approved on the page: shop.plan.json, 4 credits');
  expect(await desk?.list()).toEqual([]);
});

test('a plan that was changed after it was shown, or buys something else by now, is not approved (MB3102)', async () => {
  const { desk, folder } = await pageHere('shop.plan.json');
  const [plan] = (await desk?.list()) ?? [];
  if (plan === undefined) throw new Error('no plan');
  const other = { ...plan, what: '2 credits' };
  await expect(desk?.approve(other)).rejects.toMatchObject({ failure: { code: 'MB3102' } });
  const path = join(folder, 'shop.plan.json');
  const document = JSON.parse(readFileSync(path, 'utf8'));
  document.rows[0].reason.text = 'another one';
  writeFileSync(path, JSON.stringify(document));
  await expect(desk?.approve(plan)).rejects.toMatchObject({ failure: { code: 'MB3102' } });
  expect(await listApprovals()).toEqual([]);
});

test('a plan that is stale, or for another lock, is not offered', async () => {
  const { desk, folder, person } = await pageHere('shop.plan.json');
  const real = await openCampaign('campaign.yaml', {});
  expect(await openPlanDesk(real, person, {})?.list()).toEqual([]);
  writeFileSync(join(folder, 'campaign.yaml'), manifest.replace('a lamp', 'a vase'));
  expect(await desk?.list()).toEqual([]);
});

test('approve without a plan names the one that is here', async () => {
  const { folder } = await pageHere('shop.plan.json');
  const { code, err } = await runInProcess(['approve'], {}, folder);
  expect(code).toBe(64);
  expect(err).toMatch(/no plan is named\n.*the one that is here: mediabatch approve shop\.plan\.json\n/);
});

test('where nobody sits at a terminal, or a program is at the keys, nothing can be approved', async () => {
  const { campaign, terminal, person } = await pageHere();
  expect(openPlanDesk(campaign, terminal, {})).toBeUndefined();
  expect(openPlanDesk(campaign, person, { AI_AGENT: 'x' })).toBeUndefined();
});
