import {
  type Access,
  certificateHint,
  type Environment,
  isUntrusted,
  keyCommandName,
  readDotEnv,
  readEnvironment,
  requireAccess,
  tightestLimit,
} from '../../campaign/environment.ts';
import { type FoundLock, findLocks } from '../../campaign/find-locks.ts';
import { knownService } from '../../campaign/paths.ts';
import { belongingOf } from '../../campaign/read-lock.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { failureOf, failures } from '../../contract/failure.ts';
import type { Finding } from '../../contract/notice.ts';
import { makeOwn, stateFolder } from '../../disk/state/sealed-file.ts';
import type { Advice, Call, Shell } from '../../ground/advice.ts';
import { defined } from '../../ground/values.ts';
import { countOf, spanText } from '../../report/numbers.ts';
import { doctorJson, doctorView } from '../../report/tables/local-state.ts';
import { ServiceError } from '../../service/library.ts';
import { proxyFor } from '../../service/proxy.ts';
import { readCredential } from '../../service/secrets.ts';
import { consentIn } from '../consent.ts';
import { outAs, type Terminal } from '../terminal.ts';
import { type ServiceOptions, withService } from './list.ts';

export async function doctor(options: ServiceOptions, terminal: Terminal): Promise<number> {
  const sandbox = options.sandbox === true;
  const folder = process.cwd();
  const environment = sandbox ? {} : readEnvironment(process.env, folder);
  const access = sandbox ? { findings: [], isUsable: true } : checkAccess(environment, folder);
  const findings: Finding[] = [
    ...access.findings,
    ...(sandbox ? [] : await checkUser(environment)),
    ...(access.isUsable ? await checkService(options) : []),
    ...(await checkLocks(folder, { sandbox, service: knownService(sandbox, environment) })),
  ];
  // The highest exit code belongs to the first need of a run: the API key (77), then the service, then the locks.
  const exit = Math.max(exitCodes.done, ...findings.map(({ exit = exitCodes.done }) => exit));
  const shown = findings.map(withoutItself);
  const { paste } = terminal;
  await outAs(terminal, options, {
    text: () => doctorView(shown, paste),
    json: () => doctorJson(shown, exit, paste),
  });
  return exit;
}

function withoutItself({ hint, ...finding }: Finding): Finding {
  const isItself = (run: Call | Shell) => 'call' in run && run.call === 'doctor';
  const lines = [hint ?? []].flat().filter((line) => typeof line === 'string' || !isItself(line.run));
  return { ...finding, ...(lines.length > 0 && { hint: lines }) };
}

function findingsAbout(about: string) {
  return {
    ok: (text: string): Finding => ({ about, state: 'ok', text }),
    warn: (text: string, hint?: Advice): Finding => ({ about, state: 'warning', text, ...defined({ hint }) }),
  };
}

const own = findingsAbout('environment');

/** Reports the sources of URL and API key without printing the key. */
function checkAccess(environment: Environment, folder: string): { findings: Finding[]; isUsable: boolean } {
  const { env } = process;
  const names = ['MEDIABATCH_BASE_URL', 'MEDIABATCH_API_KEY', keyCommandName];
  const file = readDotEnv(folder);
  const exported = names.filter((name) => env[name]?.trim());
  const filed = names.filter((name) => file !== 'unreadable' && file[name]?.trim());
  const findings: Finding[] = [];
  if (exported.length > 0) findings.push(own.ok(`${exported.join(' and ')}: from the environment`));
  else if (filed.length > 0) findings.push(own.ok(`${filed.join(' and ')}: from .env in this folder`));
  try {
    const { baseUrl, token } = requireAccess(environment);
    findings.push(own.ok(`the service is ${baseUrl}`));
    // The user name and password of a proxy are not printed.
    const proxy = proxyFor(new URL(baseUrl), env);
    if (proxy) {
      findings.push(own.ok(`connections go through the proxy ${proxy.host} (HTTPS_PROXY, HTTP_PROXY, NO_PROXY)`));
    }
    const certificates = env.NODE_EXTRA_CA_CERTS;
    if (certificates) findings.push(own.ok(`certificates of NODE_EXTRA_CA_CERTS are trusted: ${certificates}`));
    return { findings: [...findings, keyFinding(token)], isUsable: true };
  } catch (error) {
    findings.push({ ...failureFinding('environment', error), exit: exitCodes.keyRefused });
    return { findings, isUsable: false };
  }
}

