import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { ReviewData } from '../../../src/contract/review.ts';
import { type PageHost, startPageHost } from './page-host.ts';

export interface OpenPage {
  readonly page: Page;
  readonly host: PageHost;
  /** The address of what is active, as it is outlined. */
  active(): Promise<string | null>;
  /** Waits until this address is active. */
  isActive(address: string): Promise<void>;
  /** Presses keys, one after the other. */
  press(...keys: string[]): Promise<void>;
  /** From here on the page may complain: something is broken on purpose. */
  expectTrouble(): void;
}

/** Opens the page at a host in memory. Fails the test when the page complains or asks anybody else. */
export async function openReview(browser: BrowserContext, data: ReviewData): Promise<OpenPage> {
  const host = await startPageHost(data);
  const page = await browser.newPage();
  const complaints = complaintsOf(page, host.url);
  let hasTrouble = false;
  onTestFinished(async () => {
    await page.close();
    host.close();
    if (!hasTrouble) expect(complaints).toEqual([]);
  });
  await page.goto(host.url);
  await page.locator('.active[data-address]').waitFor();
  return {
    page,
    host,
    active: () => page.locator('.active[data-address]').getAttribute('data-address'),
    isActive: (address) => page.locator(`.active[data-address=${JSON.stringify(address)}]`).waitFor(),
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    expectTrouble() {
      hasTrouble = true;
    },
  };
}

/** Everything that a page should not do, as it does it: messages, errors, dialogs, requests that leave. */
export function complaintsOf(page: Page, home: string): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    if (dialog.type() === 'beforeunload') return;
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on('request', (request) => {
    if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(home)) {
      complaints.push(`asked ${request.url()}`);
    }
  });
  return complaints;
}
