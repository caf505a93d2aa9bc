import { hash } from 'node:crypto';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { systemClock } from '../contract/clock.ts';
import { CampaignError } from '../contract/failure.ts';
import type { Notify } from '../contract/notice.ts';
import { type SpendingLeft, type SpendingLimits, spans, tightestOf } from '../contract/spending.ts';
import { findWayOut } from '../disk/fs/own-tree.ts';
import { lstatOrAbsent, readSmallFile } from '../disk/fs/plain-file.ts';
import { runCommand } from '../disk/run-command.ts';
import { readSpent } from '../disk/state/spending-files.ts';
import { isLoopbackHost } from '../graph/address.ts';
import { call, way } from '../ground/advice.ts';
import { defined } from '../ground/values.ts';
import { accountName, readCredential } from '../service/secrets.ts';

const longestDotEnv = 1024 * 1024;

/** URL and API key of the service. Never read from a manifest. */
export interface Access {
  baseUrl: string;
  token: string;
}

export interface Environment {
  baseUrl?: string;
  token?: string;
  playMoney?: true;
  /** Read from the environment variable `MEDIABATCH_LIMIT` only, because a git branch can contain a `.env`. */
  limits?: SpendingLimits;
  /** Reason why a user must approve purchases interactively. Omitted if options such as `--yes` are sufficient. */
  consent?: string;
  /**
   * Part of `.env` that mediabatch ignores. `half`: the URL (or key) in it, because the key (or URL) is an exported
   * variable. `command`: `MEDIABATCH_API_KEY_COMMAND`. `limit`: `MEDIABATCH_LIMIT`.
   */
  dotEnv?: 'unreadable' | 'half' | 'command' | 'limit';
}

/**
 * Reads URL and API key from the environment. Reads both from `.env` only if neither is exported: otherwise a `.env` in
 * a git branch could send a real key to another host. `MEDIABATCH_API_KEY_COMMAND` runs once, when `token` is first
 * read.
 */
export function readEnvironment(env: NodeJS.ProcessEnv, folder: string): Environment {
  const own = pick(env);
  const { baseUrl, token } = own;
  if (knowsPlayMoneyOnly(env)) {
    const filed = baseUrl === undefined && token === undefined ? readDotEnv(folder) : {};
    return {
      playMoney: true,
      ...defined({ baseUrl: baseUrl ?? (filed === 'unreadable' ? own : pick(filed)).baseUrl }),
    };
  }
  const given = { ...own, ...defined({ limits: readLimits(env.MEDIABATCH_LIMIT), consent: consentRequiredBy(env) }) };
  const command = env[keyCommandName]?.trim();
  if (command && token === undefined) return withToken(given, command);
  if (baseUrl !== undefined && token !== undefined) return given;
  const filed = readDotEnv(folder);
  if (filed === 'unreadable') return { ...given, dotEnv: 'unreadable' };
  const theirs = pick(filed);
  if (baseUrl !== undefined || token !== undefined) {
    const missing = baseUrl === undefined ? theirs.baseUrl : theirs.token;
    return missing === undefined ? given : { ...given, dotEnv: 'half' };
  }
  const found = { ...theirs, ...given };
  if (filed[keyCommandName]?.trim()) return { ...found, dotEnv: 'command' };
  return filed.MEDIABATCH_LIMIT && given.limits === undefined ? { ...found, dotEnv: 'limit' } : found;
}

function withToken(environment: Environment, command: string): Environment {
  let token: string | undefined;
  return Object.defineProperty({ ...environment }, 'token', {
    enumerable: true,
    get: () => {
      token ??= keyFromCommand(command);
      return token;
    },
  });
}