function keyFinding(token: Access['token']): Finding {
  if (readCredential(token).is === 'api-key') {
    const prefix = token.slice(0, token.indexOf('_live_'));
    return own.ok(
      `the key is an API key (${prefix}_live_…): lost answers of image and music are recovered for 23 hours`,
    );
  }
  return own.warn(
    'the API key is a token of an identity provider: a lost answer cannot be recovered by its idempotency key',
    'use an API key from the dashboard, so that lost answers of image and music can be recovered',
  );
}

async function checkUser({ limits }: Environment): Promise<Finding[]> {
  const findings: Finding[] = [];
  const consent = consentIn(process.env, { sandbox: false });
  if (consent.flags !== 'count') {
    findings.push(
      own.ok(`${consent.because}: --yes and --publish are ignored; a user must approve in an interactive terminal`),
    );
  }
  const tightest = await tightestLimit(limits, systemClock.now());
  if (tightest !== undefined) {
    const { credits, per, left } = tightest;
    findings.push(own.ok(`MEDIABATCH_LIMIT is ${credits} credits a ${per} for all campaigns together: ${left} left`));
  }
  const folder = (await makeOwn())?.folder;
  if (folder !== undefined) return [...findings, own.ok(`the purchase journal is in ${folder}`)];
  const text = `the purchase journal cannot be written${stateFolder() === undefined ? '' : `: ${stateFolder()}`}`;
  return [
    ...findings,
    own.warn(text, 'set XDG_STATE_HOME to a writable folder: without the journal, a lost lock cannot be restored'),
  ];
}

const service = findingsAbout('service');
/** Clock difference that causes a warning. The service replays answers for 24 hours, but runs rely on only 23. */
const worryingSkewMs = 60_000;

async function checkService(options: ServiceOptions): Promise<Finding[]> {
  try {
    const { latencyMs, skewMs } = await withService(options, ({ library }) => library.ping());
    return [service.ok(`reachable, and the key is accepted (${Math.round(latencyMs)} ms)`), clockFinding(skewMs)];
  } catch (error) {
    const isCertificate = error instanceof ServiceError && isUntrusted(error.message);
    return [{ ...failureFinding('service', error), ...(isCertificate && { hint: certificateHint }) }];
  }
}

function clockFinding(skewMs: number | undefined): Finding {
  if (skewMs === undefined) return service.ok('the service does not report its time');
  const skew = Math.abs(skewMs);
  if (skew < worryingSkewMs)
    return service.ok(`the clocks of the service and of this machine agree (within ${spanText(skew + 1000)})`);
  return service.warn(
    `the clock of this machine is ${spanText(skew)} ${skewMs > 0 ? 'behind' : 'ahead of'} the clock of the service`,
    'correct the clock of this machine: it decides whether a lost answer can still be recovered (23 hours)',
  );
}

const recorded = findingsAbout('locks');

async function checkLocks(
  folder: string,
  { sandbox, service }: { sandbox: boolean; service: string | undefined },
): Promise<Finding[]> {
  const locks = await findLocks(folder, { sandbox });
  const name = sandbox ? '*.sandbox.lock.jsonl' : '*.lock.jsonl';
  if (locks.length === 0) return [recorded.ok(`there is no ${name} in this folder`)];
  return locks.flatMap((lock) => lockFindings(lock, service));
}

function lockFindings({ shown, reading, problem }: FoundLock, service: string | undefined): Finding[] {
  const wrong = (text: string, hint?: Advice): Finding => ({
    ...{ about: 'locks', state: 'problem', text, exit: exitCodes.wrongInput },
    ...defined({ hint }),
  });
  if (reading === undefined) {
    return [wrong(`${shown} cannot be read: ${problem ?? 'unknown reason'}`, 'restore the lock from git')];
  }
  const { lock, diagnostics, services } = reading;
  const findings = diagnostics.map(({ severity, code, message, hint }): Finding => {
    const text = `${code}: ${message}`;
    return severity === 'error' ? wrong(text, hint) : recorded.warn(text, hint);
  });
  if (belongingOf(reading, service) === 'elsewhere' && services.length === 1) {
    findings.push(
      wrong(
        `${shown} contains jobs of another service address than MEDIABATCH_BASE_URL`,
        'set MEDIABATCH_BASE_URL to the address of the lock, or use a separate lock for this service: --lock FILE. If the same service has a new address, apply once with --service-moved',
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [recorded.ok(`${shown}: ${countOf(lock.steps.size, 'step')} on record`)];
}

/** Converts a failure to a finding, so that later checks still run. Rethrows other errors. */
function failureFinding(about: string, error: unknown): Finding & { state: 'problem' } {
  const failure = failureOf(error);
  if (failure === undefined || failure.code === 'MB3004') throw error;
  const { code, message, hint } = failure;
  return { about, state: 'problem', text: message, ...defined({ hint }), exit: failures[code].exit };
}
