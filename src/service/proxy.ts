import { type ClientRequest, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type buildConnector, Pool } from 'undici';
import { isLoopbackHost } from '../graph/address.ts';
import { defined } from '../ground/values.ts';

/**
 * Returns the proxy for an https URL from `HTTPS_PROXY`, else from `HTTP_PROXY`. Returns `undefined` if `NO_PROXY`
 * contains the host, and for hosts on this machine, which a proxy cannot reach.
 */
export function proxyFor({ protocol, hostname, port }: URL, env: NodeJS.ProcessEnv = process.env): URL | undefined {
  if (protocol !== 'https:' || isLoopbackHost(hostname)) return undefined;
  const { https_proxy, HTTPS_PROXY, http_proxy, HTTP_PROXY, no_proxy, NO_PROXY } = env;
  const text = https_proxy || HTTPS_PROXY || http_proxy || HTTP_PROXY || '';
  const address = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (text === '' || !URL.canParse(address)) return undefined;
  const isExempt = (no_proxy || NO_PROXY || '').split(/[,\s]+/).some((entry) => {
    const [, name = '', only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (only !== undefined && only !== (port || '443')) return false;
    return entry === '*' || (name !== '' && (hostname === name || hostname.endsWith(`.${name}`)));
  });
  return isExempt ? undefined : new URL(address);
}

/** Opens a tunnel through a proxy. Errors show the proxy's URL without its credentials. */
export function openTunnel(
  proxy: URL,
  { host, port, timeoutMs }: { host: string; port: number; timeoutMs: number },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const path = `${host}:${port}`;
    const login = decodeURIComponent(`${proxy.username}:${proxy.password}`);
    const headers = {
      host: path,
      ...(login !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    };
    const fail = (text: string) => reject(new Error(`the proxy ${proxy.host} ${text}`));
    const ask = proxy.protocol === 'https:' ? httpsRequest : httpRequest;
    const target = { hostname: proxy.hostname.replace(/^\[|\]$/g, ''), port: proxy.port || undefined };
    const call: ClientRequest = ask({ ...target, method: 'CONNECT', path, headers, agent: false, timeout: timeoutMs });
    call.once('connect', ({ statusCode = 0 }, socket: Socket) => {
      socket.setTimeout(0);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      const refusal =
        login === ':' ? 'requires credentials: put them into HTTPS_PROXY' : 'rejected the credentials in HTTPS_PROXY';
      fail(statusCode === 407 ? `${refusal} (HTTP 407)` : `answered HTTP ${statusCode}`);
    });
    call.once('response', ({ statusCode }) => fail(`answered HTTP ${statusCode}`));
    call.once('timeout', () => call.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)));
    call.once('error', (error) => fail(`cannot be reached: ${error.message}`));
    call.end();
  });
}

export function connectThrough(proxy: URL): buildConnector.connector {
  return ({ hostname, port, servername }, callback) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    openTunnel(proxy, { host, port: Number(port) || 443, timeoutMs: connectTimeoutMs }).then(
      (socket) => {
        const name = isIP(host) === 0 ? { servername: servername ?? host } : {};
        const encrypted = connectTls({ socket, host, ...name });
        const fail = (error: Error) => callback(error, null);
        encrypted.once('error', fail);
        encrypted.once('secureConnect', () => {
          encrypted.off('error', fail);
          callback(null, encrypted);
        });
      },
      (error: Error) => callback(error, null),
    );
  };
}

export async function fetchByProxy(
  url: string,
  init: { method: string; headers: Record<string, string>; body?: Uint8Array | Blob },
): Promise<Response> {
  const { origin } = new URL(url);
  const proxy = proxyFor(new URL(url));
  if (proxy === undefined) return fetch(url, init);
  const key = `${proxy.href} ${origin}`;
  const dispatcher = pools.get(key) ?? new Pool(origin, { connect: connectThrough(proxy) });
  pools.set(key, dispatcher);
  // Node's own undici accepts dispatchers of the installed undici; only their types differ.
  const through: object = { ...init, dispatcher };
  return fetch(url, through);
}

const pools = new Map<string, Pool>();

/** Connects to https hosts through a proxy. `check`: rejects if mediabatch may not connect to a host. */
export class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL;
  readonly #check: (host: string) => Promise<void>;

  constructor(
    proxy: URL,
    check: (host: string) => Promise<void>,
    options: ConstructorParameters<typeof HttpsAgent>[0],
  ) {
    super(options);
    this.#proxy = proxy;
    this.#check = check;
  }

  override createConnection(...[options, callback]: Parameters<HttpsAgent['createConnection']>): undefined {
    const { host, port, servername } = options as { host: string; port: number; servername?: string };
    this.#check(host)
      .then(() => openTunnel(this.#proxy, { host, port: Number(port), timeoutMs: connectTimeoutMs }))
      .then(
        (socket) => callback?.(null, connectTls({ ...(options as object), socket, servername: servername ?? host })),
        (error: Error) => callback?.(error, undefined as never),
      );
    return undefined;
  }
}

const connectTimeoutMs = 15_000;

type ConnectOnce = (address: URL, timeoutMs: number) => Promise<string | undefined>;

const mostTries = 3;
const timeoutMs = 4000;
const gapMs = 1000;

/**
 * Checks before a run that the service accepts connections and has a valid certificate. Tries three times. Sends no
 * request.
 */
export async function reachService(
  baseUrl: string,
  options: {
    clock: { sleep(ms: number): Promise<void> };
    onFailure(failure: { host: string; error: string; tries: number; of: number }): void;
    connect?: ConnectOnce;
  },
): Promise<{ is: 'reached' } | { is: 'unreachable'; host: string; error: string }> {
  const address = new URL(baseUrl);
  const { connect = connectOnce } = options;
  for (let tries = 1; ; tries += 1) {
    const error = await connect(address, timeoutMs);
    if (error === undefined) return { is: 'reached' };
    if (tries >= mostTries) return { is: 'unreachable', host: address.host, error };
    options.onFailure({ host: address.host, error, tries, of: mostTries });
    await options.clock.sleep(gapMs);
  }
}

async function connectOnce(address: URL, timeoutMs: number): Promise<string | undefined> {
  const host = address.hostname.replace(/^\[|\]$/g, '');
  const isSecure = address.protocol === 'https:';
  const port = address.port === '' ? (isSecure ? 443 : 80) : Number(address.port);
  const proxy = proxyFor(address);
  const tunnel = proxy && (await openTunnel(proxy, { host, port, timeoutMs }).catch((error: Error) => error.message));
  if (typeof tunnel === 'string') return tunnel;
  return new Promise((resolve) => {
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = isSecure
      ? connectTls({ host, port, ...named, ...defined({ socket: tunnel }) })
      : connectPlain({ host, port });
    const end = (error?: string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(error);
    };
    const timer = setTimeout(() => end(`no connection within ${timeoutMs / 1000} s`), timeoutMs);
    socket.on(isSecure ? 'secureConnect' : 'connect', () => end());
    socket.on('error', (error: NodeJS.ErrnoException & { errors?: Error[] }) => {
      end(error.message || error.errors?.[0]?.message || error.code || 'the connection broke');
    });
  });
}
