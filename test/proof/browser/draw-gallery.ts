import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openChromium } from '../../rig/chromium.ts';
import { command, root, temporaryFolder } from '../../rig/command.ts';

/** Draws the gallery of a campaign for the README, from the sandbox: `npm run pictures`. Needs a Chromium. */
const folder = temporaryFolder();
const campaign = join(folder.path, 'aurora');
const run = async (...args: string[]) => {
  const { code, err } = await command([...args, '--sandbox'], { cwd: campaign });
  if (code !== 0) throw new Error(err);
};
await command(['init', 'aurora'], { cwd: folder.path });
await run('apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10');
await run('report', '--out', 'gallery');
const { browser, close } = await openChromium();
const page = await browser.newPage();
await page.setViewportSize({ width: 1200, height: 780 });
await page.goto(pathToFileURL(join(campaign, 'gallery/index.html')).href);
await page.locator('[data-address]').first().waitFor();
await page.waitForLoadState('networkidle');
await page.screenshot({ path: join(root, 'examples/gallery.jpg'), type: 'jpeg', quality: 72 });
await close();
folder.remove();
