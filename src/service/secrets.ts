/** Redacts the credential in any text that may reach a person, a file or a log. The only place that does. */
export type Redact = (text: string) => string;

/** Replaces the secret in every spelling in which a server or a library could return it. */
export function makeRedact(secret: string | undefined): Redact {
  if (secret === undefined || secret.length < 8) return (text) => text;
  const spellings = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    secret.slice(0, Math.max(12, secret.indexOf('_live_') + 6 + 6)),
  ].filter((text) => text.length >= 8);
  const ordered = [...new Set(spellings)].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce((seen, spelling) => seen.replaceAll(spelling, '[key]'), text); // I17
}

export type Credential = { is: 'api-key' | 'jwt'; token: string };

/** API keys look like `<prefix>_live_<random>`; anything else is a token from an identity provider. */
export function readCredential(token: string): Credential {
  return { is: /^[A-Za-z0-9-]+_live_/.test(token) ? 'api-key' : 'jwt', token };
}

/**
 * The part of a credential that stays the same while one account signs in: for a JWT its issuer and subject, which
 * outlive each token; otherwise the credential itself. Just as secret.
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
