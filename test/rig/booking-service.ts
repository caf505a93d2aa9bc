import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { VirtualTime } from './virtual-time.ts';

/** `break`: the connection does. `hang`: no answer ever comes. */
type Reply = { status: number; json: object } | { status: number; bytes: Buffer } | 'break' | 'hang';

type Body = { readonly [field: string]: unknown };

/** One accepted create: booked before it is answered. */
export interface BookedJob {
  id: string;
  kind: string;
  account: string;
  key: string | null;
  body: Body;
  subject: string;
  credits: number;
  at: number;
}

export interface IncomingCreate {
  /** From 1, over all creates. */
  nth: number;
  kind: string;
  account: string;
  key: string | null;
  subject: string;
}

/**
 * What becomes of a create: `book` answers with its job. `lose`: booked, and the connection breaks. `drop`: the connection
 * breaks and nothing is booked. `hang`: booked, and never answered. `page`, `nameless`: booked, and answered with the page of
 * a captive portal, or without an id. A number: refused, or failed, with that status.
 */
export type Fate = 'book' | 'lose' | 'drop' | 'hang' | 'page' | 'nameless' | 400 | 401 | 402 | 409 | 429 | 502;

/** Virtual, or the real one, which waits for nobody. */
type Time = Pick<VirtualTime, 'now' | 'others'>;

const dayMs = 24 * 3_600_000;

/**
 * A service on loopback with books of its own, in virtual time. A key that ends in `_NAME` of an account belongs to it;
 * tokens that are not API keys have no replay.
 */
export class BookingService {
  readonly ledger: BookedJob[] = [];
  readonly creates: IncomingCreate[] = [];
  /** What no client may do: a key that comes back with other bytes. */
  readonly violations: string[] = [];
  fate: (create: IncomingCreate) => Fate = () => 'book';
  /** A refusal of a key is remembered for a day, as an answer is. */
  replaysRefusals = true;
  idOf: (kind: string, nth: number, subject: string) => string = (kind, nth) => `${kind}-job-${nth}`;
  /** What a list says that a job cost. */
  listedCredits: (job: BookedJob) => number | undefined = ({ credits }) => credits;
  /** So many times what it says is charged. */
  dearness = 1;
  /** Nothing is answered, and nothing is made: connections break. */
  isDown = false;
  /** An empty account is said before a key is looked at. */
  refusesBeforeReplay = false;
  /** A job takes so long. */
  jobMs: number | ((job: BookedJob) => number) = 0;
  /** The date on answers that a cache in between has kept so long: those that are no answers about an account. */
  cachedForMs = 0;
  /** Told as soon as a create is booked, before any answer. */
  onBooked: (job: BookedJob) => void = () => {};
  /** Told whenever an answer is about to say that a job is done, with the link that it shows. */
  onTold: (job: BookedJob, link: string) => void = () => {};
  /** Told of each request before anything else. */
  onRequest: (request: IncomingMessage) => void = () => {};
  balance = Number.POSITIVE_INFINITY;
  readonly #time: Time;
  readonly #stored = new Map<string, { at: number; body: string; job?: BookedJob; refused?: number }>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #working = 0;
  /** Requests that are never answered. */
  #waiting = 0;
  /** Each link is signed again. */
  #signed = 0;

