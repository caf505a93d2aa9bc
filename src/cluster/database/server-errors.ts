import { CampaignError } from '../../contract/failure.ts';
import { type Advice, call, way } from '../../ground/advice.ts';
import { messageOf } from '../../ground/values.ts';
import { showEngine, userOf } from './engine-url.ts';

/**
 * States of a server that pass by themselves: it starts, stops, fails over, has no room, or the connection broke. The
 * statement may or may not have been carried out.
 */
const passing = new Set([
  // Somebody has cancelled it, or a limit of this user did.
  ...['57014', '57P05', '25P04'],
  ...['57P01', '57P02', '57P03', '25P03', '25006', '53000', '53100', '53200', '53300', '53400'],
  // 08P01: a pooler without a free server. Once a connection was made, this code has no other meaning.
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
    // Names of containers are gone while theirs restart.
    'ENOTFOUND',
    'ENOENT',
  ],
]);

/** Two transactions in each other's way: one of them is to be done again. */
const clashes = new Set(['40001', '40P01', '55P03']);

/** Every connection that the server, the database or the role may have is taken. */
const noRoom = '53300';

/** Error codes of an object that exists by now: another process has made it at the same moment. */
const made = new Set(['23505', '42P06', '42P07', '42710', '42723']);

/** No database of that name, no tables of ours in it. */
const gone = new Set(['3D000', '3F000', '42P01']);

export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isAway);
  const code = codeOf(error);
  if (code !== undefined) return passing.has(code);
  // What the client says of a connection has no code.
  return /terminat|timeout|ended|not queryable|closed/i.test(error.message);
}

export function isClash(error: unknown): boolean {
  return clashes.has(codeOf(error) ?? '');
}

export function isMadeAlready(error: unknown): boolean {
  return made.has(codeOf(error) ?? '');
}

/** Whether a server has answered that its objects are gone: the engine was created again. */
export function isGone(error: unknown): boolean {
  return gone.has(codeOf((error as Error | undefined)?.cause ?? error) ?? '');
}

/** Whether this server, or this role on it, does not have a function: others do. */
export function isNotOffered(error: unknown): boolean {
  return ['42501', '42883', '0A000', '55000'].includes(codeOf((error as Error | undefined)?.cause ?? error) ?? '');
}

export function hasNoRoom(error: unknown): boolean {
  return codeOf(error) === noRoom;
}

/** An error like the server's own, for a connection that is given back to leave room for users. */
export function noRoomLeft(): Error {
  return Object.assign(new Error('its last free connection is kept for `cancel`'), { code: noRoom });
}

/** Returns the failure for a server error that a user has to fix. Undefined for other errors. */
export function refusalOf(error: unknown, url: string): CampaignError | undefined {
  const shown = showEngine(url);
  const said = messageOf(error);
  const refuse = (code: 'MB3702' | 'MB3707', message: string, hint: Advice) =>
    new CampaignError({ code, message, hint }, { cause: error });
  switch (codeOf(error)) {
    case '28P01':
      return refuse('MB3707', `the engine ${shown} does not let this user in: ${said}`, passwordHint);
    case '28000':
      return refuse('MB3707', `the engine ${shown} does not let this user in: ${said}`, entryHint(said));
    case '42501':
      return refuse('MB3707', `the engine ${shown} does not let ${userOf(url)} do this: ${said}`, grantHint(said, url));
    case '42P01':
    case '3F000':
      return refuse('MB3702', `tables of mediabatch are missing on the engine ${shown}: ${said}`, migrateHint);
    default:
      return undefined;
  }
}

/** The same for the first statement, where a user has to fix every failure. */
export function unusable(error: unknown, url: string): CampaignError {
  const known = error instanceof CampaignError ? error : refusalOf(error, url);
  if (known !== undefined) return known;
  const why = isPasswordMissing(error) ? 'it wants a password, and none is given' : messageOf(error);
  const message = `the engine ${showEngine(url)} cannot be used: ${why}`;
  return new CampaignError({ code: 'MB3702', message, hint: hintFor(error) }, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** The client says it in words of its protocol, and without a code. */
function isPasswordMissing(error: unknown): boolean {
  return /client password must be a (non-empty )?string/.test(messageOf(error));
}

const passwordHint =
  'user or password are not those of this server: put the password into PGPASSWORD or into MEDIABATCH_ENGINE';

const migrateHint = way('to make them, as the owner of the database', call('engine migrate'));

function entryHint(said: string): string {
  if (/no encryption/.test(said)) return 'it lets nobody in without TLS: add ?sslmode=require to the address';
  return 'its pg_hba.conf has no line for this user, database and machine, or the role may not log in';
}

/** `permission denied for database media`: names come as they are to be written in SQL, or in quotes. */
function grantHint(said: string, url: string): Advice {
  const role = quoted(userOf(url));
  const [, database] = /permission denied for database "?(.+?)"?$/.exec(said) ?? [];
  const owner = way('or as the owner of the database, once', call('engine migrate', '--grant', userOf(url)));
  if (database === undefined) return owner;
  return [`in psql, as its owner: GRANT CREATE ON DATABASE ${quoted(database)} TO ${role};`, owner];
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Failures of a certificate, as Node names them. */
const certificate = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

function hintFor(error: unknown): Advice {
  if (isPasswordMissing(error)) return 'put it into PGPASSWORD or into MEDIABATCH_ENGINE';
  const code = codeOf(error);
  if (code !== undefined && certificate.test(code)) {
    return 'its certificate is checked: name the file of its CA (?sslmode=verify-full&sslrootcert=/path/ca.pem); ?sslmode=no-verify checks nothing';
  }
  if (/does not support SSL/.test(messageOf(error))) return 'it has no TLS: leave sslmode out, or say ?sslmode=disable';
  switch (code) {
    case noRoom:
      return 'all its connections are taken: end some of them (SELECT usename, application_name, count(*) FROM pg_stat_activity GROUP BY 1, 2), or raise max_connections; a worker needs 2, and 8 while it is the head';
    case '08P01':
      return 'that looks like a pooler which has no server, or no place: name the server itself, or a pooler that keeps sessions (PgBouncer: pool_mode = session)';
    case '3D000':
      return 'there is no such database: createdb makes one';
    case 'ENOTFOUND':
      return 'no host has this name';
    case 'ENOENT':
      return 'a file of the address is not there: the socket of a server on this machine, or sslrootcert, sslcert, sslkey';
    default:
      return 'check the address, and whether the server runs; nothing was sent';
  }
}
