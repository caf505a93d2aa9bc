import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mediaOf } from '../booking-service.ts';
import { createdAnswer, type Facts, listItem, problem, type Reply, statusView } from './answers.ts';
import { type Body, type Booked, Books, prices } from './books.ts';
import { describeOther, otherCatalog } from './document.ts';
import { type Manners, terse } from './manners.ts';

/** `book`: answered. `lose`: booked, and the connection breaks. `drop`: it breaks, and nothing is booked. */
export type Fate = 'book' | 'lose' | 'drop' | 429 | 500;

export interface Call {
  method: string;
  /** Relative to the base URL, still percent-encoded. */
  path: string;
  query: URLSearchParams;
  /** The account: that of the key, or the token itself. */
  user: string;
  key: string | null;
  text: string;
}

/**
 * A second service, which answers as the documentation allows and as the sandbox does not: wherever something is not
 * documented, `Manners` holds what it decided (ids, envelopes, paths of creates, what an answer leaves out, names of
 * fields, pages, the forms of times). It shares no code with the sandbox, and keeps books of its own, in which a create
 * stands before it is answered. Common to all manners: answers have no field that may be absent (`completedAt`, `kind`,
 * echoes of a create), links are signed again at each call, clips come out of order, `/uploads/complete` says only that
 * it succeeded, and a catalog has its units beside its prices under names of its own.
 *
 *     const other = await OtherService.open({ ...terse, holder: 'job' });
 *     other.fate = ({ kind }) => (kind === 'video' ? 'lose' : 'book');
 *     await runInProcess(['apply', 'campaign.yaml', '--yes'], other.env, folder);
 *     expect(other.books.jobs).toHaveLength(1);
 */
export class OtherService {
  readonly books: Books;
  /** Each request, as `POST /videos/create`. */
  readonly seen: string[] = [];
  /** What becomes of a create request that the service would accept. */
  fate: (create: { kind: string; nth: number }) => Fate = () => 'book';
  /** Called when a create has been booked, before its answer leaves. */
  onBooked: (job: Booked) => Promise<void> | void = () => {};
  readonly manners: Manners;
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  /** Files that were put into storage and not registered. */
  readonly #stored = new Map<string, { bytes: number; type: string }>();
  #creates = 0;
  #signed = 0;

  private constructor(manners: Manners, balance: number) {
    this.manners = manners;
    this.books = new Books(manners, balance);
  }

