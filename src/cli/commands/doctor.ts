import { knownService } from '../../campaign/paths.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { type Finding, failureFinding } from '../../contract/notice.ts';
import type { Call, Shell } from '../../ground/advice.ts';
import { doctorJson, doctorText } from '../../report/tables/doctor-text.ts';
import { requireSomebody } from '../ask-person.ts';
import { consentIn, withConsent } from '../consent.ts';
import {
  checkEnvironment,
  consentFindings,
  journalFinding,
  limitFindings,
  nodeFinding,
} from '../doctor/check-environment.ts';
import { checkFolder } from '../doctor/check-folder.ts';
import { checkLocks } from '../doctor/check-locks.ts';
import { checkService } from '../doctor/check-service.ts';
import { verifyReplay } from '../doctor/verify-replay.ts';
import { outAs, type Terminal, tableOptions } from '../terminal.ts';
import { withService } from '../with-service.ts';

export interface DoctorOptions {
  json?: boolean;
  sandbox?: boolean;
  verifyReplay?: boolean;
  yes?: boolean | undefined;
}

/** Looks at everything that a run relies on, and says what to do about what is not as it should be. */
export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const sandbox = options.sandbox === true;
  const folder = process.cwd();
  const consent = consentIn(process.env, { sandbox });
  const { yes } = withConsent(options, consent);
  if (options.verifyReplay === true) requireSomebody({ yes, terminal, consent });
  const found = sandbox
    ? { findings: [nodeFinding(process.versions.node)], environment: {}, access: 'sandbox' as const }
    : checkEnvironment(process.env, { folder, now: systemClock.now() });
  const findings: Finding[] = [
    ...found.findings,
    ...consentFindings(process.env),
    ...(await limitFindings(found.environment, systemClock.now())),
    ...(sandbox ? [] : [await journalFinding()]),
  ];
  if (found.access !== undefined) findings.push(...(await checkRemote({ ...options, yes }, terminal)));
  else if (options.verifyReplay === true) {
    findings.push({ about: 'replay', state: 'warning', text: 'not tried: the service is not known' });
  }
  findings.push(...(await checkLocks(folder, { sandbox, service: knownService(sandbox, found.environment) })));
  findings.push(...(await checkFolder(folder)));
  const exit = worstExit(findings);
  const told = findings.map(withoutItself);
  const { paste } = terminal;
  await outAs(terminal, options, {
    text: () => doctorText(told, { ...tableOptions(terminal), paste }),
    json: () => doctorJson(told, exit, paste),
  });
  return exit;
}

/** A service that cannot be asked is a finding, and the rest is looked at all the same. */
async function checkRemote(options: DoctorOptions, terminal: Terminal): Promise<Finding[]> {
  const wantsReplay = options.verifyReplay === true;
  try {
    return await withService({ ...options, keeps: wantsReplay }, async ({ library, access }) => {
      const findings = await checkService(library);
      const isReachable = findings.every(({ state }) => state !== 'problem');
      if (!wantsReplay || !isReachable) return findings;
      return [...findings, ...(await verifyReplay(access, { yes: options.yes, terminal }))];
    });
  } catch (error) {
    return [failureFinding('service', error)];
  }
}

/** Advice to call this very command leads nowhere. */
function withoutItself({ hint, ...finding }: Finding): Finding {
  const lines = [hint ?? []].flat().filter((line) => typeof line === 'string' || !isItself(line.run));
  return { ...finding, ...(lines.length > 0 && { hint: lines }) };
}

function isItself(run: Call | Shell): boolean {
  return 'call' in run && run.call === 'doctor';
}

/** The higher number is nearer to the start of every run: the key, then the disk, the service, the locks. */
function worstExit(findings: readonly Finding[]): number {
  return Math.max(exitCodes.done, ...findings.map(({ exit }) => exit ?? exitCodes.done));
}
