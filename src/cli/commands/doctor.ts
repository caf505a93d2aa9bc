import { certificateHint, isUntrusted } from '../../campaign/environment.ts';
import { knownService } from '../../campaign/paths.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { type Finding, failureFinding } from '../../contract/notice.ts';
import type { Call, Shell } from '../../ground/advice.ts';
import { spanText } from '../../report/numbers.ts';
import { doctorJson, doctorView } from '../../report/tables/doctor-text.ts';
import { ServiceError } from '../../service/library.ts';
import { checkEnvironment, userFindings } from '../doctor/check-environment.ts';
import { checkLocks } from '../doctor/check-locks.ts';
import { outAs, type Terminal } from '../terminal.ts';
import { withService } from '../with-service.ts';

interface DoctorOptions {
  json?: boolean;
  sandbox?: boolean;
}

export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const sandbox = options.sandbox === true;
  const folder = process.cwd();
  const now = systemClock.now();
  const found = sandbox
    ? { findings: [], environment: {}, access: 'sandbox' as const }
    : checkEnvironment(process.env, { folder, now });
  const findings: Finding[] = [
    ...found.findings,
    ...(sandbox ? [] : await userFindings(process.env, found.environment, now)),
    ...(found.access === undefined ? [] : await checkService(options)),
    ...(await checkLocks(folder, { sandbox, service: knownService(sandbox, found.environment) })),
  ];
  // Of several exit codes the highest is returned, because it is about the earliest need of a run: the API key (77),
  // then the service, then the locks.
  const exit = Math.max(exitCodes.done, ...findings.map(({ exit = exitCodes.done }) => exit));
  const shown = findings.map(withoutItself);
  const { paste } = terminal;
  await outAs(terminal, options, {
    text: () => doctorView(shown, paste),
    json: () => doctorJson(shown, exit, paste),
  });
  return exit;
}

const about = 'service';
/**
 * Clock difference in ms from which a warning is shown. The service replays answers for 24 hours and the runner assumes
 * 23, so an hour would use up the margin.
 */
const worryingSkewMs = 60_000;

async function checkService(options: DoctorOptions): Promise<Finding[]> {
  try {
    const { latencyMs, skewMs } = await withService(options, ({ library }) => library.ping());
    const text = `reachable, and the key is accepted (${Math.round(latencyMs)} ms)`;
    return [{ about, state: 'ok', text }, clockFinding(skewMs)];
  } catch (error) {
    const isCertificate = error instanceof ServiceError && isUntrusted(error.message);
    return [{ ...failureFinding(about, error), ...(isCertificate && { hint: certificateHint }) }];
  }
}

function clockFinding(skewMs: number | undefined): Finding {
  if (skewMs === undefined) return { about, state: 'ok', text: 'the service does not report its time' };
  const skew = Math.abs(skewMs);
  if (skew < worryingSkewMs) {
    return { about, state: 'ok', text: `its clock and this one agree (within ${spanText(skew + 1000)})` };
  }
  const text = `this clock is ${spanText(skew)} ${skewMs > 0 ? 'behind' : 'ahead of'} the clock of the service`;
  const hint = 'correct the clock of this machine: it limits how long a lost answer can be recovered (23 hours)';
  return { about, state: 'warning', text, hint };
}

function withoutItself({ hint, ...finding }: Finding): Finding {
  const isItself = (run: Call | Shell) => 'call' in run && run.call === 'doctor';
  const lines = [hint ?? []].flat().filter((line) => typeof line === 'string' || !isItself(line.run));
  return { ...finding, ...(lines.length > 0 && { hint: lines }) };
}
