import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import type { JudgeAnswer, ReviewAsset, ReviewData, WantedVerdict } from '../../../src/contract/review.ts';
import { type CommandResult, command, root, temporaryFolder } from '../command.ts';
import { drawPng, silentWav } from './png.ts';

export interface QuietPage {
  readonly page: Page;
  /** The address of what is active, as it is outlined. */
  active(): Promise<string | null>;
  /** Waits until this address is active. */
  isActive(address: string): Promise<void>;
  /** Presses keys, one after the other. */
  press(...keys: string[]): Promise<void>;
  /** From here on the page may complain like this: something is broken on purpose. */
  expectTrouble(like?: RegExp): void;
}

/** A new page, which is closed with the test. Fails the test when the page complains or asks for anything but `home`. */
export async function openQuietPage(browser: Browser | BrowserContext, home: string): Promise<QuietPage> {
  const page = await browser.newPage();
  const complaints = complaintsOf(page, home);
  let expected = /^asked about:blank$/;
  onTestFinished(async () => {
    await page.close();
    expect(complaints.filter((one) => !expected.test(one))).toEqual([]);
  });
  return {
    page,
    active: () => page.locator('.active[data-address]').getAttribute('data-address'),
    isActive: (address) => page.locator(`.active[data-address=${JSON.stringify(address)}]`).waitFor(),
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    expectTrouble(like = /^/) {
      expected = new RegExp(`${expected.source}|${like.source}`);
    },
  };
}