/** Throws MB3000 unless `MEDIABATCH_SANDBOX` is 1, 0 or empty. */
export function knowsPlayMoneyOnly(env: NodeJS.ProcessEnv): boolean {
  const value = env.MEDIABATCH_SANDBOX?.trim() ?? '';
  if (value === '' || value === '0') return false;
  if (value === '1') return true;
  throw new CampaignError({
    code: 'MB3000',
    message: `MEDIABATCH_SANDBOX is ${JSON.stringify(value)}; allowed are 1 and 0`,
    hint: 'set MEDIABATCH_SANDBOX to 1 to use only the sandbox, or unset it',
    value,
    known: ['1', '0'],
  });
}

function pick(env: NodeJS.Dict<string>): Environment {
  const baseUrl = env.MEDIABATCH_BASE_URL?.trim();
  const token = env.MEDIABATCH_API_KEY?.trim();
  return { ...(baseUrl && { baseUrl }), ...(token && { token }) };
}

/** `unreadable`: `.env` is not a regular file, is a link out of the folder, or permission is denied. */
export function readDotEnv(folder: string): NodeJS.Dict<string> | 'unreadable' {
  const path = join(folder, '.env');
  const bytes = findWayOut(path) === undefined ? readSmallFile(path, longestDotEnv) : undefined;
  if (bytes === undefined) return lstatOrAbsent(path) === undefined ? {} : 'unreadable';
  return parseEnv(plainDotEnv(bytes));
}

/** Converts `.env` variants to UTF-8 lines `NAME=value`: UTF-16, byte order mark, `set NAME=`, `NAME: value`. */
function plainDotEnv(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isBigEndian = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  const isLittleEndian = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
  const encoding = isBigEndian ? 'utf-16be' : isLittleEndian ? 'utf-16le' : 'utf-8';
  const text = new TextDecoder(encoding).decode(bytes);
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replace(/^[ \t]*set[ \t]+"(MEDIABATCH_[^"\r\n]*)"/gim, '$1')
    .replace(/^[ \t]*(?:set[ \t]+|export[ \t]+|\$env:)?(MEDIABATCH_[A-Z_]+)[ \t]*[=:]/gim, '$1=');
}

export function hasKey(environment: Environment): boolean {
  return 'token' in environment;
}

export function withHiddenKey(environment: Environment): Environment {
  const { token, ...others } = Object.getOwnPropertyDescriptors(environment);
  const hidden = token === undefined ? {} : { token: { ...token, enumerable: false } };
  return Object.defineProperties({}, { ...others, ...hidden });
}

/** Returns `yes` if the credential is an API key: for a JWT, the service does not replay idempotency keys. */
export function replaysOf(sandbox: boolean, { token }: Environment): 'yes' | 'no' | 'unknown' {
  if (sandbox) return 'yes';
  if (token === undefined || whyNotKey(token) !== undefined) return 'unknown';
  return readCredential(token).is === 'api-key' ? 'yes' : 'no';
}

/**
 * Digest of the account, salted with `send` (ID of a create request) so that two digests cannot be compared. For a JWT,
 * issuer and subject identify the account. Undefined in the sandbox.
 */
export function accountDigest(send: string, sandbox: boolean, { token }: Environment): string | undefined {
  if (sandbox || token === undefined) return undefined;
  return hash('sha256', `${send} ${accountName(token)}`).slice(0, 32);
}

