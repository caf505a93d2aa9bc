import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openChromium } from '../../rig/chromium.ts';
import { command, root, temporaryFolder } from '../../rig/command.ts';

/** Draws the pictures of review page and gallery for the README, from the sandbox: `npm run pictures`. Needs a Chromium. */
const folder = temporaryFolder();
const { browser, close } = await openChromium();
const page = await browser.newPage();
await page.setViewportSize({ width: 1200, height: 780 });
const draw = (name: string, quality: number) =>
  page.screenshot({ path: join(root, `examples/${name}.jpg`), type: 'jpeg', quality });

/** An example that is bought; gives what runs further commands on it. */
async function bought(name: string, example: string) {
  const cwd = join(folder.path, name);
  const run = async (args: string[], onErr?: Parameters<typeof command>[1]['onErr']) => {
    const { code, err } = await command([...args, '--sandbox'], { cwd, ...(onErr && { onErr }) });
    if (code !== 0 && code !== 5) throw new Error(err);
  };
  await command(['init', name, '--example', example], { cwd: folder.path });
  await run(['apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10']);
  return { cwd, run };
}

const review = await bought('aurora-drafts', 'draft-to-final');
let end = () => {};
let show = (_url: string) => {};
const shown = new Promise<string>((resolve) => {
  show = resolve;
});
const ended = review.run(['review', '--no-open'], (seen, child) => {
  const url = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(seen)?.[0];
  end = () => child.kill('SIGINT');
  if (url !== undefined) show(url);
});
await page.goto(await shown);
await page.locator('.active[data-address]').waitFor();
await page.keyboard.press('2');
for (const [name = '', ...keys] of [['review'], ['review-compare', 'c', 'w']]) {
  for (const key of keys) await page.keyboard.press(key);
  // Nobody waits for this: pictures are made small, and the verdict is written.
  await page.waitForTimeout(5000);
  await draw(name, 60);
}
end();
await ended;

const gallery = await bought('aurora', 'quickstart');
await gallery.run(['report', '--out', 'gallery']);
await page.goto(pathToFileURL(join(gallery.cwd, 'gallery/index.html')).href);
await page.locator('[data-address]').first().waitFor();
await page.waitForLoadState('networkidle');
await draw('gallery', 72);
await close();
folder.remove();