  static async open(manners: Manners = terse, balance = 10_000): Promise<OtherService> {
    const service = new OtherService(manners, balance);
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** For the command: base URL, and an API key. */
  get env(): Record<string, string> {
    return { MEDIABATCH_BASE_URL: `${this.origin}/api/v1`, MEDIABATCH_API_KEY: 'other_live_k3y' };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const url = new URL(request.url ?? '', this.origin);
    this.seen.push(`${request.method} ${url.pathname.replace('/api/v1', '')}`);
    const reply = await this.#reply(request, url, Buffer.concat(pieces));
    if (reply === 'break') return void request.socket.destroy();
    if ('bytes' in reply) {
      response.writeHead(reply.status, { 'content-type': reply.type, 'content-length': reply.bytes.length });
      response.end(reply.bytes);
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json; charset=utf-8', ...reply.headers });
    response.end(JSON.stringify(reply.json));
  }

  async #reply(request: IncomingMessage, url: URL, bytes: Buffer): Promise<Reply> {
    const { pathname } = url;
    if (pathname.startsWith('/media/')) return this.#file(pathname);
    if (pathname.startsWith('/storage/')) {
      const { 'content-type': type = 'application/octet-stream' } = request.headers;
      this.#stored.set(decodeURIComponent(pathname.replace('/storage/', '')), { bytes: bytes.length, type });
      return { status: 200, json: {} };
    }
    if (pathname.endsWith('/openapi.json')) {
      return this.manners.isDescribed
        ? { status: 200, json: describeOther(this.manners) }
        : problem(404, 'ROUTE_NOT_FOUND', 'Cannot find it');
    }
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) return problem(401, 'UNAUTHENTICATED', 'Sign in');
    const isKey = token.includes('_live_');
    const given = request.headers['idempotency-key'];
    return this.#route({
      method: request.method ?? '',
      path: pathname.replace(/^\/api\/v1/, ''),
      query: url.searchParams,
      user: token,
      key: isKey && typeof given === 'string' ? given : null,
      text: bytes.toString(),
    });
  }

  async #route(call: Call): Promise<Reply> {
    const { method, path } = call;
    const { manners } = this;
    const creates = { image: '/image-generations/create', music: '/music-generations/create', ...manners.paths };
    const kind = Object.entries(creates).find(([, own]) => method === 'POST' && own === path)?.[0];
    if (kind !== undefined) return this.#create(kind, call);
    if (method === 'POST' && path.startsWith('/uploads')) return this.#upload(call);
    if (method === 'DELETE') return this.#remove(call);
    if (method !== 'GET') return problem(404, 'ROUTE_NOT_FOUND', `Cannot ${method} ${path}`);
    if (path === '/catalog') return { status: 200, json: otherCatalog };
    if (path === '/accounts') return { status: 200, json: { data: [account], success: true } };
    return this.#list(call) ?? this.#status(call);
  }

  async #create(kind: string, call: Call): Promise<Reply> {
    const { manners, books } = this;
    const { user, text } = call;
    this.#creates += 1;
    const body = JSON.parse(text) as Body;
    const key = kind === 'image' || kind === 'music' ? call.key : null;
    const known = key === null ? undefined : books.byKey(user, key);
    if (known !== undefined && known.text !== text) {
      return problem(manners.reusedKey, 'IDEMPOTENCY_KEY_REUSED', 'This key belongs to another request');
    }
    const fate = this.fate({ kind, nth: this.#creates });
    if (fate === 'drop') return 'break';
    if (fate === 429) return { ...problem(429, 'SLOW_DOWN', 'Not so fast'), headers: { 'retry-after': '0' } };
    if (fate === 500) return problem(500, 'INTERNAL', 'Something broke');
    if (known === undefined && (prices[kind] ?? 0) > books.balance) return problem(402, 'NO_CREDITS', 'Top up');
    const wrong =
      kind === 'post' && (!Array.isArray(body.accountIds) || body.accountIds.some((id) => id !== account.id));
    if (wrong) return problem(404, 'ACCOUNT_NOT_FOUND', 'accountIds: there is no such account');
    const job = known ?? books.book({ kind, user, key, text, body });
    await this.onBooked(job);
    return fate === 'lose' ? 'break' : createdAnswer(job, this.#facts);
  }

  get #facts(): Facts {
    const { manners, books } = this;
    return {
      manners,
      books,
      link: (job, index = 0) => {
        this.#signed += 1;
        return `${this.origin}/media/${job.kind}/${books.jobs.indexOf(job)}/${index}?signature=${this.#signed}`;
      },
    };
  }

  #status({ path, user }: Call): Reply {
    const [, place = '', encoded = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
    const id = decodeURIComponent(encoded);
    const kinds = statusPlaces[place] ?? [];
    const by = this.manners.thumbnail.status;
    const job =
      this.books.find(
        user,
        kinds.filter((kind) => kind !== 'thumbnail'),
        { id, by: 'job' },
      ) ??
      this.books.find(
        user,
        kinds.filter((kind) => kind === 'thumbnail'),
        { id, by },
      );
    if (job === undefined) return problem(404, 'NOT_FOUND', 'No such generation');
    if (place !== '/clippings') job.looks += 1;
    return { status: 200, json: { data: statusView(job, this.#facts, id), success: true } };
  }

  #list({ path, query, user }: Call): Reply | undefined {
    const { books, manners } = this;
    const [kind, holder] = listPlaces[path] ?? [];
    if (kind === undefined || holder === undefined) return undefined;
    const jobs = books.list(user, kind);
    const item = (job: Booked) => listItem(job, this.#facts);
    if (holder === 'data') return { status: 200, json: { data: jobs.map(item), success: true } };
    const most = kind === 'voiceover' ? manners.voiceoverPage : 100;
    const limit = Math.min(most, Number(query.get('limit') ?? 12));
    const currentPage = Number(query.get('page') ?? 1);
    const totalPages = Math.ceil(jobs.length / limit);
    const pagination = {
      limit,
      totalCount: jobs.length,
      totalPages,
      currentPage,
      hasPreviousPage: currentPage > 1,
      hasNextPage: currentPage < totalPages,
    };
    const generations = jobs.slice((currentPage - 1) * limit, currentPage * limit).map(item);
    return { status: 200, json: { pagination, generations, success: true } };
  }

  #remove({ path, user }: Call): Reply {
    const [, place = '', encoded = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
    const kind = { '/thumbnails': 'thumbnail', '/clippings': 'clipping', '/music-generations': 'music' }[place];
    const by = kind === 'thumbnail' ? this.manners.thumbnail.remove : 'job';
    const job = this.books.find(user, kind === undefined ? [] : [kind], { id: decodeURIComponent(encoded), by });
    if (job === undefined) return problem(404, 'NOT_FOUND', 'No such generation');
    job.isRemoved = true;
    return { status: 200, json: { message: 'Deleted', success: true } };
  }

  /** The three calls below `/uploads`. A URL is taken at its word: nothing is fetched. */
  #upload({ path, text, user }: Call): Reply {
    const { books, origin } = this;
    const body = JSON.parse(text) as Body;
    const nth = books.assets.length + 1;
    if (path === '/uploads/signed-url') {
      const blobName = `${nth}-${body.fileName}`;
      const place = encodeURIComponent(blobName);
      const links = { publicUrl: `${origin}/library/${place}`, uploadUrl: `${origin}/storage/${place}?t` };
      return { status: 200, json: { data: { blobName, token: 't', ...links }, success: true } };
    }
    if (path === '/uploads/complete') {
      const blob = this.#stored.get(String(body.blobName));
      if (blob === undefined) return problem(404, 'BLOB_NOT_FOUND', 'Upload it first');
      const name = String(body.fileName ?? body.blobName);
      books.assets.push({ id: String(nth), user, name, path: String(body.blobName), from: 'storage', ...blob });
      return { status: 200, json: { success: true } };
    }
    const { url, base64, fileName } = body;
    if ((url === undefined) === (base64 === undefined)) return problem(422, 'ONE_SOURCE', 'Give url or base64');
    const name = String(fileName ?? 'file');
    const bytes = typeof base64 === 'string' ? Buffer.from(base64.replace(/^data:.*?,/, ''), 'base64').length : 1;
    books.assets.push({ id: String(nth), user, name, path: name, type: 'IMAGE', bytes, from: String(url ?? 'base64') });
    const made = { createdAt: this.manners.time(new Date()), url: `${origin}/library/${nth}`, id: `asset-${nth}` };
    const data = { fileSize: bytes, type: 'IMAGE', mimeType: 'image/png', name, ...made };
    return { status: 201, json: { data, success: true } };
  }

  #file(pathname: string): Reply {
    const [, , kind = '', nth = '', index = ''] = pathname.split('/');
    const media = kind === 'video' && index === '1' ? 'image' : kind === 'clipping' ? 'video' : kind;
    return { status: 200, bytes: mediaOf(media, `${nth}/${index}`), type: 'application/octet-stream' };
  }
}

export const account = {
  expiresAt: '2099-01-01T00:00:00Z',
  accountName: 'Lamps & Co',
  accountUsername: '@lamps',
  profilePicture: 'https://pictures.example/lamps.png',
  provider: 'google',
  providerAccountId: 'UC-1',
  id: '7041',
};

const statusPlaces: Readonly<Record<string, readonly string[]>> = {
  '/image/status': ['image', 'influencer', 'thumbnail'],
  '/music/status': ['music'],
  '/video/status': ['video'],
  '/voiceovers/status': ['voiceover'],
  '/clippings/status': ['clipping'],
  '/clippings/refresh': ['clipping'],
  '/clippings': ['clipping'],
};

const listPlaces: Readonly<Record<string, readonly [string, 'generations' | 'data']>> = {
  '/videos/all': ['video', 'generations'],
  '/voiceovers/all': ['voiceover', 'generations'],
  '/thumbnails': ['thumbnail', 'data'],
  '/clippings/all': ['clipping', 'data'],
};
