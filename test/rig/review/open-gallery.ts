import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { ReviewData } from '../../../src/contract/review.ts';
import { temporaryFolder } from '../command.ts';
import { writeGallery } from './gallery-folder.ts';
import { complaintsOf } from './open-page.ts';

export interface OpenGallery {
  page: Page;
  folder: string;
  /** Opens the page anew with this after `#`, as a link does that somebody was sent. */
  follow(hash: string): Promise<void>;
  press(...keys: string[]): Promise<void>;
  isActive(address: string): Promise<void>;
  /** Complaints like this are expected: something is broken on purpose. */
  expectTrouble(like: RegExp): void;
}

/** Opens a gallery as a folder on this disk. Fails the test when it complains, or asks for anything but its own files. */
export async function openGallery(
  browser: Browser | BrowserContext,
  data: ReviewData,
  hash = '',
): Promise<OpenGallery> {
  const folder = temporaryFolder();
  const url = writeGallery(folder.path, data);
  const page = await browser.newPage();
  const complaints = complaintsOf(page, pathToFileURL(folder.path).href);
  let expected = /^$/;
  onTestFinished(async () => {
    await page.close();
    folder.remove();
    expect(complaints.filter((one) => one !== 'asked about:blank' && !expected.test(one))).toEqual([]);
  });
  const follow = async (to: string) => {
    await page.goto('about:blank');
    await page.goto(`${url}${to}`);
    await page.locator('main').waitFor();
  };
  await follow(hash);
  return {
    page,
    folder: folder.path,
    follow,
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    isActive: (address) => page.locator(`.active[data-address=${JSON.stringify(address)}]`).waitFor(),
    expectTrouble(like) {
      expected = like;
    },
  };
}
