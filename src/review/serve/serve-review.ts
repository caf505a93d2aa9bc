import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { failureOf } from '../../contract/failure.ts';
import type { ReviewChange, ReviewData, ReviewHost } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';
import { adviceText, type Paste } from '../../report/advice-text.ts';
import { largeSide, Thumbs } from '../thumbs/thumbs.ts';
import {
  answer,
  answerJson,
  answerProblem,
  answerZipped,
  Changes,
  refuse,
  sendFile,
  WholeFiles,
  type Zipped,
  zip,
} from './answer.ts';
import { describeChange, NumberedFiles } from './describe-change.ts';
import { indexHtml, pageFiles, readPageFile } from './page-files.ts';
import { checkRequest, readBody, readVerdicts } from './read-request.ts';

interface ServeOptions {
  port?: number | undefined;
  state: string;
  paste: Paste;
  onError(error: unknown): void;
}

export interface RunningReview {
  /** URL such as `http://127.0.0.1:41877/TOKEN/`. The token grants read access and the right to decide. */
  url: string;
  /**
   * URL that redirects to `url` only once and within a minute, because process listings show this URL to other users of
   * this machine.
   */
  entrance: string;
  settle(): Promise<void>;
  close(): Promise<void>;
}

const quietMs = 400;
const settlesWithinMs = 2000;

const entranceMs = 60_000;

/** Maximum number of connections. The rest of the file descriptors are for a run in this process. */
const mostConnections = 2000;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