export function requireAccess(environment: Environment, { rehearses = true } = {}): Access {
  const { baseUrl, playMoney, dotEnv } = environment;
  if (playMoney) {
    const hint = rehearses ? 'add --sandbox' : 'this command needs a real service';
    throw noAccess('MEDIABATCH_SANDBOX is 1, so no real service is contacted', hint);
  }
  // A git branch may contain a `.env`, which must not choose a program to run.
  if (dotEnv === 'command') {
    const hint = `export ${keyCommandName}, and remove the variable from .env: a branch could contain a .env that runs any program`;
    throw noKey('a command in .env is not run', hint);
  }
  const half =
    dotEnv === 'half'
      ? 'the missing value is in .env, but .env is used only if neither the address nor the key is exported: a branch could send your key elsewhere. Export the address and the key, or put both into .env'
      : undefined;
  const { token } = environment;
  if (token === undefined) {
    const file = dotEnv === 'unreadable' ? ', and .env in this folder is not a readable file' : '';
    const way = `set MEDIABATCH_API_KEY and MEDIABATCH_BASE_URL (or put both into .env; ${keyCommandName} names a program that prints the key)`;
    const hint = half ?? `${way}${rehearses ? ', or try everything without an account with --sandbox' : ''}`;
    throw noAccess(`no API key: MEDIABATCH_API_KEY is not set${file}`, hint);
  }
  const wrong = whyNotKey(token);
  if (wrong !== undefined) {
    const isPrinted = Object.getOwnPropertyDescriptor(environment, 'token')?.get !== undefined;
    const source = isPrinted ? `the output of ${keyCommandName}` : 'MEDIABATCH_API_KEY';
    throw noAccess(`${source} ${wrong.problem}, so the key was not sent`, wrong.hint);
  }
  if (baseUrl === undefined) {
    const way = `set MEDIABATCH_BASE_URL to the service address that ends in /api/v1${rehearses ? ', or use --sandbox' : ''}`;
    throw noAccess('MEDIABATCH_BASE_URL is not set, so the address of the service is unknown', half ?? way);
  }
  return { baseUrl: checkBaseUrl(baseUrl), token };
}

function noAccess(message: string, hint: string): CampaignError {
  return new CampaignError({ code: 'MB3201', message, hint });
}

function noKey(why: string, hint: string): CampaignError {
  return noAccess(`${keyCommandName} returned no API key: ${why}`, hint);
}

function checkBaseUrl(text: string): string {
  const wrong = (message: string) =>
    new CampaignError({
      code: 'MB3206',
      message: `MEDIABATCH_BASE_URL ${message}`,
      hint: 'use an address of the form https://host/api/v1',
    });
  if (!URL.canParse(text)) throw wrong('is not a URL');
  const url = new URL(text);
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) {
    throw wrong('must be https (http only to this machine), because every request contains the key');
  }
  if (url.username !== '' || url.password !== '') throw wrong('must not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw wrong('must not contain a ? or # part');
  if (!/\/api\/v1\/?$/.test(url.pathname)) throw wrong(`ends in ${url.pathname}, not in /api/v1`);
  return url.href.replace(/\/+$/, '');
}

