import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { defined } from '../ground/values.ts';
import { openTunnel, proxyFor } from './proxy.ts';

/** Connects once and disconnects. Resolves with `undefined` on success, otherwise with the error. */
type ConnectOnce = (address: URL, timeoutMs: number) => Promise<string | undefined>;

const mostTries = 3;
const timeoutMs = 4000;
const gapMs = 1000;

/**
 * Checks whether a service can be reached: its host name resolves, it accepts connections, and its certificate is
 * valid. Sends it nothing. Called once, before anything is bought: a run that has bought nothing need not try for long.
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

/** Connects with the same trusted certificates as the client. */
export async function connectOnce(address: URL, timeoutMs: number): Promise<string | undefined> {
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
