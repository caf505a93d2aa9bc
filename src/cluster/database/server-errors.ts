import { userInfo } from 'node:os';
import { CampaignError } from '../../contract/failure.ts';
import { type Advice, call, way } from '../../ground/advice.ts';
import { messageOf } from '../../ground/values.ts';

/** Codes of transient errors. The server may have executed the statement that failed. */
const passing = new Set([
  // The statement was cancelled by an administrator, or by a timeout that is set for this user.
  ...['57014', '57P05', '25P04'],
  ...['57P01', '57P02', '57P03', '25P03', '25006', '53000', '53100', '53200', '53300', '53400'],
  // 08P01: a pooler has no free server connection. On an open connection, 08P01 has no other cause.
  ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01', '58030'],
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
    'EAI_AGAIN',
    // While containers restart, their host names do not resolve.
    'ENOTFOUND',
    'ENOENT',
  ],
]);

/** Codes of conflicts between concurrent transactions. */
const clashes = new Set(['40001', '40P01', '55P03']);

const noRoom = '53300';

/** Codes of a CREATE that failed because another process created the same object at the same time. */
const made = new Set(['23505', '42P06', '42P07', '42710', '42723']);

const gone = new Set(['3D000', '3F000', '42P01']);

export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnreachable);
  const code = codeOf(error);
  if (code !== undefined) return passing.has(code);
  // Connection errors of the client library have no code.
  return /terminat|timeout|ended|not queryable|closed/i.test(error.message);
}

export function isClash(error: unknown): boolean {
  return clashes.has(codeOf(error) ?? '');
}

export function isMadeAlready(error: unknown): boolean {
  return made.has(codeOf(error) ?? '');
}

/** Returns true if the database, schema or tables do not exist. */
export function isMissing(error: unknown): boolean {
  return gone.has(codeOf((error as Error | undefined)?.cause ?? error) ?? '');
}

export function isNotOffered(error: unknown): boolean {
  return ['42501', '42883', '0A000', '55000'].includes(codeOf((error as Error | undefined)?.cause ?? error) ?? '');
}

export function hasNoRoom(error: unknown): boolean {
  return codeOf(error) === noRoom;
}

export function refusalOf(error: unknown, url: string): CampaignError | undefined {
  const shown = showEngine(url);
  const said = messageOf(error);
  const refuse = (code: 'MB3702' | 'MB3707', message: string, hint: Advice) =>
    new CampaignError({ code, message, hint }, { cause: error });
  switch (codeOf(error)) {
    case '28P01':
      return refuse('MB3707', `the engine ${shown} rejected this user: ${said}`, passwordHint);
    case '28000':
      return refuse('MB3707', `the engine ${shown} rejected this user: ${said}`, entryHint(said));
    case '42501':
      return refuse(
        'MB3707',
        `the engine ${shown} does not permit user ${userOf(url)} to do this: ${said}`,
        grantHint(said, url),
      );
    case '42P01':
    case '3F000':
      return refuse('MB3702', `tables of mediabatch are missing on the engine ${shown}: ${said}`, migrateHint);
    default:
      return undefined;
  }
}

export function unusable(error: unknown, url: string): CampaignError {
  const known = error instanceof CampaignError ? error : refusalOf(error, url);
  if (known !== undefined) return known;
  const why = isPasswordMissing(error) ? 'the server requires a password, and no password is set' : messageOf(error);
  const message = `the engine ${showEngine(url)} cannot be used: ${why}`;
  return new CampaignError({ code: 'MB3702', message, hint: hintFor(error) }, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function isPasswordMissing(error: unknown): boolean {
  return /client password must be a (non-empty )?string/.test(messageOf(error));
}

const passwordHint = 'the server rejected user or password: put the password into PGPASSWORD or into MEDIABATCH_ENGINE';

const migrateHint = way('to create the tables, as the owner of the database', call('engine migrate'));

function entryHint(said: string): string {
  if (/no encryption/.test(said)) return 'the server requires TLS: add ?sslmode=require to the address';
  return 'add a line for this user, database and machine to pg_hba.conf of the server, or let the role log in';
}

function grantHint(said: string, url: string): Advice {
  const role = quoted(userOf(url));
  const [, database] = /permission denied for database "?(.+?)"?$/.exec(said) ?? [];
  const owner = way('or once, as the owner of the database', call('engine migrate', '--grant', userOf(url)));
  if (database === undefined) return owner;
  return [`in psql, as the owner of the database: GRANT CREATE ON DATABASE ${quoted(database)} TO ${role};`, owner];
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

function hintFor(error: unknown): Advice {
  if (isPasswordMissing(error)) return 'put the password into PGPASSWORD or into MEDIABATCH_ENGINE';
  const code = codeOf(error);
  if (code !== undefined && certificate.test(code)) {
    return 'name the CA file of the server certificate in the address (?sslmode=verify-full&sslrootcert=/path/ca.pem), or turn the check off with ?sslmode=no-verify';
  }
  if (/does not support SSL/.test(messageOf(error)))
    return 'the server has no TLS: remove sslmode, or write ?sslmode=disable';
  switch (code) {
    case noRoom:
      return 'all connections of the server are in use: end some connections (SELECT usename, application_name, count(*) FROM pg_stat_activity GROUP BY 1, 2), or raise max_connections; a worker needs 2, and 9 while it leads';
    case '08P01':
      return 'a pooler answered that it has no server or no free connection: use the address of the server itself, or a pooler that keeps sessions (PgBouncer: pool_mode = session)';
    case '3D000':
      return 'the database does not exist: create it with createdb';
    case 'ENOTFOUND':
      return 'check the host name in the address: no host with this name was found';
    case 'ENOENT':
      return 'a file in the address does not exist: the socket of a server on this machine, or sslrootcert, sslcert, sslkey';
    default:
      return 'check the address, and whether the server runs; nothing was sent';
  }
}

/** Throws MB3705 unless the text is a PostgreSQL URL. */
export function checkEngineUrl(text: string): void {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {}
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new CampaignError({
      code: 'MB3705',
      message: `${url === undefined ? 'the engine' : showEngine(text)} is not the address of a PostgreSQL database`,
      hint: 'write it as postgres://user@host:5432/database; the password can be in PGPASSWORD. examples/engine/compose.yaml starts a database and two workers',
    });
  }
  // If the password has an unescaped slash, the rest of the password is parsed as part of the path.
  if (url.pathname.includes('@')) {
    throw new CampaignError({
      code: 'MB3705',
      message: 'the address of the engine has an @ after its host',
      hint: 'write / as %2F and @ as %40 in the password, or put the unescaped password into PGPASSWORD',
    });
  }
}

/** Values of `sslmode` that the driver treats as `verify-full` after a deprecation warning. */
const asVerified = new Set(['prefer', 'require', 'verify-ca']);

export function connectionString(text: string): string {
  const { searchParams } = new URL(text);
  const mode = searchParams.get('sslmode');
  if (mode === null || !asVerified.has(mode) || searchParams.get('uselibpqcompat') === 'true') return text;
  return text.replace(/([?&]sslmode=)[^&#]*/, '$1verify-full');
}

function userOf(text: string): string {
  const { username } = new URL(text);
  return decodeURIComponent(username) || process.env.PGUSER || userInfo().username;
}

export function showEngine(text: string): string {
  // In an address without `//`, the URL parser reads a user name as protocol and a password as path.
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return 'the engine';
  const { protocol, username, host, pathname } = new URL(text);
  if (pathname.includes('@')) return 'the engine';
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
