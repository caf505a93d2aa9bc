import { join } from 'node:path';
import { createBlobStore } from './blob-store.ts';
import { Books, type LedgerEntry, type PriceOf } from './books.ts';
import { CreatesLimit, type CreatesRule, mainUser } from './context.ts';
import { type Fault, FaultScript } from './faults.ts';
import { type Journal, openJournal } from './journal.ts';
import { Library } from './library.ts';
import { OutputFiles } from './output-files.ts';
import { cutPieces, pacePieces, readPieces } from './pieces.ts';
import { createRenderer, type Renderer } from './renderer.ts';
import { type Listener, listenHttp } from './serve-http.ts';
import { createService, type Service } from './service.ts';
import { type Answer, answerProblem, type Body, type Call, largestBodyBytes, type Reply } from './wire.ts';

export interface SandboxOptions {
  /** Initial balance of every user. Defaults to 1000. A balance stored in `dataDir` takes precedence. */
  credits?: number;
  /** Number by which the durations of jobs are divided; `Infinity` completes jobs at once. Defaults to 1. */
  speed?: number;
  files?: SandboxFiles;
  /** Accepted API key. Defaults to `sandbox_live_local`. */
  apiKey?: string;
  /** Returns the current time in ms. Defaults to `Date.now`. */
  now?: () => number;
  faults?: Fault[];
  /** Share of jobs that fail, 0 to 1. The request body of a job determines whether it fails. Defaults to 0. */
  failRate?: number;
  /**
   * Simulates another service for a caller that has already checked its requests. The sandbox then accepts every body.
   * If `priceOf` returns undefined, the sandbox uses its own price.
   */
  rehearsal?: { priceOf?: PriceOf };
}

interface SandboxFiles {
  /** Folder for ledger, uploads and rendered files. Only one sandbox at a time can use a folder. Defaults to memory. */
  dataDir?: string;
  /** Folder for rendered files, which several sandboxes can share. Defaults to a folder in `dataDir`. */
  filesDir?: string | undefined;
  /** Function that wraps or replaces the built-in renderer. */
  renderer?: (own: Renderer) => Renderer;
}

export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  /** HTTP status of the answer. 0 until the request is answered, and 0 forever after a reset or a hang. */
  readonly status: number;
}

interface Server {
  /** Handles a request without a socket. */
  fetch(request: Request): Promise<Response>;
  /** Listens on loopback and a free port by default. Closing the last listener closes the sandbox. */
  listen(options?: { port?: number; host?: string }): Promise<Listener>;
  /** Returns all received requests, in order of arrival. */
  requests(): SandboxRequest[];
  /** Closes the listeners and the renderer. Another sandbox can then use `dataDir`. Later requests get 503. */
  close(): Promise<void>;
}

export interface Sandbox extends Server {
  /** Returns all accepted create requests, including posts, in order. */
  ledger(): LedgerEntry[];
  /** Returns the balance of the API key's user in credits. */
  balance(): number;
  setBalance(credits: number): void;
  /** Returns whether this is the ID of a job, post or uploaded file of the sandbox, even if it was deleted. */
  knows(id: string): boolean;
  addFaults(faults: Fault[]): void;
  clearFaults(): void;
  /** After `creates` create requests and posts of a user within `perMs`, answers further ones with 429. */
  limitCreates(rule: CreatesRule): void;
}

