import { knownService } from '../../campaign/paths.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { Finding } from '../../contract/finding.ts';
import { safeJson } from '../../report/safe-text.ts';
import { doctorJson, doctorText } from '../../report/tables/doctor-text.ts';
import { requireSomebody } from '../ask-person.ts';
import { checkEnvironment, nodeFinding } from '../doctor/check-environment.ts';
import { checkFolder } from '../doctor/check-folder.ts';
import { checkLocks } from '../doctor/check-locks.ts';
import { checkService } from '../doctor/check-service.ts';
import { failureFinding } from '../doctor/failure-finding.ts';
import { verifyReplay } from '../doctor/verify-replay.ts';
import type { Terminal } from '../terminal.ts';
import { withService } from '../with-service.ts';

export interface DoctorOptions {
  json?: boolean;
  sandbox?: boolean;
  verifyReplay?: boolean;
  yes?: boolean;
}

/** Looks at everything that a run relies on, and says what to do about what is not as it should be. */
export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const sandbox = options.sandbox === true;
  const folder = process.cwd();
  if (options.verifyReplay === true) requireSomebody({ yes: options.yes, terminal });
  const found = sandbox
    ? { findings: [nodeFinding(process.versions.node)], environment: {}, access: 'sandbox' as const }
    : checkEnvironment(process.env, { folder, now: systemClock.now() });
  const findings: Finding[] = [...found.findings];
  if (found.access !== undefined) findings.push(...(await checkRemote(options, terminal)));
  else if (options.verifyReplay === true) {
    findings.push({ about: 'replay', state: 'warning', text: 'not tried: the service is not known' });
  }
  findings.push(...(await checkLocks(folder, { sandbox, service: knownService(sandbox, found.environment) })));
  findings.push(...(await checkFolder(folder)));
  const exit = worstExit(findings);
  terminal.out(
    options.json
      ? `${safeJson(doctorJson(findings, exit, terminal.paste), 2)}\n`
      : doctorText(findings, { style: terminal.outStyle, paste: terminal.paste }),
  );
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

/** The higher number is nearer to the start of every run: the key, then the disk, the service, the locks. */
function worstExit(findings: readonly Finding[]): number {
  return Math.max(exitCodes.done, ...findings.map(({ exit }) => exit ?? exitCodes.done));
}
