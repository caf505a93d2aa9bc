import { expect, onTestFinished, test } from 'vitest';
import { hasFirefox, openFirefox } from '../../rig/firefox.ts';
import { products } from '../../rig/review/campaign.ts';
import { startPageHost } from '../../rig/review/open-page.ts';

/** Keys as WebDriver writes them. */
const keys = { enter: '\uE007', esc: '\uE00C' };

test.skipIf(!hasFirefox)('a cull by keys in Firefox, through every view (FIREFOX says where it is)', async () => {
  const host = await startPageHost(products(6, 4));
  onTestFinished(() => host.close());
  const page = await openFirefox();
  onTestFinished(() => page.close());
  const shows = (expression: string) => expect.poll(() => page.read(expression));
  const active = "document.querySelector('.active[data-address]')?.dataset.address";
  const count = (selector: string) => `document.querySelectorAll('${selector}').length`;
  await page.open(host.url);
  await shows(active).toBe('hero@p001,take:1');
  await page.press('2');
  await shows(active).toBe('hero@p002,take:1');
  await page.press(keys.enter);
  await shows(count('.loupe .filmstrip button')).toBe(4);
  await page.press('c');
  await shows(count('.pane')).toBe(2);
  await page.press('p');
  await shows("document.querySelector('.pane.right')?.dataset.address").toBe('hero@p002,take:3');
  await page.press('e');
  await shows("getComputedStyle(document.querySelector('.pane.right .pane-picture')).mixBlendMode").toBe('difference');
  await page.press('m');
  await shows(count('.matrix-asset')).toBe(24);
  await page.press(keys.esc, keys.esc, keys.esc, keys.esc);
  await shows(count('.tile .mark')).toBe(2);
  expect(await page.read('document.documentElement.scrollWidth')).toBe(1280);
  await expect
    .poll(() => host.data.assets.flatMap(({ address, verdict }) => (verdict?.is === 'picked' ? [address] : [])))
    .toEqual(['hero@p001,take:2', 'hero@p002,take:1']);
});
