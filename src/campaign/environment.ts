import { hash } from 'node:crypto';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CampaignError } from '../contract/failure.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile } from '../disk/fs/plain-file.ts';
import { isLoopbackHost } from '../graph/inward-address.ts';
import { accountName, readCredential } from '../service/secrets.ts';
import { whyNotKey } from './check-key.ts';

const longestDotEnv = 1024 * 1024;

/** Where the service is and how to sign in. Never from a manifest. */
export interface Access {
  baseUrl: string;
  token: string;
}

export interface Environment {
  baseUrl?: string;
  token?: string;
  /** Connections are made by a proxy that Node takes from the environment. */
  proxied?: true;
  /** There is a `.env`, and it is no file of this tree that can be read. */
  unread?: true;
}

/**
 * Reads `MEDIABATCH_BASE_URL` and `MEDIABATCH_API_KEY`; or both from a `.env` in the working folder, which is read only
 * when neither is set: otherwise a file in somebody's branch could point a real key at another host.
 */
export function readEnvironment(env: NodeJS.ProcessEnv, folder: string): Environment {
  const proxied = env.NODE_USE_ENV_PROXY === undefined ? {} : { proxied: true as const };
  const own = pick(env);
  if (own.baseUrl !== undefined || own.token !== undefined) return { ...own, ...proxied };
  const filed = readDotEnv(folder);
  return filed === 'unreadable' ? { unread: true } : { ...pick(filed), ...proxied };
}

function pick(env: NodeJS.Dict<string>): Environment {
  const baseUrl = env.MEDIABATCH_BASE_URL?.trim();
  const token = env.MEDIABATCH_API_KEY?.trim();
  return { ...(baseUrl && { baseUrl }), ...(token && { token }) };
}

/**
 * Reads the `.env` of a folder. Empty where there is none. `unreadable`: it is no file (nobody waits for a pipe), not
 * for this user, or a link that leads out of the tree.
 */
export function readDotEnv(folder: string): NodeJS.Dict<string> | 'unreadable' {
  const path = join(folder, '.env');
  const bytes = findWayOut(path) === undefined ? readSmallFile(path, longestDotEnv) : undefined;
  if (bytes === undefined) return lstatOrAbsent(path) === undefined ? {} : 'unreadable';
  return parseEnv(bytes.toString('utf8'));
}

/** Whether the service gives the same job for the same key: it does for an API key. */
export function replaysOf(sandbox: boolean, { token }: Environment): 'yes' | 'no' | 'unknown' {
  if (sandbox) return 'yes';
  if (token === undefined || whyNotKey(token) !== undefined) return 'unknown';
  return readCredential(token).is === 'api-key' ? 'yes' : 'no';
}

/**
 * Says of two runs whether they sign in to one account, without telling who that is: salted with the id of a send. A JWT is
 * renewed while its issuer and subject stay; of an API key nothing but itself is known. The embedded sandbox has one account.
 */
export function accountDigest(send: string, sandbox: boolean, { token }: Environment): string | undefined {
  if (sandbox || token === undefined) return undefined;
  return hash('sha256', `${send} ${accountName(token)}`).slice(0, 32);
}

/** Address and key of the service; throws an error that says how to get them. `rehearses`: it could be done without them. */
export function requireAccess(environment: Environment, { rehearses = true } = {}): Access {
  const { baseUrl, token } = environment;
  if (token === undefined) {
    throw new CampaignError({
      code: 'MB3201',
      message: `no API key: MEDIABATCH_API_KEY is not set${environment.unread ? ', and .env here is no file of this folder that can be read' : ''}`,
      hint: `set MEDIABATCH_API_KEY and MEDIABATCH_BASE_URL (or put both into .env)${rehearses ? ', or try everything without an account with --sandbox' : ''}`,
    });
  }
  const wrong = whyNotKey(token);
  if (wrong !== undefined) {
    const message = `MEDIABATCH_API_KEY ${wrong.problem}, so it was not sent`;
    throw new CampaignError({ code: 'MB3201', message, hint: wrong.hint });
  }
  if (baseUrl === undefined) {
    throw new CampaignError({
      code: 'MB3201',
      message: 'MEDIABATCH_BASE_URL is not set, so it is not known where the service is',
      hint: `set it to the address that ends in /api/v1${rehearses ? ', or use --sandbox' : ''}`,
    });
  }
  return { baseUrl: checkBaseUrl(baseUrl), token };
}

function checkBaseUrl(text: string): string {
  const wrong = (message: string) =>
    new CampaignError({
      code: 'MB3206',
      message: `MEDIABATCH_BASE_URL ${message}`,
      hint: 'it looks like https://host/api/v1',
    });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw wrong('is not a URL');
  }
  const loopback = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback)) {
    throw wrong('must be https (http only to this machine), because the key travels with every request');
  }
  if (url.username !== '' || url.password !== '') throw wrong('must not hold a login');
  if (url.search !== '' || url.hash !== '') throw wrong('must not hold a ? or # part');
  if (!/\/api\/v1\/?$/.test(url.pathname)) throw wrong(`ends in ${url.pathname}, not in /api/v1`);
  return url.href.replace(/\/+$/, '');
}
