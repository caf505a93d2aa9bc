/**
 * Returns a function that removes the credential and the signatures of links from texts for users, files or logs. Error
 * texts are written to the lock, which is committed to git. No other code redacts.
 */
export type Redact = (text: string) => string;

export function makeRedact(secret: string | undefined): Redact {
  const spellings = spellingsOf(secret);
  return (text) => withoutSignatures(spellings.reduce((seen, spelling) => seen.replaceAll(spelling, '[key]'), text)); // I17
}

/**
 * Returns a function that checks whether a text contains the secret in any encoding. mediabatch never stores such a
 * text.
 */
export function makeKeyFinder(secret: string | undefined): (text: string) => boolean {
  const spellings = spellingsOf(secret);
  return (text) => spellings.some((spelling) => text.includes(spelling));
}

function spellingsOf(secret: string | undefined): string[] {
  if (secret === undefined || secret.length < 8) return [];
  const spellings = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    secret.slice(0, Math.max(12, secret.indexOf('_live_') + 6 + 6)),
  ].filter((text) => text.length >= 8);
  return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

// Servers choose these texts, so each pattern must take linear time: no match extends past the start of the next match.
const user = /(\/\/)[^\s"'<>/?#@]+@/g;
const query = /(\/\/(?:[^\s"'<>?#/]|\/(?!\/))+)[?#][^\s"'<>]+/g;
const escapedQuery = /(%3A%2F%2F(?:(?!%3A%2F%2F|%3F)[^\s"'<>])+%3F)[^\s"'<>]+/gi;
const named = /(?<![\w-])([\w-]*(?:signature|sig|token|credential|secret|api[_-]?key|password)=)[^\s"'<>&;,…]+/gi;
const bearer = /\b(Bearer\s+)[\w.~+/=-]{8,}/gi;

function withoutSignatures(text: string): string {
  const links = text.replace(user, '$1').replace(query, '$1?…').replace(escapedQuery, '$1…');
  return links.replace(named, '$1…').replace(bearer, '$1…'); // I17 (links)
}

type Credential = { is: 'api-key' | 'jwt'; token: string };

/** Recognizes an API key by the form `<prefix>_live_<random>`. Any other credential counts as a JWT. */
export function readCredential(token: string): Credential {
  return { is: /^[A-Za-z0-9-]+_live_/.test(token) ? 'api-key' : 'jwt', token };
}

/**
 * Returns a stable name for an account: the issuer and subject of a JWT or, for an API key, the key itself. The name is
 * as secret as the credential.
 */
export function accountName(token: string): string {
  if (readCredential(token).is === 'api-key') return token;
  try {
    const [, payload = ''] = token.split('.');
    const { iss, sub } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as {
      iss?: unknown;
      sub?: unknown;
    };
    return typeof sub === 'string' ? JSON.stringify([typeof iss === 'string' ? iss : '', sub]) : token;
  } catch {
    return token;
  }
}
