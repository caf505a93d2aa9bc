import { existsSync } from 'node:fs';
import { firefox } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { products } from '../../rig/review/campaign.ts';
import { startPageHost } from '../../rig/review/open-page.ts';

const executablePath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

test.skipIf(!existsSync(executablePath))(
  'a cull by keys in Firefox, through every view (FIREFOX says where it is)',
  async () => {
    const host = await startPageHost(products(6, 4));
    onTestFinished(() => host.close());
    const browser = await firefox.launch({ channel: 'moz-firefox', executablePath });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const shows = (expression: string) => expect.poll(() => page.evaluate(expression));
    const active = "document.querySelector('.active[data-address]')?.dataset.address";
    const count = (selector: string) => `document.querySelectorAll('${selector}').length`;
    await page.goto(host.url);
    await shows(active).toBe('hero@p001,take:1');
    await press('2');
    await shows(active).toBe('hero@p002,take:1');
    await press('Enter');
    await shows(count('.loupe .filmstrip button')).toBe(4);
    await press('c');
    await shows(count('.pane')).toBe(2);
    await press('p');
    await shows("document.querySelector('.pane.right')?.dataset.address").toBe('hero@p002,take:3');
    await press('e');
    await shows("getComputedStyle(document.querySelector('.pane.right .pane-picture')).mixBlendMode").toBe(
      'difference',
    );
    await press('m');
    await shows(count('.matrix-asset')).toBe(24);
    await press('Escape', 'Escape', 'Escape', 'Escape');
    await shows(count('.tile .mark')).toBe(2);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280);
    await expect
      .poll(() => host.data.assets.flatMap(({ address, verdict }) => (verdict?.is === 'picked' ? [address] : [])))
      .toEqual(['hero@p001,take:2', 'hero@p002,take:1']);
  },
);
