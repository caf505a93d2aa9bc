import { type BrowserContext, chromium } from 'playwright-core';
import { afterAll } from 'vitest';
import { temporaryFolder } from './command.ts';

/** A Chromium with a profile of its own, which goes away with it. `CHROMIUM` says where the program is. `more`: arguments. */
export async function openChromium(
  more: readonly string[] = [],
): Promise<{ browser: BrowserContext; close(): Promise<void> }> {
  const profile = temporaryFolder();
  const browser = await chromium.launchPersistentContext(profile.path, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
  return {
    browser,
    async close() {
      await browser.close();
      profile.remove();
    },
  };
}

/** One for the tests of a file. */
export async function chromiumOfFile(more: readonly string[] = []): Promise<BrowserContext> {
  const { browser, close } = await openChromium(more);
  afterAll(close);
  return browser;
}
