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
  readonly assets: { name: string; createdAt: string }[] = [];
  /** Methods and paths, in order. */
  readonly asked: string[] = [];
  /** A token that may only read. */
  readOnly = false;
  /** The job of another campaign is quicker to make the release of pictures. */
  isReleaseMadeByOther = false;
  #hasRelease = false;
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
    if (written === null) return this.#release(method, path);
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

  #release(method: string, path: string): Reply {
    const [name] = /(?<=[?&]name=)[^&]+/.exec(path) ?? [];
    if (method === 'POST' && path.endsWith('/releases')) {
      if (this.isReleaseMadeByOther || this.#hasRelease) {
        this.#hasRelease = true;
        return [422, { message: 'Validation Failed', errors: [{ code: 'already_exists', field: 'tag_name' }] }];
      }
      this.#hasRelease = true;
      return [201, this.#described()];
    }
    if (method === 'POST' && name !== undefined) {
      this.assets.push({ name, createdAt: new Date().toISOString() });
      return [201, { name }];
    }
    const old = /\/releases\/assets\/(\d+)$/.exec(path);
    if (method === 'DELETE' && old !== null) {
      this.assets.splice(Number(old[1]), 1);
      return [204, {}];
    }
    return path.includes('/releases/') && this.#hasRelease ? [200, this.#described()] : [404, { message: 'Not Found' }];
  }

  /** An earlier release, with sheets of before. */
  keepRelease(...assets: { name: string; createdAt: string }[]): void {
    this.#hasRelease = true;
    this.assets.push(...assets);
  }

  #described(): unknown {
    const base = 'https://api.github.com/repos/team/shop/releases';
    return {
      id: 1,
      tag_name: 'mediabatch-previews',
      prerelease: true,
      url: `${base}/1`,
      html_url: 'https://github.com/team/shop/releases/1',
      upload_url: 'https://uploads.github.com/repos/team/shop/releases/1/assets{?name,label}',
      assets: this.assets.map(({ name, createdAt }, index) => ({
        id: index,
        name,
        url: `${base}/assets/${index}`,
        created_at: createdAt,
        browser_download_url: `https://github.com/team/shop/releases/download/mediabatch-previews/${name}`,
      })),
    };
  }
}
