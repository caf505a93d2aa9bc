import { expect, test } from 'vitest';
import type { ReviewData } from '../../../src/contract/review.ts';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { asset, campaign, file } from '../../rig/review/campaign.ts';
import { axeFindings, hasAxe, openReview } from '../../rig/review/open-page.ts';

const browser = await chromiumOfFile();

const hostile = [
  '<img src=x onerror=alert(1)>',
  '<script>alert(1)</script>',
  '"><svg onload=alert(1)>',
  "'-alert(1)-'",
  'javascript:alert(1)',
  '</script><script>alert(1)</script>',
  '{{constructor.constructor("alert(1)")()}}',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '\u202e<b>gnp.exe</b>',
];

/** Every text of the data is hostile, except what names one thing to another. */
function hostileData(): ReviewData {
  const groups = hostile.map((text, index) => {
    const own = {
      files: [file(index, 'image', { path: text })],
      ...{ task: text, kind: text, key: text, row: text, tags: [text], matrix: { [text]: text }, error: text },
      ...{ request: { [text]: text, prompt: text }, differs: [text], job: text, madeFrom: [text], usedBy: [text] },
      verdict: { is: 'rejected' as const, note: text },
    };
    const failed = { ...own, files: [], state: 'failed' as const, isJudged: false };
    const lost = { ...own, files: [file(index + 50, 'image', { path: text, problem: 'missing' as const })] };
    return {
      name: text,
      assets: [asset(`${text}1`, own), asset(`${text}2`, failed), asset(`${text}3`, lost)],
      options: { note: text },
    };
  });
  const [first = ''] = hostile;
  return campaign(groups, { campaign: first, file: first, run: { is: 'running', text: first } });
}

test('hostile prompts, addresses, errors, notes and file names stay text in every view', async () => {
  const { page, host, press } = await openReview(browser, hostileData());
  expect(await page.locator('h1').textContent()).toBe(hostile[0]);
  for (const address of hostile) host.refuses.set(`${address}1`, address);
  for (const view of ['Groups', 'Loupe', 'Compare', 'Matrix']) {
    await page.getByRole('navigation').getByRole('button', { name: view }).click();
    for (let n = 0; n < hostile.length; n += 1) await press(']');
    await press('i', 'p', 'n');
    await page.keyboard.type('<b>');
    await press('Enter', 'i');
    for (let n = 0; n < hostile.length; n += 1) await press('[');
  }
  await page
    .getByRole('alert')
    .getByText(hostile[0] ?? '')
    .first()
    .waitFor();
  expect(await page.locator('#app script, #app iframe, #app svg[onload], #app b, #app img[src="x"]').count()).toBe(0);
});

function oneOfEach(): ReviewData {
  const verdicts = [{ is: 'picked' as const, note: 'warm' }, { is: 'rejected' as const }];
  return campaign(
    [
      {
        name: 'hero@lamp',
        assets: [1, 2, 3].map((take) => {
          const verdict = verdicts[take - 1];
          return asset(`hero@lamp,take:${take}`, { files: [file(take)], ...(verdict && { verdict }) });
        }),
        options: { note: 'the lamp stands left' },
      },
      {
        name: 'hero@rug',
        assets: [
          asset('hero@rug,take:1', { files: [file(10)] }),
          asset('hero@rug,take:2', { state: 'running', isJudged: false }),
          asset('hero@rug,take:3', { state: 'failed', error: 'refused by moderation', isJudged: false }),
          asset('hero@rug,take:4', { files: [file(11, 'image', { path: 'broken' })] }),
        ],
      },
      {
        name: 'song',
        assets: [asset('song', { kind: 'music', files: [file(20, 'audio')] })],
        options: { is: 'approve' },
      },
      {
        name: 'logo',
        assets: [asset('logo', { kind: 'upload', files: [file(30)], isJudged: false })],
        options: { isFree: true },
      },
    ],
    { run: { is: 'running', text: '31 of 48 done' } },
  );
}

test.skipIf(!hasAxe).each(['light', 'dark'] as const)(
  'axe finds nothing in any view, %s, wide and at 200% zoom (MEDIABATCH_AXE says where axe.min.js is)',
  async (colorScheme) => {
    const { page, host, press, expectTrouble } = await openReview(browser, oneOfEach());
    expectTrouble();
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 640, height: 400 },
    ]) {
      await page.setViewportSize(viewport);
      for (const view of ['Groups', 'Loupe', 'Compare', 'Matrix']) {
        await page.getByRole('navigation').getByRole('button', { name: view }).click();
        found.push(...(await axeFindings(page)).map((one) => `${view} ${viewport.width} ${one}`));
      }
      await page.getByRole('navigation').getByRole('button', { name: 'Groups' }).click();
      await page.keyboard.press('?');
      found.push(...(await axeFindings(page)).map((one) => `help ${one}`));
      await page.keyboard.press('Escape');
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    host.refuses.set('hero@lamp,take:3', 'was bought anew');
    await press('3');
    await page.getByRole('alert').getByText('Removed').waitFor();
    host.mode = 'held';
    await press('1', 'ArrowLeft');
    await page.locator('[data-asset="hero@lamp,take:1"]').click();
    await press('n');
    await page.getByText(/waits? in this page/).waitFor();
    found.push(...(await axeFindings(page)).map((one) => `messages ${one}`));
    expect(found).toEqual([]);
  },
);
