import { existsSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

/** `axe.min.js`, where `MEDIABATCH_AXE` says; its licence keeps it out of the packages of this repository. */
const path = process.env.MEDIABATCH_AXE ?? '';
export const hasAxe = existsSync(path);

/** What axe finds in a page, as `rule: element`. */
export async function axeFindings(page: Page): Promise<string[]> {
  // As the page's policy forbids scripts of others, it is evaluated past it.
  await page.evaluate(readFileSync(path, 'utf8'));
  const { violations }: { violations: { id: string; nodes: { html: string }[] }[] } = await page.evaluate(
    // Else it asks for style sheets of other places, which the policy forbids.
    'axe.run({ preload: false })',
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
