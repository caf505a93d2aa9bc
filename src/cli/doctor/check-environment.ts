import {
  type Access,
  type Environment,
  readDotEnv,
  readEnvironment,
  requireAccess,
  tightestLimit,
} from '../../campaign/environment.ts';
import { keyCommandName } from '../../campaign/key-command.ts';
import { exitCodes } from '../../contract/exit.ts';
import { type Finding, failureFinding } from '../../contract/notice.ts';
import { makeOwnFolder, stateFolder } from '../../disk/state/own-secret.ts';
import { proxyFor } from '../../service/proxy.ts';
import { readCredential } from '../../service/secrets.ts';
import { consentIn } from '../consent.ts';

const about = 'environment';
const names = ['MEDIABATCH_BASE_URL', 'MEDIABATCH_API_KEY'] as const;

/** Where the address and the key come from, and whether they can be used. Never shows the key. */
export function checkEnvironment(
  env: NodeJS.ProcessEnv,
  { folder, now }: { folder: string; now: number },
): { findings: Finding[]; environment: Environment; access?: Access } {
  const environment = readEnvironment(env, folder);
  const findings = [nodeFinding(process.versions.node)];
  findings.push(...sourceFindings(env, folder));
  try {
    const access = requireAccess(environment);
    findings.push({ about, state: 'ok', text: `the service is ${access.baseUrl}` });
    findings.push(...networkFindings(new URL(access.baseUrl), env));
    findings.push(keyFinding(access.token, now));
    return { findings, environment, access };
  } catch (error) {
    findings.push({ ...failureFinding(about, error), exit: exitCodes.keyRefused });
    return { findings, environment };
  }
}

/** Names what connections to the service use of the environment. Never shows the login of a proxy. */
function networkFindings(address: URL, env: NodeJS.ProcessEnv): Finding[] {
  const proxy = proxyFor(address, env);
  const certificates = env.NODE_EXTRA_CA_CERTS;
  const texts = [
    ...(proxy ? [`connections go through the proxy ${proxy.host} (HTTPS_PROXY, HTTP_PROXY, NO_PROXY)`] : []),
    ...(certificates ? [`certificates of NODE_EXTRA_CA_CERTS are trusted: ${certificates}`] : []),
  ];
  return texts.map((text) => ({ about, state: 'ok', text }));
}

export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return isOld
    ? {
        about,
        state: 'warning',
        text: `Node ${version} is older than 20.19`,
        hint: 'update Node; older ones are not tested',
      }
    : { about, state: 'ok', text: `Node ${version} on ${process.platform} ${process.arch}` };
}

function sourceFindings(env: NodeJS.ProcessEnv, folder: string): Finding[] {
  const own = [...names, keyCommandName].filter((name) => env[name]?.trim());
  const found = readDotEnv(folder);
  const file = found === 'unreadable' ? {} : found;
  const filed = names.filter((name) => file[name]?.trim());
  const list = (found: readonly string[]) => found.join(' and ');
  if (own.length === 0) {
    if (filed.length === 0) return [];
    return [
      { about, state: 'ok', text: `${list(filed)} ${filed.length === 1 ? 'comes' : 'come'} from .env in this folder` },
    ];
  }
  const findings: Finding[] = [
    { about, state: 'ok', text: `${list(own)} ${own.length === 1 ? 'comes' : 'come'} from the environment` },
  ];
  if (env[keyCommandName]?.trim()) {
    const isUsed = !env.MEDIABATCH_API_KEY?.trim();
    const text = isUsed
      ? `the key is printed by ${keyCommandName}`
      : `${keyCommandName} is not run: MEDIABATCH_API_KEY is set`;
    findings.push({ about, state: 'ok', text });
  }
  if (filed.length > 0) {
    const missing = names.some((name) => !own.includes(name) && filed.includes(name));
    findings.push({
      about,
      state: missing ? 'warning' : 'ok',
      text: `.env in this folder sets ${list(filed)} too, and is not read: it only counts when neither is in the environment`,
      ...(missing && { hint: 'put both into the environment, or both into .env' }),
    });
  }
  return findings;
}

/** Whether --yes and --publish count here, and what says that they do not. */
export function consentFindings(env: NodeJS.ProcessEnv): Finding[] {
  const consent = consentIn(env, { sandbox: false });
  if (consent.flags === 'count') return [];
  const text = `${consent.because}: for credits and posts a person is asked on a terminal, and neither --yes nor --publish counts`;
  return [{ about, state: 'ok', text }];
}

/** Names the folder of the purchase journal, or what becomes of a lost lock without one. */
export async function journalFinding(): Promise<Finding> {
  const about = 'journal';
  const folder = await makeOwnFolder();
  if (folder !== undefined) return { about, state: 'ok', text: `the purchase journal is in ${folder}` };
  const text = `the purchase journal cannot be written${stateFolder() === undefined ? '' : `: ${stateFolder()}`}`;
  return { about, state: 'warning', text, hint: 'set XDG_STATE_HOME: without the journal a lost lock is not restored' };
}

/** Checks the limits of whoever pays here, whatever the campaign. */
export async function limitFindings({ limits }: Environment, now: number): Promise<Finding[]> {
  const tightest = await tightestLimit(limits, now);
  if (tightest === undefined) return [];
  const { credits, per, left } = tightest;
  const text = `MEDIABATCH_LIMIT lets ${credits} credits be spent a ${per}, over all campaigns here: ${left} are left`;
  return [{ about, state: 'ok', text }];
}

/** Tells what the form of the credential means for a create whose answer is lost. */
function keyFinding(token: string, now: number): Finding {
  const { is } = readCredential(token);
  switch (is) {
    case 'api-key':
      return {
        about,
        state: 'ok',
        text: `the key is an API key (${token.slice(0, token.indexOf('_live_'))}_live_…): a lost answer to an image or music create can be asked for again, for 24 h`,
      };
    case 'jwt':
      return jwtFinding(token, now);
    default:
      return is satisfies never;
  }
}

function jwtFinding(token: string, now: number): Finding {
  const text =
    'the key is a token of an identity provider: the service replays nothing for it, so a create whose answer is lost needs a decision';
  const hint = 'an API key from the dashboard makes image and music creates recoverable';
  const expiresAt = expiryOf(token);
  if (expiresAt !== undefined && expiresAt <= now) {
    const since = new Date(expiresAt).toISOString();
    return { about, state: 'problem', text: `the token has expired, at ${since}`, hint, exit: exitCodes.keyRefused };
  }
  const until = expiresAt === undefined ? '' : `; it expires at ${new Date(expiresAt).toISOString()}`;
  return { about, state: 'warning', text: `${text}${until}`, hint };
}

/** From the `exp` of the claims, in ms. */
function expiryOf(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const exp = (claims as { exp?: unknown } | null)?.exp;
    return typeof exp === 'number' && exp > 0 && exp < 8.64e12 ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