/** Opens the page at a host in memory. */
export async function openReview(
  browser: BrowserContext,
  data: ReviewData,
): Promise<QuietPage & { readonly host: PageHost }> {
  const host = await startPageHost(data);
  onTestFinished(() => host.close());
  const quiet = await openQuietPage(browser, host.url);
  await quiet.page.goto(host.url);
  await quiet.page.locator('.active[data-address]').waitFor();
  return { ...quiet, host };
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

/** What the real host sends; the page has to live with it. */
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'";

export const html =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
  '<title>mediabatch</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="page.css"><script defer src="page.js"></script>' +
  '<body><div id="app"><h1>aurora-launch</h1></div></body></html>';

interface PageHost {
  readonly url: string;
  data: ReviewData;
  /** `held`: another run has the lock. `down`: answers nothing. */
  mode: 'open' | 'held' | 'down';
  /** Pictures are sent when it is fulfilled; small ones at once. */
  media?: Promise<void>;
  /** Refuses verdicts about these addresses, with these words. */
  readonly refuses: Map<string, string>;
  /** Batches that arrived, recorded or not. */
  readonly batches: WantedVerdict[][];
  /** Replaces the data and tells the page. */
  change(next: (data: ReviewData) => ReviewData): void;
  /** Ends the connections over which changes are sent. */
  disconnect(): void;
  close(): void;
}

/** A host in memory: it records by the rules of the contract, without a lock. */
export async function startPageHost(first: ReviewData): Promise<PageHost> {
  const listeners = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    answer(host, listeners, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host: PageHost = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token/`,
    data: first,
    mode: 'open',
    refuses: new Map(),
    batches: [],
    change(next) {
      host.data = { ...next(host.data), revision: host.data.revision + 1 };
      for (const listener of listeners) {
        listener.write(`event: change\ndata: ${JSON.stringify({ revision: host.data.revision })}\n\n`);
      }
    },
    disconnect() {
      for (const listener of listeners) listener.destroy();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return host;
}

async function answer(
  host: PageHost,
  listeners: Set<ServerResponse>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').replace(/^\/token\//, '');
  const send = (type: string, body: string | Buffer, status = 200) =>
    response
      .writeHead(status, { 'content-type': type, 'content-security-policy': policy, 'cache-control': 'no-store' })
      .end(body);
  if (host.mode === 'down') return void response.destroy();
  if (path.startsWith('media/')) await host.media;
  if (path === '') return void send('text/html', html);
  if (path === 'page.js') {
    return void send('text/javascript', readFileSync(join(root, 'dist/page', path)));
  }
  if (path === 'icon.svg') return void send('image/svg+xml', readFileSync(join(root, 'dist/page/icon.svg')));
  if (path === 'page.css') return void send('text/css', readFileSync(join(root, 'dist/page/page.css')));
  if (path === 'data.json') return void send('application/json', JSON.stringify(host.data));
  if (path === 'changes') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': open\n\n');
    listeners.add(response);
    response.on('close', () => listeners.delete(response));
    return;
  }
  if (path === 'verdicts') {
    const { verdicts } = (await jsonOf(request)) as { verdicts: WantedVerdict[] };
    const verdict = judge(host, verdicts);
    return void send('application/json', JSON.stringify(verdict), verdict.is === 'held' ? 423 : 200);
  }
  const number = Number(/^(?:media|thumb)\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  const asked = host.data.assets.flatMap(({ files }) => files).find(({ url }) => url === `media/${number}`);
  if (asked === undefined) return void send('application/json', '{"error":{"text":"is not here"}}', 404);
  if (asked.path.endsWith('broken')) return void send(asked.mediaType, 'no picture');
  if (asked.is === 'audio') {
    // As the real server does: a browser seeks only where it can ask for a part.
    const sound = silentWav(8);
    const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.setHeader('content-range', `bytes ${from}-${sound.length - 1}/${sound.length}`);
    return void send('audio/wav', sound.subarray(from), request.headers.range === undefined ? 200 : 206);
  }
  const height = asked.path.includes('tall') ? 16 / 9 : 3 / 4;
  return void send('image/png', pictureOf(number, path.startsWith('thumb') ? 128 : 512, height));
}

const pictures = new Map<string, Buffer>();

/** `height`: as a part of its width. */
function pictureOf(number: number, size: number, height: number): Buffer {
  const name = `${number % 64}-${size}-${height}`;
  const picture = pictures.get(name) ?? drawPng(size, Math.round(size * height), (number * 37) % 256);
  pictures.set(name, picture);
  return picture;
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

function judge(host: PageHost, verdicts: WantedVerdict[]): JudgeAnswer {
  host.batches.push(verdicts);
  if (host.mode === 'held') return { is: 'held', text: 'another run has the lock' };
  const refused = verdicts.flatMap(({ address }) => {
    const text = host.refuses.get(address);
    return text === undefined ? [] : [{ address, text }];
  });
  for (const verdict of verdicts) {
    if (!host.refuses.has(verdict.address)) host.data = record(host.data, verdict);
  }
  host.change((data) => data);
  return { is: 'recorded', revision: host.data.revision, refused };
}

function record(data: ReviewData, { address, is, note, reason }: WantedVerdict): ReviewData {
  const at = data.assets.findIndex((one) => one.address === address);
  const group = data.groups.find(({ members }) => members.includes(at));
  const gate = group?.gate;
  if (group === undefined || gate === undefined) return data;
  const assets = data.assets.map((one, index): ReviewAsset => {
    const { verdict, ...rest } = one;
    if (index === at)
      return is === 'undecided'
        ? rest
        : { ...rest, verdict: { is, ...(note !== undefined && { note }), ...(reason !== undefined && { reason }) } };
    const gives = is === 'picked' && gate.choose === 1 && group.members.includes(index) && verdict?.is === 'picked';
    return gives ? rest : one;
  });
  const members = group.members.flatMap((member) => assets[member] ?? []);
  const picked = members.filter((one) => one.verdict?.is === 'picked').length;
  const left = members.filter((one) => one.verdict?.is !== 'rejected').length;
  const state = picked === gate.choose ? 'decided' : left < gate.choose ? 'rejected' : 'open';
  const groups = data.groups.map((one) => (one === group ? { ...one, gate: { ...gate, state } as const } : one));
  return { ...data, assets, groups };
}

export interface ServedCampaign {
  /** Where the manifest is. */
  folder: string;
  url: string;
  run(...args: string[]): Promise<CommandResult>;
}

/** A campaign that the sandbox has made, and `review` at work on it as long as the tests of a file run: what a person has before the page. */
export async function serveCampaign(manifest: string, before?: (campaign: ServedCampaign) => Promise<void>) {
  const folder = temporaryFolder();
  writeFileSync(`${folder.path}/campaign.yaml`, manifest);
  const run = (...args: string[]) => command(args, { cwd: folder.path });
  const campaign: ServedCampaign = { folder: folder.path, url: '', run };
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
  afterAll(async () => {
    child?.kill('SIGINT');
    await ended;
    folder.remove();
  });
  campaign.url = await Promise.race([served, ended.then(({ err }) => Promise.reject(new Error(err)))]);
  return campaign;
}

/** Opens the page of a served campaign. `data`: what the host has by now. */
export async function openServed(
  browser: BrowserContext,
  { url }: ServedCampaign,
): Promise<QuietPage & { data(): Promise<ReviewData> }> {
  const quiet = await openQuietPage(browser, url);
  await quiet.page.goto(url);
  await quiet.page.locator('.active[data-address]').waitFor();
  const data = () => quiet.page.evaluate<ReviewData>("fetch('data.json').then((answer) => answer.json())");
  return { ...quiet, data };
}

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
