import { callAbout, type FoundLock, findLocks } from '../../campaign/find-locks.ts';
import { belongingOf } from '../../campaign/read-lock.ts';
import { systemClock } from '../../contract/clock.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { Finding } from '../../contract/notice.ts';
import { readGuardHolder } from '../../disk/lock/guard.ts';
import { way } from '../../ground/advice.ts';
import { defined, messageOf } from '../../ground/values.ts';
import type { Lock } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { clockText, countOf } from '../../report/numbers.ts';

const about = 'locks';
const mostNamed = 5;

export async function checkLocks(
  folder: string,
  { sandbox, service }: { sandbox: boolean; service: string | undefined },
): Promise<Finding[]> {
  const locks = await findLocks(folder, { sandbox });
  if (locks.length === 0) {
    const name = sandbox ? '*.sandbox.lock.jsonl' : '*.lock.jsonl';
    return [{ about, state: 'ok', text: `there is no ${name} in this folder` }];
  }
  const findings: Finding[] = [];
  for (const lock of locks) {
    findings.push(...lockFindings(lock, service), ...(await guardFindings(lock)));
  }
  return findings;
}

function lockFindings(found: FoundLock, service: string | undefined): Finding[] {
  const { shown, reading, problem } = found;
  if (reading === undefined) {
    const text = `${shown} cannot be read: ${problem ?? 'unknown reason'}`;
    return [{ about, state: 'problem', text, hint: 'restore it from git', exit: exitCodes.wrongInput }];
  }
  const { lock, diagnostics } = reading;
  const findings = diagnostics.map(({ severity, code, message, hint }): Finding => {
    const common = { about, text: `${code}: ${message}`, ...defined({ hint }) };
    return severity === 'error'
      ? { ...common, state: 'problem', exit: exitCodes.wrongInput }
      : { ...common, state: 'warning' };
  });
  if (belongingOf(reading, service) === 'elsewhere' && reading.services.length === 1) {
    findings.push({
      about,
      state: 'problem',
      text: `${shown} was made against another service address than the one of this environment`,
      hint: 'set MEDIABATCH_BASE_URL to that service, or use a separate lock with --lock FILE. If the service has a new address, apply once with --service-moved',
      exit: exitCodes.wrongInput,
    });
  }
  findings.push(...openFindings(found, lock));
  if (findings.length > 0) return findings;
  return [{ about, state: 'ok', text: `${shown}: ${countOf(lock.steps.size, 'step')} on record` }];
}

function openFindings(found: FoundLock, lock: Lock): Finding[] {
  const { shown } = found;
  const records = [...lock.steps.values()];
  const findings: Finding[] = [];
  const open = records.filter(({ purchases }) => purchases.some(isOpenSend));
  if (open.length > 0) {
    findings.push({
      about,
      state: 'warning',
      text: `${shown}: it is not known whether ${countOf(open.length, 'create')} ${open.length === 1 ? 'was' : 'were'} charged: ${named(open)}`,
      hint: [way('to query the service again', callAbout(found, 'apply')), 'decide the others with resolve'],
    });
  }
  const running = records.filter(({ purchases }) => purchases.some(({ state }) => state === 'running'));
  if (running.length > 0) {
    findings.push({
      about,
      state: 'warning',
      text: `${shown}: ${countOf(running.length, 'job')} paid for and not collected: ${named(running)}`,
      hint: way('to fetch them for free', callAbout(found, 'apply')),
    });
  }
  return findings;
}

function named(records: readonly { address: string }[]): string {
  const shown = records.slice(0, mostNamed).map(({ address }) => address);
  return `${shown.join(', ')}${records.length > mostNamed ? `, … and ${records.length - mostNamed} more` : ''}`;
}

async function guardFindings({ path, shown }: FoundLock): Promise<Finding[]> {
  try {
    const holder = await readGuardHolder(path);
    if (holder === undefined) return [];
    const { host, pid, since, id } = holder;
    const text = `${shown} is locked by a run: process ${pid} on ${host}, since ${clockText(since, systemClock.now())}`;
    const unlock = callAbout({ path, shown }, 'unlock', '--id', id);
    return [{ about, state: 'warning', text, hint: way('if it runs on another machine and has ended', unlock) }];
  } catch (error) {
    return [{ about, state: 'warning', text: `the holder of ${shown} cannot be read: ${messageOf(error)}` }];
  }
}
