import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, campaign as campaignOf } from '../../rig/review/campaign.ts';
import { openReview, openServed, serveCampaign } from '../../rig/review/open-page.ts';

const manifest = `version: 1
name: looks
tasks:
  hero: { kind: image, foreach: [lamp], key: "{{row}}", takes: 2, gate: { choose: 1 }, with: { resolution: 1k, prompt: "{{row}} on oak" } }
  concept: { kind: image, matrix: { style: [warm, cold] }, gate: { choose: 1, among: style }, with: { resolution: 1k, prompt: "a lamp in {{matrix.style}} light, nothing else" } }
  final: { kind: image, foreach: [lamp], key: "{{row}}", with: { resolution: 1k, prompt: finished, referenceImages: ["{{tasks.hero.url}}"] } }
`;

const browser = await chromiumOfFile();
const campaign = await serveCampaign(manifest, async ({ folder, run }) => {
  writeFileSync(`${folder}/campaign.yaml`, manifest.replace('on oak', 'on elm'));
  const { code, err } = await run('apply', 'campaign.yaml', '--sandbox', '--yes', '-s', 'hero@lamp/1');
  expect([0, 5], err).toContain(code);
});

test('say what is known: credits, job, file, verdict and note', async () => {
  const { page, press, isActive, data } = await openServed(browser, campaign);
  await isActive('hero@lamp/1');
  await press('i');
  const details = page.getByRole('complementary', { name: 'Details' });
  const [asset] = (await data()).assets;
  const file = asset?.files[0];
  const text = () => details.textContent();
  const first = await page.locator('.details .request dt').allTextContents();
  expect(first.slice(0, 2).map((name) => name.split(' ')[0])).toEqual(['prompt', 'model']);
  expect(await text()).toContain('alpha-2 (default)');
  expect(await text()).toContain(`Job${asset?.job}`);
  expect(await text()).toContain(`Charged${asset?.credits} credits`);
  expect(await text()).toContain(file?.path ?? '?');
  expect(await text()).toContain('output/hero-lamp-1.png');
  await press('p', 'i');
  expect(await details.count()).toBe(0);
  await press('[', 'ArrowLeft', 'i');
  await isActive('hero@lamp/1');
  await details.getByText('picked').waitFor();
  await press('n');
  await page.keyboard.type('the calm one');
  await press('Enter');
  await details.getByText('picked: the calm one').waitFor();
});

test('lead to what it is made from and what is made from it, also past a filter', async () => {
  const { page, press, isActive } = await openServed(browser, campaign);
  await press('i');
  const details = page.getByRole('complementary', { name: 'Details' });
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByRole('combobox', { name: 'Task' }).selectOption('hero');
  await page.locator('[data-asset="hero@lamp/1"]').click();
  await isActive('hero@lamp/1');
  await details.getByRole('button', { name: 'final@lamp' }).click();
  await isActive('final@lamp');
  await details.getByRole('heading', { name: 'Made from' }).waitFor();
  await details.getByRole('button', { name: 'hero@lamp/1' }).first().click();
  await isActive('hero@lamp/1');
});

test('lead to the earlier version: its picture, and what is known of its request', async () => {
  const { page, press, isActive } = await openServed(browser, campaign);
  await page.locator('[data-asset="hero@lamp/1"]').click();
  await isActive('hero@lamp/1');
  await press('i');
  await page.getByRole('complementary').getByRole('button', { name: 'Before | after' }).click();
  const before = page.getByRole('region', { name: /^Before, job/ });
  await before.locator('img').waitFor();
  await before.getByText('2 credits').waitFor();
  expect(await page.locator('.changed-words').textContent()).toBe('The lock has no request of this version.');
});

test('show what changed since, and each earlier version', async () => {
  const was = { job: 'job-0', credits: 2, files: [], request: { model: 'alpha', prompt: 'a lamp on oak' } };
  const own = {
    request: { model: 'alpha', prompt: 'a lamp on elm' },
    earlier: [
      { ...was, changed: ['prompt'] },
      { ...was, job: 'job-1', changed: [] },
    ],
  };
  const { page, press } = await openReview(browser, campaignOf([{ name: 'hero', assets: [asset('hero', own)] }]));
  await press('a');
  const words = page.getByRole('region', { name: 'What changed' });
  expect(await words.locator('dd').allTextContents()).toEqual(['a lamp on oak', 'a lamp on elm']);
  await page.getByText('no longer on this disk').waitFor();
  await page.getByRole('combobox', { name: 'Before' }).selectOption('1');
  await words.getByText('The request is the same').waitFor();
});