export async function serveReview(host: ReviewHost, options: ServeOptions): Promise<RunningReview> {
  const [token, entrance] = [makeToken(), makeToken()];
  const review = new Review(host, { token, entrance }, options);
  const server = createServer(
    {
      ...{ maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 60_000 },
      connectionsCheckingInterval: 2000,
    },
    (request, response) => void review.handle({ request, response }),
  );
  server.maxConnections = mostConnections;
  await listen(server, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${token}/`,
    entrance: `http://127.0.0.1:${port}/${entrance}/`,
    settle: () => review.settle(),
    async close() {
      await review.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function makeToken(): string {
  return randomBytes(16).toString('hex');
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // I29
    server.listen({ host: '127.0.0.1', port, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

class Review {
  readonly #host: ReviewHost;
  readonly #token: string;
  #entrance: string | undefined;
  readonly #entranceEndsAt = performance.now() + entranceMs;
  readonly #options: ServeOptions;
  readonly #files = new NumberedFiles();
  readonly #wholeFiles = new WholeFiles();
  readonly #thumbs: Thumbs;
  readonly #changes = new Changes();
  readonly #stopWatching: () => void;
  readonly #writing = new Set<Promise<unknown>>();
  #askedAt = 0;
  #whole: { revision: number; body: Promise<Zipped> } | undefined;
  #change: ReviewChange | undefined;
  #latest: ReviewData | undefined;

  constructor(host: ReviewHost, { token, entrance }: { token: string; entrance: string }, options: ServeOptions) {
    this.#host = host;
    this.#token = token;
    this.#entrance = entrance;
    this.#options = options;
    this.#thumbs = new Thumbs(options.state);
    this.#stopWatching = host.watch(() => void this.#sendChange());
  }

  async settle(): Promise<void> {
    const since = performance.now();
    this.#askedAt = since;
    const isBusy = () => performance.now() - this.#askedAt < quietMs && performance.now() - since < settlesWithinMs;
    while (this.#changes.hasListeners && isBusy()) await delay(50);
  }

  async handle(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    this.#askedAt = performance.now();
    // The client may close the connection at any time.
    response.on('error', () => undefined);
    const asked = checkRequest(request, this.#token);
    if (asked === undefined) return this.#admit(exchange);
    const { method, path } = asked;
    try {
      if (method === 'POST') await this.#post(exchange, path);
      else await this.#get(exchange, path);
    } catch (error) {
      this.#fail(response, error);
    }
  }

  async close(): Promise<void> {
    this.#stopWatching();
    await Promise.allSettled(this.#writing);
    this.#changes.close();
    await this.#thumbs.close();
  }

  #admit({ request, response }: Exchange): void {
    const isOpen = this.#entrance !== undefined && performance.now() < this.#entranceEndsAt;
    const asked = isOpen ? checkRequest(request, this.#entrance ?? '') : undefined;
    if (asked?.method === 'GET' && asked.path === '') {
      this.#entrance = undefined; // I29 (once)
      this.#redirect(response, 303);
    } else refuse(response);
  }

  #redirect(response: ServerResponse, status: number): void {
    const headers = { Location: `/${this.#token}/` };
    answer(response, { status, type: 'text/plain; charset=utf-8', body: '', headers });
  }

  async #get(exchange: Exchange, path: string | undefined): Promise<void> {
    const { response } = exchange;
    const [, kind, number] = /^(media|thumb|large)\/(\d{1,9})$/.exec(path ?? '') ?? [];
    if (kind !== undefined) return this.#sendNumbered(exchange, kind, Number(number));
    switch (path) {
      case undefined:
        return this.#redirect(response, 308);
      case '':
      case 'index.html': {
        // The page itself shows why the campaign cannot be read.
        const data = await this.#host.read().catch(() => undefined);
        const body = indexHtml(data?.campaign ?? 'mediabatch');
        return answer(response, { status: 200, type: 'text/html; charset=utf-8', body });
      }
      case 'data.json':
        return answerZipped(response, 'application/json; charset=utf-8', await this.#data());
      case 'changes':
        // Open pages are notified when the campaign can be read again.
        return this.#changes.add(response, (await this.#look().catch(() => undefined))?.revision ?? 0);
      default:
        return this.#sendPageFile(response, path);
    }
  }

  async #data(): Promise<Zipped> {
    const { revision, ...data } = await this.#look();
    if (this.#whole?.revision !== revision) {
      const assets = data.assets.map((asset) => this.#files.address(asset));
      this.#whole = { revision, body: zip(JSON.stringify({ ...data, revision, assets })) };
    }
    return this.#whole.body;
  }

  async #look(): Promise<ReviewData> {
    const data = await this.#host.read();
    const before = this.#latest;
    if (before !== undefined && data.revision <= before.revision) return data;
    this.#latest = data;
    if (before === undefined) return data;
    const change = this.#changes.hasListeners || this.#writing.size > 0 ? describeChange(before, data) : undefined;
    this.#change = change && { ...change, assets: change.assets.map((asset) => this.#files.address(asset)) };
    this.#changes.broadcast(this.#change ?? { revision: data.revision });
    return data;
  }

  async #sendPageFile(response: ServerResponse, name: string): Promise<void> {
    const type = Object.hasOwn(pageFiles, name) ? pageFiles[name] : undefined;
    const body = type === undefined ? undefined : await readPageFile(name);
    if (type === undefined || body === undefined) return answerProblem(response, 404, 'the page has no such file');
    answerZipped(response, type, await zip(body));
  }

  async #sendNumbered(exchange: Exchange, kind: string, number: number): Promise<void> {
    const { response } = exchange;
    const file = this.#files.get(number);
    if (file === undefined) return answerProblem(response, 404, 'the campaign has no such file');
    if (kind === 'media')
      return sendFile(exchange, file, { path: await this.#host.find(file), whole: this.#wholeFiles });
    const find = async () => this.#host.find(file);
    const thumb = await this.#thumbs.get(file, find, kind === 'large' ? largeSide : undefined);
    if ('problem' in thumb) return answerProblem(response, 404, `${file.path} ${thumb.problem}`);
    answer(response, { status: 200, type: 'image/jpeg', body: thumb.jpeg });
  }

  async #post({ request, response }: Exchange, path: string | undefined): Promise<void> {
    if (path !== 'verdicts') return refuse(response);
    const body = await readBody(request).catch(() => undefined);
    if (body === undefined) return;
    if (body === 'too large') {
      response.setHeader('Connection', 'close');
      answerProblem(response, 413, 'the request is larger than 64 KiB', 'send fewer decisions in one request');
      return;
    }
    const verdicts = readVerdicts(body);
    if (verdicts === undefined) {
      return answerProblem(
        response,
        400,
        'the request has no valid decisions',
        'reload the page; nothing was recorded',
      );
    }
    const writing = this.#host.judge(verdicts);
    this.#writing.add(writing);
    try {
      const judged = await writing;
      if (judged.is === 'held') return answerJson(response, 423, judged);
      await this.#look().catch(() => undefined);
      const change = (this.#change?.revision ?? 0) >= judged.revision ? this.#change : undefined;
      answerJson(response, 200, { ...judged, ...defined({ change }) });
    } finally {
      this.#writing.delete(writing);
    }
  }

  async #sendChange(): Promise<void> {
    if (this.#changes.hasListeners) await this.#look().catch(() => undefined);
  }

  #fail(response: ServerResponse, error: unknown): void {
    const failure = failureOf(error);
    if (failure === undefined) this.#options.onError(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const text = failure?.message ?? 'internal error';
    const hint =
      failure === undefined ? 'see the terminal' : failure.hint && adviceText(failure.hint, this.#options.paste);
    answerProblem(response, 500, text, hint);
  }
}
