import {
  type Access,
  type Environment,
  keyCommandName,
  readDotEnv,
  readEnvironment,
  requireAccess,
  tightestLimit,
} from '../../campaign/environment.ts';
import { exitCodes } from '../../contract/exit.ts';
import { type Finding, failureFinding } from '../../contract/notice.ts';
import { makeOwnFolder, stateFolder } from '../../disk/state/own-secret.ts';
import { proxyFor } from '../../service/proxy.ts';
import { readCredential } from '../../service/secrets.ts';
import { consentIn } from '../consent.ts';

const about = 'environment';
const names = ['MEDIABATCH_BASE_URL', 'MEDIABATCH_API_KEY'] as const;

function ok(text: string): Finding {
  return { about, state: 'ok', text };
}

/** Reports the sources of address and key, and whether they are usable. Never shows the key. */
export function checkEnvironment(
  env: NodeJS.ProcessEnv,
  { folder, now }: { folder: string; now: number },
): { findings: Finding[]; environment: Environment; access?: Access } {
  const environment = readEnvironment(env, folder);
  const findings = sourceFindings(env, folder);
  try {
    const access = requireAccess(environment);
    findings.push(ok(`the service is ${access.baseUrl}`));
    findings.push(...networkFindings(new URL(access.baseUrl), env), keyFinding(access.token, now));
    return { findings, environment, access };
  } catch (error) {
    findings.push({ ...failureFinding(about, error), exit: exitCodes.keyRefused });
    return { findings, environment };
  }
}

/** Reports the proxy and certificates of connections to the service. Never shows the login of a proxy. */
function networkFindings(address: URL, env: NodeJS.ProcessEnv): Finding[] {
  const proxy = proxyFor(address, env);
  const certificates = env.NODE_EXTRA_CA_CERTS;
  return [
    ...(proxy ? [ok(`connections go through the proxy ${proxy.host} (HTTPS_PROXY, HTTP_PROXY, NO_PROXY)`)] : []),
    ...(certificates ? [ok(`certificates of NODE_EXTRA_CA_CERTS are trusted: ${certificates}`)] : []),
  ];
}

function sourceFindings(env: NodeJS.ProcessEnv, folder: string): Finding[] {
  const own = [...names, keyCommandName].filter((name) => env[name]?.trim());
  const found = readDotEnv(folder);
  const file = found === 'unreadable' ? {} : found;
  const filed = names.filter((name) => file[name]?.trim());
  if (own.length === 0) return filed.length === 0 ? [] : [ok(`${filed.join(' and ')}: from .env in this folder`)];
  const findings = [ok(`${own.join(' and ')}: from the environment`)];
  if (filed.length === 0) return findings;
  const text = `.env in this folder also sets ${filed.join(' and ')}, and is ignored: it is read only if neither is in the environment`;
  const isMissing = names.some((name) => !own.includes(name) && filed.includes(name));
  const hint = 'put both into the environment, or both into .env';
  return [...findings, isMissing ? { about, state: 'warning', text, hint } : ok(text)];
}

export async function userFindings(env: NodeJS.ProcessEnv, { limits }: Environment, now: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  const consent = consentIn(env, { sandbox: false });
  if (consent.flags !== 'count') {
    findings.push(ok(`${consent.because}: --yes and --publish do not count, a user approves on a terminal`));
  }
  const tightest = await tightestLimit(limits, now);
  if (tightest !== undefined) {
    const { credits, per, left } = tightest;
    findings.push(ok(`MEDIABATCH_LIMIT is ${credits} credits a ${per} over all campaigns: ${left} are left`));
  }
  const folder = await makeOwnFolder();
  if (folder !== undefined) return [...findings, ok(`the purchase journal is in ${folder}`)];
  const text = `the purchase journal cannot be written${stateFolder() === undefined ? '' : `: ${stateFolder()}`}`;
  const hint = 'set XDG_STATE_HOME: without the journal a lost lock is not restored';
  return [...findings, { about, state: 'warning', text, hint }];
}

function keyFinding(token: string, now: number): Finding {
  if (readCredential(token).is === 'api-key') {
    const prefix = token.slice(0, token.indexOf('_live_'));
    return ok(`the key is an API key (${prefix}_live_…): lost answers of image and music are recovered for 23 hours`);
  }
  const expiresAt = expiryOf(token);
  const hint = 'use an API key from the dashboard: with it, lost answers of image and music can be recovered';
  if (expiresAt !== undefined && expiresAt <= now) {
    const text = `the token expired at ${new Date(expiresAt).toISOString()}`;
    return { about, state: 'problem', text, hint, exit: exitCodes.keyRefused };
  }
  const until = expiresAt === undefined ? '' : `; it expires at ${new Date(expiresAt).toISOString()}`;
  const text = `the API key is a token of an identity provider: with it, a lost answer cannot be recovered by its idempotency key${until}`;
  return { about, state: 'warning', text, hint };
}

/** Expiry of a token in ms, from its claim `exp`. */
function expiryOf(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const exp = (claims as { exp?: unknown } | null)?.exp;
    return typeof exp === 'number' && exp > 0 && exp < 8.64e12 ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