  constructor(time: Time, options: ServerOptions = {}) {
    this.#time = time;
    time.others.add(() => ({ working: this.#working, waiting: this.#waiting }));
    this.#server = createServer(options, (request, response) => this.#receive(request, response));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/api/v1`;
  }

  /** The port stays the same after an outage. */
  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Nobody listens any more. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Ids of the jobs that were paid for with these words. */
  idsOf(subject: string): string[] {
    return this.ledger.filter((job) => job.subject === subject).map(({ id }) => id);
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    this.#working += 1;
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const reply = this.#reply(request, Buffer.concat(pieces).toString());
      this.#working -= 1;
      const isWaiting = reply === 'hang';
      if (isWaiting) this.#waiting += 1;
      response.on('close', () => {
        if (isWaiting) this.#waiting -= 1;
      });
      const keptMs = (request.url ?? '').includes('openapi') ? this.cachedForMs : 0;
      send(response, reply, new Date(this.#time.now() - keptMs));
    });
  }

  #reply(request: IncomingMessage, text: string): Reply {
    this.onRequest(request);
    if (this.isDown) return 'break';
    const url = new URL(request.url ?? '', this.url);
    const path = url.pathname.replace('/api/v1', '');
    const caller = callerOf(request);
    const kind = kindsByCreate[path];
    if (request.method === 'POST' && kind !== undefined) return this.#create(kind, { ...caller, text });
    const [, place = '', id = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
    const found = decodeURIComponent(id);
    if (place.startsWith('/files/')) return { status: 200, bytes: mediaOf(place.slice('/files/'.length), found) };
    if (path === '/accounts') return { status: 200, json: { success: true, data: accounts } };
    const listed = listPaths[path];
    if (listed !== undefined) return { status: 200, json: this.#list(listed, caller.account, url.searchParams) };
    const kinds = statusPaths[place] ?? [];
    const job = this.ledger.find(
      (one) => one.account === caller.account && kinds.includes(one.kind) && one.id === found,
    );
    if (job === undefined) return refusal(404);
    return { status: 200, json: { success: true, data: { id: job.id, ...this.#view(job) } } };
  }

  #create(kind: string, { account, key, text }: { account: string; key: string | null; text: string }): Reply {
    const body = JSON.parse(text) as Body;
    const create = { nth: this.creates.length + 1, kind, account, key, subject: subjectOf(kind, body) };
    this.creates.push(create);
    const fate = this.fate(create);
    if (fate === 'drop') return 'break';
    const made = this.#carryOut(fate, { kind, account, key, body, text });
    if (fate === 'lose' || this.isDown) return 'break';
    if (fate === 'hang') return 'hang';
    if (fate === 'page') return { status: 200, bytes: Buffer.from('<html>Sign in to the network</html>') };
    if (fate === 'nameless') return { status: 200, json: { success: true } };
    return typeof made === 'number' ? refusal(made) : this.#accepted(made);
  }

  /** The job, made now or before under this key; or the status of a refusal. */
  #carryOut(
    fate: Fate,
    given: { kind: string; account: string; key: string | null; body: Body; text: string },
  ): BookedJob | number {
    const { kind, account, key, text } = given;
    const price = (prices[kind] ?? 0) * this.dearness;
    const name = `${account} ${key}`;
    const stored = key === null ? undefined : this.#stored.get(name);
    const known = stored !== undefined && this.#time.now() - stored.at < dayMs ? stored : undefined;
    if (known !== undefined && known.body !== text) this.violations.push(`${key} came back with other bytes`);
    const own = typeof fate === 'number' ? fate : known?.job === undefined && price > this.balance ? 402 : undefined;
    const isFirst =
      own !== undefined && (own === 401 || own === 409 || own === 429 || own === 502 || this.refusesBeforeReplay);
    if (isFirst) return own;
    if (known !== undefined) return known.job ?? known.refused ?? 500;
    if (own === undefined) return this.#book({ ...given, price });
    if (key !== null && this.replaysRefusals)
      this.#stored.set(name, { at: this.#time.now(), body: text, refused: own });
    return own;
  }

  #accepted({ id, credits }: BookedJob): Reply {
    const creditsRemaining = this.balance === Number.POSITIVE_INFINITY ? 1_000_000 : this.balance;
    return {
      status: 200,
      json: { success: true, generation: { id, status: 'QUEUED' }, creditsDeducted: credits, creditsRemaining },
    };
  }

  #book(given: {
    kind: string;
    account: string;
    key: string | null;
    body: Body;
    price: number;
    text: string;
  }): BookedJob {
    const { kind, account, key, body, price, text } = given;
    const nth = this.ledger.filter((job) => job.kind === kind).length + 1;
    const at = this.#time.now();
    const subject = subjectOf(kind, body);
    const job = { id: this.idOf(kind, nth, subject), kind, account, key, body, subject, credits: price, at };
    this.ledger.push(job);
    this.balance -= price;
    if (key !== null) this.#stored.set(`${account} ${key}`, { at, body: text, job });
    this.onBooked(job);
    return job;
  }

  #view(job: BookedJob) {
    const takesMs = typeof this.jobMs === 'number' ? this.jobMs : this.jobMs(job);
    if (this.#time.now() < job.at + takesMs) return { status: 'PROCESSING' };
    const time = new Date(job.at).toISOString();
    this.#signed += 1;
    const file = `${job.kind}/${encodeURIComponent(job.id)}`;
    const outputUrl = `${this.url}/files/${file}?signed=${this.#signed}`;
    this.onTold(job, outputUrl);
    return {
      status: 'COMPLETED',
      outputUrl,
      outputAsset: { id: job.id, url: outputUrl },
      createdAt: time,
      updatedAt: time,
      completedAt: time,
    };
  }

  #list(kind: string, account: string, asked: URLSearchParams) {
    const limit = Number(asked.get('limit') ?? 12);
    const page = Number(asked.get('page') ?? 1);
    const all = this.ledger.filter((job) => job.kind === kind && job.account === account).reverse();
    const generations = all.slice((page - 1) * limit, page * limit).map((job) => ({
      ...job.body,
      ...(kind === 'voiceover' && { voiceId: job.body.voice_id }),
      id: job.id,
      creditsUsed: this.listedCredits(job),
      ...this.#view(job),
    }));
    const hasNextPage = page * limit < all.length;
    return {
      success: true,
      generations,
      pagination: { currentPage: page, limit, hasNextPage, totalCount: all.length },
    };
  }
}

/** What a create is for, in words: steps of a test differ in theirs. A post is what stands before the colon, however it goes on. */
function subjectOf(kind: string, body: Body): string {
  const [post] = String(body.caption).split(':');
  return `${kind} ${String(body.prompt ?? body.text ?? post)}`;
}

/** Keys count for API keys only. */
function callerOf({ headers }: IncomingMessage): { account: string; key: string | null } {
  const token = (headers.authorization ?? '').replace('Bearer ', '');
  const key = headers['idempotency-key'];
  return {
    account: /_([a-z]+)$/.exec(token)?.[1] ?? 'nobody',
    key: /_live_/.test(token) && typeof key === 'string' ? key : null,
  };
}

function refusal(status: number): Reply {
  return { status, json: { success: false, error: `refused with ${status}` } };
}

function send(response: ServerResponse, reply: Reply, now: Date): void {
  if (reply === 'hang') return;
  if (reply === 'break') {
    response.destroy();
    return;
  }
  const bytes = 'bytes' in reply ? reply.bytes : Buffer.from(JSON.stringify(reply.json));
  const type = 'bytes' in reply ? 'application/octet-stream' : 'application/json';
  response.sendDate = false;
  response.writeHead(reply.status, { date: now.toUTCString(), 'content-type': type, 'content-length': bytes.length });
  response.end(bytes);
}

/**
 * The kinds of a `BookingService` that cost something: image and music replay keys, video and voiceover have lists,
 * influencer has neither. A post has neither, and is free.
 */
export const prices: Readonly<Record<string, number>> = { image: 3, music: 4, video: 10, voiceover: 5, influencer: 8 };

const kindsByCreate: Readonly<Record<string, string>> = {
  '/image-generations/create': 'image',
  '/music-generations/create': 'music',
  '/videos/create': 'video',
  '/voiceovers/create': 'voiceover',
  '/influencer-studio/create': 'influencer',
  '/influencer-studio': 'influencer',
  '/posts': 'post',
};

/** Where posts can go. */
export const accounts = ['acc_shop', 'acc_team'].map((id) => ({ id, provider: 'instagram', accountName: id }));

export const listPaths: Readonly<Record<string, string>> = { '/videos/all': 'video', '/voiceovers/all': 'voiceover' };

export const statusPaths: Readonly<Record<string, readonly string[]>> = {
  '/image/status': ['image', 'influencer'],
  '/music/status': ['music'],
  '/video/status': ['video'],
  '/voiceovers/status': ['voiceover'],
};

/** The smallest file that passes for the kind's output; its bytes are the job's own. */
export function mediaOf(kind: string, id: string): Buffer {
  const text = Buffer.from(id);
  switch (kind) {
    case 'video':
      return Buffer.concat([box('ftyp', Buffer.from('isom0000isom')), box('mdat', text), box('moov', text)]);
    case 'music':
    case 'voiceover':
      return wav(text);
    default:
      return Buffer.concat([
        Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        text,
        Buffer.from([0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]),
      ]);
  }
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

function wav(content: Buffer): Buffer {
  const padded = Buffer.concat([content, Buffer.alloc(content.length % 2)]);
  const head = Buffer.alloc(12);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(padded.length + 12, 4);
  head.write('WAVE', 8, 'latin1');
  const data = Buffer.alloc(8);
  data.write('data', 0, 'latin1');
  data.writeUInt32LE(padded.length, 4);
  return Buffer.concat([head, data, padded]);
}
