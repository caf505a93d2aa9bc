import { join } from 'node:path';
import { openChromium } from '../../rig/chromium.ts';
import { command, root, temporaryFolder } from '../../rig/command.ts';

/** Draws the pictures of the README, from the sandbox: `npm run pictures`. Needs a Chromium. */
const folder = temporaryFolder();
const campaign = join(folder.path, 'aurora');
const run = async (...args: string[]) => {
  const { code, err } = await command([...args, '--sandbox'], { cwd: campaign });
  if (code !== 0 && code !== 5) throw new Error(err);
};
await command(['init', 'aurora', '--example', 'draft-to-final'], { cwd: folder.path });
await run('apply', '--yes', '--sandbox-speed', '10000', '--poll-interval', '10');
const { browser, close } = await openChromium();
const page = await browser.newPage();
await page.setViewportSize({ width: 1200, height: 780 });
let end = () => {};
let draw = (_url: string) => {};
const drawn = new Promise<string>((resolve) => {
  draw = resolve;
});
const ended = command(['review', '--sandbox', '--no-open'], {
  cwd: campaign,
  onErr(seen, child) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(seen)?.[0];
    end = () => child.kill('SIGINT');
    if (url !== undefined) draw(url);
  },
});
await page.goto(await drawn);
await page.locator('.active[data-address]').waitFor();
await page.keyboard.press('2');
for (const [name, ...keys] of [['review'], ['review-compare', 'c', 'w']]) {
  for (const key of keys) await page.keyboard.press(key);
  // Nobody waits for this: pictures are made small, and the verdict is written.
  await page.waitForTimeout(5000);
  await page.screenshot({ path: join(root, `examples/${name}.jpg`), type: 'jpeg', quality: 60 });
}
end();
await ended;
await close();
folder.remove();
