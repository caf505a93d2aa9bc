import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { chromiumOfFile } from '../../rig/chromium.ts';
import { type CommandResult, command, readLines, root, temporaryFolder } from '../../rig/command.ts';
import { complaintsOf } from '../../rig/review/open-page.ts';
import { serviceHere } from '../../rig/service-here.ts';

const browser = await chromiumOfFile();

const manifest = `version: 1
name: aurora
budget: { credits: 200 }
tasks:
  draft:
    kind: image
    foreach: [{ sku: lamp }, { sku: rug }, { sku: vase }]
    key: "{{row.sku}}"
    takes: 3
    gate: { choose: 1 }
    with: { prompt: "{{row.sku}} on oak", resolution: 1k }
  final:
    kind: image
    foreach: [{ sku: lamp }, { sku: rug }, { sku: vase }]
    key: "{{row.sku}}"
    with: { prompt: "{{row.sku}}, finished", referenceImages: ["{{tasks.draft.url}}"], resolution: 2k }
`;

const onTerminal = pathToFileURL(join(root, 'test/rig/on-terminal.mjs')).href;

interface Line {
  address: string;
  decisions?: { verdicts?: { is: string }[] };
}

/** A command that serves the page, begun in an empty folder, by a person on a terminal; its page, and the books of the service. */
async function start(args: string[], text: string, speed: number) {
  const folder = temporaryFolder();
  const service = await serviceHere({ speed });
  writeFileSync(join(folder.path, 'campaign.yaml'), text);
  let child: ChildProcess | undefined;
  let ended: Promise<CommandResult> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    ended = command(args, {
      cwd: folder.path,
      env: { ...service.env, TERM: 'xterm', NO_COLOR: '1', MEDIABATCH_REVIEW_PORT: '0' },
      preload: onTerminal,
      onErr(seen, process) {
        child = process;
        const found = /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//.exec(seen)?.[0];
        if (found !== undefined) resolve(found);
      },
    });
    ended.then(({ err }) => reject(new Error(err)), reject);
  });
  const page = await browser.newPage();
  const complaints = complaintsOf(page, url);
  onTestFinished(async () => {
    child?.kill('SIGINT');
    await ended;
    await page.close();
    await service.close();
    folder.remove();
  });
  await page.goto(url);
  await page.locator('.active[data-address]').waitFor();
  return { folder: folder.path, service, page, ended, complaints };
}

const startRun = () => start(['apply', 'campaign.yaml', '--review', '--yes'], manifest, Number.POSITIVE_INFINITY);
/** A video takes long enough for a person to decide meanwhile. */
const startReview = () =>
  start(
    ['review', 'campaign.yaml', '--no-open'],
    `${manifest}  film: { kind: video, with: { prompt: a slow pan } }\n`,
    3,
  );

const pickedOf = (folder: string) =>
  readLines<Line>(join(folder, 'campaign.lock.jsonl'))
    .filter(({ decisions }) => decisions?.verdicts?.some(({ is }) => is === 'picked'))
    .map(({ address }) => address);

const isActive = (page: Page, address: string) =>
  page.locator(`.active[data-address=${JSON.stringify(address)}]`).waitFor();

async function expectPaidOnce({ folder, service, ended, complaints }: Awaited<ReturnType<typeof startRun>>) {
  const result = await ended;
  expect(result?.code, result?.err).toBe(0);
  const prompts = service.ledger().map(({ body }) => String(body.prompt ?? ''));
  expect(prompts.filter((prompt) => prompt.endsWith('on oak'))).toHaveLength(9);
  expect(prompts.filter((prompt) => prompt.endsWith('finished')).sort()).toEqual([
    'lamp, finished',
    'rug, finished',
    'vase, finished',
  ]);
  expect(complaints.filter((text) => !text.includes('ERR_'))).toEqual([]);
  return pickedOf(folder);
}

test('draft, pick, final in one command with keys alone; each job is paid once', async () => {
  const run = await startRun();
  const { page } = run;
  await page.locator('[data-address="draft@vase/3"] img').waitFor();
  await page.locator('.tile img').nth(8).waitFor();
  await isActive(page, 'draft@lamp/1');
  await page.keyboard.press('2');
  await isActive(page, 'draft@rug/1');
  await page.keyboard.press('x');
  await isActive(page, 'draft@rug/2');
  await page.keyboard.press('Enter');
  await page.locator('.loupe').waitFor();
  await page.keyboard.press('p');
  await isActive(page, 'draft@vase/1');
  await page.keyboard.press('3');
  expect(await expectPaidOnce(run)).toEqual(['draft@lamp/2', 'draft@rug/2', 'draft@vase/3']);
});

test('a run in another process: its takes appear, and what is decided meanwhile is recorded when it ends', async () => {
  const run = await startReview();
  const { page, folder, service } = run;
  const applied = command(['apply', 'campaign.yaml', '--yes'], { cwd: folder, env: service.env });
  await page.getByRole('button', { name: 'Pick draft@' }).first().waitFor();
  const first = await page.getByRole('button', { name: 'Pick draft@' }).first().textContent();
  const address = first?.replace(/^.*Pick /, '') ?? '';
  await page.getByRole('button', { name: `Pick ${address}` }).click();
  await page.getByText('1 verdict waits in this page').waitFor();
  expect(pickedOf(folder)).toEqual([]);
  expect((await applied).code).toBe(5);
  await expect.poll(() => pickedOf(folder), { timeout: 15_000 }).toEqual([address]);
  await expect.poll(() => page.getByText(/waits? in this page/).count()).toBe(0);
  expect(service.ledger()).toHaveLength(10);
});
