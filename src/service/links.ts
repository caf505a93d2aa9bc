import { lookup as systemLookup } from 'node:dns';
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { isInward, isLoopbackHost } from '../graph/address.ts';
import { proxyFor, TunnelAgent } from './proxy.ts';

interface LinkCall {
  method: 'GET' | 'PUT';
  headers: { [name: string]: string };
  body?: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
  /** Time limit in ms for the answer, from the start of the connection or the last piece that was sent. */
  silenceMs: number;
}

/** Sends HTTP requests for downloads and uploads to the hosts in links from the service. Never sends the credential. */
export interface Links {
  readonly ownHost: string | undefined;
  /**
   * Resolves with the answer. The caller must read or destroy the body of the answer, or the connection stays occupied.
   * Rejects if no answer arrives.
   */
  ask(link: Extract<JudgedLink, { is: 'allowed' }>, call: LinkCall): Promise<IncomingMessage>;
  close(): void;
}

export function createLinks(options: { baseUrl: string; lookup?: Parameters<typeof makeCheckedLookup>[0] }): Links {
  const shared = { ...connectionOptions, keepAlive: true, maxSockets: 16, highWaterMark: 65_536 };
  const lookup = makeCheckedLookup(options.lookup);
  // Ignores failed lookups: the proxy may resolve host names that this machine cannot resolve.
  const check = (host: string) =>
    new Promise<void>((resolve, reject) => {
      lookup(host, {}, (error) => (error instanceof RefusedAddressError ? reject(error) : resolve()));
    });
  const agents = {
    public: new HttpsAgent({ ...shared, lookup }),
    own: new HttpAgent(shared),
    ownEncrypted: new HttpsAgent(shared),
  };
  const tunnels = new Map<string, TunnelAgent>();
  const tunnelOf = (proxy: URL): TunnelAgent => {
    const known = tunnels.get(proxy.href) ?? new TunnelAgent(proxy, check, shared);
    tunnels.set(proxy.href, known);
    return known;
  };
  return {
    ownHost: ownHostOf(options.baseUrl),
    ask({ url, isOwn }, call) {
      const isEncrypted = url.protocol === 'https:';
      const proxy = isOwn ? undefined : proxyFor(url);
      const agent = proxy ? tunnelOf(proxy) : !isOwn ? agents.public : isEncrypted ? agents.ownEncrypted : agents.own;
      const { method, headers } = call;
      const request = isEncrypted ? httpsRequest : httpRequest;
      return answerTo(() => request({ ...urlToHttpOptions(url), agent, method, headers }), call);
    },
    close() {
      for (const agent of [...Object.values(agents), ...tunnels.values()]) agent.destroy();
    },
  };
}

function answerTo(open: () => ClientRequest, { body, signal, silenceMs }: LinkCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = open();
    let timer: NodeJS.Timeout | undefined;
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    };
    const fail = (error: unknown) => {
      settle();
      reject(error);
      request.destroy();
    };
    const giveUp = () => fail(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    request.once('socket', () => {
      timer = setTimeout(() => fail(new Error(`no answer within ${Math.round(silenceMs / 1000)} s`)), silenceMs);
    });
    request.once('response', (response) => {
      settle();
      // Prevents an uncaught exception if the connection fails before the body is read.
      response.on('error', () => {});
      // If the connection was reset, a body without a stated length must not seem complete.
      request.on('error', (error) => response.destroy(error));
      resolve(response);
    });
    request.on('error', fail);
    request.once('close', () => fail(new Error('the connection was closed without an answer')));
    if (body === undefined) request.end();
    else send(body, request, () => timer?.refresh()).catch(fail);
  });
}

async function send(body: AsyncIterable<Uint8Array>, request: ClientRequest, onTaken: () => void): Promise<void> {
  for await (const piece of body) {
    onTaken();
    if (!request.destroyed && !request.write(piece)) await drained(request);
    if (request.destroyed) return;
  }
  request.end();
}

function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const goOn = () => {
      request.off('drain', goOn);
      request.off('close', goOn);
      resolve();
    };
    request.once('drain', goOn);
    request.once('close', goOn);
  });
}

type JudgedLink = { is: 'allowed'; url: URL; isOwn: boolean } | { is: 'refused'; message: string };

export class RefusedAddressError extends Error {}

/**
 * Returns the host of the service's base URL if it is a loopback host. Only links with this host name may lead to this
 * machine or use http. Any port is allowed, because a local service may store files in a second container.
 */
function ownHostOf(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return isLoopbackHost(hostname) ? hostname : undefined;
}

/**
 * Decides from the text of a link whether mediabatch may request it. No link may contain credentials. A link to a host
 * other than `ownHost` must be https, and its IP address public. `makeCheckedLookup` checks the addresses of host
 * names.
 */
export function judgeLink(text: string, ownHost: string | undefined): JudgedLink {
  if (!URL.canParse(text)) return { is: 'refused', message: `the link “${text.slice(0, 60)}” is not a URL` };
  const url = new URL(text);
  const { protocol, hostname } = url;
  const shown = `${protocol}//${url.host}`;
  if (url.username !== '' || url.password !== '')
    return { is: 'refused', message: `the link to ${url.host} contains credentials` };
  if (hostname === ownHost && (protocol === 'http:' || protocol === 'https:'))
    return { is: 'allowed', url, isOwn: true };
  const own = ownHost === undefined ? '' : `; only public https links and links to ${ownHost} are followed`;
  if (protocol !== 'https:') return { is: 'refused', message: `the link ${shown} is not https${own}` };
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isInward(address)) return { is: 'refused', message: `${notPublic(shown)}${own}` };
  return { is: 'allowed', url, isOwn: false };
}

/**
 * Returns a DNS lookup function that refuses a host name if one of its addresses is not public. The connection uses the
 * checked addresses, so that a second lookup cannot lead to others.
 */
export function makeCheckedLookup(lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null) callback(error, '');
      else if (first === undefined) callback(new RefusedAddressError(`${host} has no IP address`), '');
      else if (found.some(({ address }) => isInward(address)))
        callback(new RefusedAddressError(notPublic(`https://${host}`)), '');
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

function notPublic(shown: string): string {
  return `the link ${shown} leads to an address that is not public`;
}

/** Time in ms after which an idle connection is closed: before servers close it (often 5 s) and lose a request. */
export const keptForMs = 4000;
/** Delay in ms before Node tries a host's next address. Node's default of 250 is too short for a distant host. */
const nextAddressAfterMs = 2500;

const connectionOptions = { timeout: keptForMs, autoSelectFamilyAttemptTimeout: nextAddressAfterMs };
