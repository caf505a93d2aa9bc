import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JudgeAnswer, ReviewAsset, ReviewData, WantedVerdict } from '../../../src/contract/review.ts';
import { root } from '../command.ts';
import { drawPng, silentWav } from './png.ts';

/** What the real host sends; the page has to live with it. */
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'";

export const html =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
  '<title>mediabatch</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="page.css"><script defer src="page.js"></script>' +
  '<body><div id="app"><h1>aurora-launch</h1></div></body></html>';

export interface PageHost {
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
  /** Ends the connections over which changes are told. */
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