const beforeKey =
  /^(?:\\?["'`<$%{[(]|authorization\s*:|(?:bearer|basic|token)(?=[\s:=,+]|%20|$)|(?:export\s+)?[A-Z][A-Z0-9_]*_(?:KEY|TOKEN)\s*=)/i;
const afterKey = /\\?["'`>})\]%,;]$/;

/** Returns why a credential is malformed, without quoting it. Returns `undefined` if the form of the credential shows no mistake. */
function whyNotKey(token: string): { problem: string; hint: string } | undefined {
  const hint = 'provide only the key, on one line, as the dashboard shows it';
  const before = beforeKey.exec(token)?.[0];
  if (before !== undefined) return { problem: `begins with ${before}`, hint };
  const odd = /[^\x21-\x7e]/u.exec(token)?.[0];
  if (odd !== undefined) {
    const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return { problem: `has a space or the character U+${code}, which no key has`, hint };
  }
  const after = afterKey.exec(token)?.[0];
  return after === undefined ? undefined : { problem: `ends with ${after}`, hint };
}

const slowMs = 1000;

export async function requireService({ baseUrl }: Access, notify: Notify): Promise<void> {
  const { reachService } = await import('../service/proxy.ts');
  const slow = setTimeout(() => notify({ is: 'connecting', text: new URL(baseUrl).host }), slowMs);
  const found = await reachService(baseUrl, {
    clock: systemClock,
    onFailure({ host, error, tries, of }) {
      clearTimeout(slow);
      notify({ is: 'cannot reach', text: `${host}: ${error}; trying again (${tries + 1} of ${of})` });
    },
  });
  clearTimeout(slow);
  if (found.is === 'reached') return;
  throw new CampaignError({
    code: 'MB3203',
    message: `the service cannot be reached: ${found.host}: ${found.error}`,
    hint: isUntrusted(found.error)
      ? certificateHint
      : way(
          'nothing was sent; check MEDIABATCH_BASE_URL, the network and HTTPS_PROXY, or run all checks',
          call('doctor'),
        ),
    host: found.host,
  });
}

export const certificateHint =
  'nothing was sent; if a company proxy signs connections, set NODE_EXTRA_CA_CERTS to the PEM file of the company certificates';

export function isUntrusted(error: string): boolean {
  return /self.signed|unable to (get|verify)|certificate chain|UNABLE_TO|SELF_SIGNED/i.test(error);
}

/** Reads limits such as `100/run,400/day,2000/month`. Throws MB3000. `name`: variable or option. */
export function readLimits(text: string | undefined, name = 'MEDIABATCH_LIMIT'): SpendingLimits | undefined {
  const parts = (text ?? '').split(',').map((part) => part.trim());
  if (parts.every((part) => part === '')) return undefined;
  const limits: SpendingLimits = {};
  for (const part of parts) {
    const [, credits, per] = /^(\d{1,10})\s*\/\s*(run|day|month)$/.exec(part) ?? [];
    const span = spans.find((one) => one === per);
    if (span === undefined || limits[span] !== undefined) throw unreadable(name, text ?? '');
    limits[span] = Number(credits);
  }
  return limits;
}

function unreadable(name: string, value: string): CampaignError {
  return new CampaignError({
    code: 'MB3000',
    message: `${name} is ${JSON.stringify(value)}, which is not a valid limit`,
    hint: 'write credits per run, day or month: 100/run,400/day,2000/month',
    value,
    known: [...spans],
  });
}

export async function tightestLimit(
  limits: SpendingLimits | undefined,
  now: number,
): Promise<SpendingLeft | undefined> {
  return limits && tightestOf(limits, await readSpent(now));
}

export const keyCommandName = 'MEDIABATCH_API_KEY_COMMAND';

/** Time limit of the key command, long enough for a user to unlock a keychain. */
const timeoutMs = 60_000;

function keyFromCommand(command: string): string {
  const found = runCommand(command, timeoutMs);
  const hint = 'run the command by hand, and check that it prints the key';
  if (found.is === 'failed')
    throw noKey(found.said === '' ? found.why : `${found.why}; error output: ${found.said}`, hint);
  const key = found.out.trim();
  if (key === '') throw noKey('it printed nothing', hint);
  return key;
}

export const programVariables = [
  'AI_AGENT',
  'AGENT',
  'AUGMENT_AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE',
  'CLINE_ACTIVE',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'CODEX_THREAD_ID',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'GOOSE_TERMINAL',
  'OPENCODE',
  'QWEN_CODE',
] as const;

/** Returns why a user must approve interactively, or undefined if an option is sufficient. Throws MB3000. */
export function consentRequiredBy(env: NodeJS.ProcessEnv): string | undefined {
  const wanted = env.MEDIABATCH_CONSENT?.trim() ?? '';
  // A misspelt value must not disable the required approval.
  if (wanted !== '' && wanted !== 'person') {
    throw new CampaignError({
      code: 'MB3000',
      message: `MEDIABATCH_CONSENT is ${JSON.stringify(wanted)}; the only allowed value is person`,
      value: wanted,
      known: ['person'],
      hint: 'set MEDIABATCH_CONSENT to person, which disables --yes and --publish, or unset it',
    });
  }
  if (wanted === 'person') return 'MEDIABATCH_CONSENT is person';
  const set = programVariables.find((name) => (env[name] ?? '') !== '');
  return set === undefined ? undefined : `${set} marks the caller as an agent`;
}