/** Creates a sandbox. Throws if another sandbox uses `dataDir`, or if files in `dataDir` are damaged. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { credits = 1000, now = Date.now, rehearsal, files = {} } = options;
  const { dataDir, filesDir = dataDir && join(dataDir, 'files') } = files;
  const journal = dataDir === undefined ? undefined : openJournal(dataDir);
  const ownRenderer = createRenderer();
  const renderer = files.renderer?.(ownRenderer) ?? ownRenderer;
  const faults = new FaultScript();
  faults.add(options.faults ?? []);
  const limit = new CreatesLimit();
  const blobs = createBlobStore(dataDir && join(dataDir, 'uploads'));
  const { books, library } = openRecords(journal, () => ({
    books: new Books(credits, journal, rehearsal?.priceOf),
    library: new Library(blobs, journal?.uploads),
  }));
  const service = createService({
    ...{ books, library, blobs, faults, limit, now },
    files: new OutputFiles(renderer, filesDir),
    keysInHand: new Set(),
    apiKey: options.apiKey ?? 'sandbox_live_local',
    startingCredits: credits,
    speed: options.speed ?? 1,
    failRate: options.failRate ?? 0,
    rehearses: rehearsal !== undefined,
  });
  return {
    ...createServer(service, async () => {
      journal?.close();
      await renderer.close();
    }),
    ledger: () => [...books.entries],
    balance: () => books.balance(mainUser),
    setBalance: (balance) => books.setBalance(mainUser, { credits: balance, now: now() }),
    knows: (id) => books.knows(id) || library.has(id),
    addFaults: (more) => faults.add(more),
    clearFaults: () => faults.clear(),
    limitCreates: (rule) => limit.set(rule),
  };
}

function openRecords<Records>(journal: Journal | undefined, open: () => Records): Records {
  try {
    return open();
  } catch (error) {
    journal?.close();
    throw error;
  }
}

function createServer(service: Service, onClose: () => Promise<void>): Server {
  const requests: { method: string; path: string; status: number }[] = [];
  const listeners = new Set<Listener>();
  let closed = false;

  async function serve(call: Call): Promise<Reply> {
    const request = { method: call.method, path: call.path, status: 0 };
    requests.push(request);
    const reply = closed
      ? answerProblem({ status: 503, code: 'closed', message: 'The sandbox is closed.' })
      : await service(call);
    if (reply.type === 'answer') request.status = reply.status;
    return reply;
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    await Promise.all([...listeners].map((listener) => listener.close()));
    await onClose();
  }

  return {
    fetch: (request) => serveFetch(request, serve),
    async listen({ port = 0, host = '127.0.0.1' } = {}) {
      if (closed) throw new Error('the sandbox is closed');
      const listener = await listenHttp(serve, { port, host });
      listeners.add(listener);
      return {
        ...listener,
        async close() {
          await listener.close();
          listeners.delete(listener);
          if (listeners.size === 0) await close();
        },
      };
    },
    requests: () => requests.map((request) => ({ ...request })),
    close,
  };
}

/** Handles a `fetch`. Rejects after a reset. If the sandbox hangs, stays pending until the request is aborted. */
async function serveFetch(request: Request, serve: (call: Call) => Promise<Reply>): Promise<Response> {
  const url = new URL(request.url);
  const reply = await serve({
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    origin: `${url.protocol}//${request.headers.get('host') ?? url.host}`,
    header: (name) => request.headers.get(name) ?? undefined,
    isLocal: true,
    body: await readBody(request),
  });
  switch (reply.type) {
    case 'reset':
      throw new TypeError('fetch failed: the connection was reset');
    case 'hang':
      return new Promise((_resolve, reject) => {
        const leave = () => {
          reply.abandoned();
          reject(request.signal.reason);
        };
        if (request.signal.aborted) leave();
        else request.signal.addEventListener('abort', leave, { once: true });
      });
    case 'answer':
      return toResponse(reply, request.method);
    default:
      return reply satisfies never;
  }
}

async function readBody(request: Request): Promise<Body> {
  if (request.method === 'PUT') return { type: 'stream', chunks: request.body ?? readPieces(nothing) };
  const bytes = Buffer.from(await request.arrayBuffer());
  return bytes.length > largestBodyBytes ? { type: 'too large' } : { type: 'whole', bytes };
}

const nothing = { type: 'bytes', bytes: Buffer.alloc(0) } as const;

function toResponse(answer: Answer, method: string): Response {
  const bodiless = method === 'HEAD' || answer.status === 204 || answer.status === 304;
  return new Response(bodiless ? null : bodyOf(answer), { status: answer.status, headers: answer.headers });
}

function bodyOf({ body, delivery }: Answer): Uint8Array<ArrayBuffer> | ReadableStream {
  switch (delivery.type) {
    case 'whole':
      return body.type === 'bytes' ? new Uint8Array(body.bytes) : ReadableStream.from(readPieces(body));
    case 'cut':
      return ReadableStream.from(breakOff(cutPieces(readPieces(body), delivery.bytes)));
    case 'paced':
      return ReadableStream.from(pacePieces(readPieces(body), delivery.bytesPerSecond));
    default:
      return delivery satisfies never;
  }
}

async function* breakOff(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
  throw new TypeError('terminated: the connection was closed before the body ended');
}
