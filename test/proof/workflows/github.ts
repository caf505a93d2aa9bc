import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';

interface Comment {
  databaseId: number;
  body: string;
  viewerDidAuthor: boolean;
}

type Reply = [status: number, body: unknown];

/** A stand-in for GitHub's API, with one pull request, on a socket that the real gh takes for the network. */
export class GitHub {
  readonly comments: Comment[] = [];
  /** Methods and paths, in order. */
  readonly asked: string[] = [];
  /** A token that may only read. */
  readOnly = false;
  #next = 1;

  /** Serves it, and gives the environment in which gh talks to it. */
  static async start(folder: string): Promise<{ github: GitHub; env: Record<string, string>; stop(): void }> {
    const github = new GitHub();
    const socket = join(folder, 'api.sock');
    const server = createServer((request, response) => void github.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const config = join(folder, 'gh');
    mkdirSync(config);
    writeFileSync(join(config, 'config.yml'), `http_unix_socket: ${socket}\n`);
    const env = { GH_CONFIG_DIR: config, GH_REPO: 'team/shop', GH_NO_UPDATE_NOTIFIER: '1' };
    return { github, env, stop: () => server.close() };
  }

  say(body: string, { viewerDidAuthor }: { viewerDidAuthor: boolean }): void {
    this.comments.push({ databaseId: this.#next++, body, viewerDidAuthor });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '' } = request;
    const [status, body] = this.#reply(method, url, Buffer.concat(chunks));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 204 ? '' : JSON.stringify(body));
  }

  #reply(method: string, path: string, bytes: Buffer): Reply {
    if (path === '/graphql') return [200, this.#query(JSON.parse(bytes.toString('utf8')))];
    this.asked.push(`${method} ${path}`);
    if (method !== 'GET' && this.readOnly) return [403, { message: 'Resource not accessible by integration' }];
    const written = /\/issues\/(?:7\/comments|comments\/(\d+))$/.exec(path);
    if (written === null) return [404, { message: 'Not Found' }];
    const { body } = JSON.parse(bytes.toString('utf8')) as { body: string };
    if (body.length > 65_536) return [422, { message: 'body is too long (maximum is 65536 characters)' }];
    const known = this.comments.find(({ databaseId }) => String(databaseId) === written[1]);
    if (known === undefined) this.say(body, { viewerDidAuthor: true });
    else known.body = body;
    return [200, {}];
  }

  #query({ query, variables }: { query: string; variables: { endCursor?: string | null } }): unknown {
    if (!query.includes('comments(first: 100')) return { data: { repository: {} } };
    const from = Number(variables.endCursor ?? 0);
    const nodes = this.comments.slice(from, from + 100);
    const pageInfo = { hasNextPage: from + 100 < this.comments.length, endCursor: String(from + 100) };
    return { data: { repository: { pullRequest: { comments: { nodes, pageInfo } } } } };
  }
}
