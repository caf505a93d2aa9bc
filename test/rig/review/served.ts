import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { ReviewData } from '../../../src/contract/review.ts';
import { type CommandResult, command, temporaryFolder } from '../command.ts';
import { complaintsOf } from './open-page.ts';

export interface ServedCampaign {
  /** Where the manifest is. */
  folder: string;
  url: string;
  run(...args: string[]): Promise<CommandResult>;
  /** Ends `review` as Ctrl-C does, and removes the folder. */
  stop(): Promise<CommandResult>;
}

/** A campaign that the embedded sandbox has made, and `review` at work on it: what a person has before the page. */
export async function serveCampaign(manifest: string, before?: (campaign: ServedCampaign) => Promise<void>) {
  const folder = temporaryFolder();
  writeFileSync(`${folder.path}/campaign.yaml`, manifest);
  const run = (...args: string[]) => command(args, { cwd: folder.path });
  const campaign: ServedCampaign = { folder: folder.path, url: '', run, stop: async () => ended };
  const applied = await run('apply', 'campaign.yaml', '--sandbox', '--yes');
  expect([0, 5], applied.err).toContain(applied.code);
  await before?.(campaign);

  let child: ChildProcess | undefined;
  let isServed = (_url: string) => {};
  const served = new Promise<string>((resolve) => {
    isServed = resolve;
  });
  const ended = command(['review', 'campaign.yaml', '--sandbox', '--no-open'], {
    cwd: folder.path,
    onErr(seen, process) {
      child = process;
      const url = /http:\S+/.exec(seen)?.[0];
      if (url !== undefined && seen.includes('Ctrl-C')) isServed(url);
    },
  });
  campaign.url = await Promise.race([served, ended.then(({ err }) => Promise.reject(new Error(err)))]);
  campaign.stop = async () => {
    child?.kill('SIGINT');
    const result = await ended;
    folder.remove();
    return result;
  };
  return campaign;
}

export interface ServedPage {
  page: Page;
  press(...keys: string[]): Promise<void>;
  isActive(address: string): Promise<void>;
  /** What the host has by now. */
  data(): Promise<ReviewData>;
}

/** Opens the page of a served campaign; it must neither complain nor ask anybody else. */
export async function openServed(browser: BrowserContext, { url }: ServedCampaign): Promise<ServedPage> {
  const page = await browser.newPage();
  const complaints = complaintsOf(page, url);
  onTestFinished(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  await page.locator('.active[data-address]').waitFor();
  return {
    page,
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    isActive: (address) => page.locator(`.active[data-address=${JSON.stringify(address)}]`).waitFor(),
    data: () => page.evaluate<ReviewData>("fetch('data.json').then((answer) => answer.json())"),
  };
}
