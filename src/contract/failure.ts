import { type Advice, call, way } from '../ground/advice.ts';
import type { Diagnostic } from '../ground/diagnostic.ts';
import { codes } from '../ground/diagnostic.ts';
import { defined } from '../ground/values.ts';
import {
  BrokenRunError,
  GuardLostError,
  LeadershipLostError,
  LockChangedError,
  ServiceError,
  UnsafeFileError,
} from './errors.ts';
import { type ExitAnswers, type ExitCode, exitCodes } from './exit.ts';

interface Meaning {
  exit: ExitCode;
  title: string;
  paid?: ExitAnswers['paid'];
}

const { wrongUsage, wrongInput, cannotWrite, unreachable, lockHeld, keyRefused } = exitCodes;

/** Title and exit code by failure code. Codes are never reused. */
export const failures = {
  // Errors in input files: they end the command
  MB1001: { exit: wrongInput, title: codes.MB1001 },
  MB1604: { exit: wrongInput, title: codes.MB1604 },
  MB1605: { exit: wrongInput, title: codes.MB1605 },
  MB2001: { exit: wrongInput, title: codes.MB2001 },
  MB2002: { exit: wrongInput, title: codes.MB2002 },
  MB2003: { exit: wrongInput, title: codes.MB2003 },
  // The command line
  MB3000: { exit: wrongUsage, title: 'the command line is invalid' },
  MB3002: { exit: wrongUsage, title: 'a name or a selection matches nothing' },
  MB3004: { exit: wrongUsage, title: 'no interactive terminal to confirm in' },
  MB3005: { exit: wrongUsage, title: 'a decision does not apply to a step' },
  MB3006: { exit: wrongUsage, title: 'selected steps depend on steps that are not selected' },
  // `paid` is given here, because a command that ends with this exit code may otherwise have purchased jobs.
  MB3007: { exit: exitCodes.waitsForPerson, title: 'a plan is not approved', paid: 'nothing' },
  // Files given to a command
  MB3100: { exit: wrongInput, title: 'the manifest has errors' },
  MB3101: { exit: wrongInput, title: 'a saved plan cannot be used' },
  MB3102: { exit: wrongInput, title: 'the plan is stale' },
  MB3104: { exit: wrongInput, title: 'an input file cannot be used' },
  // The service
  MB3201: { exit: keyRefused, title: 'the service URL or key is missing' },
  MB3202: { exit: keyRefused, title: 'the service refused the key' },
  MB3203: { exit: unreachable, title: 'the service cannot be reached' },
  MB3204: { exit: unreachable, title: 'the answer of the service is invalid' },
  MB3205: { exit: exitCodes.someFailed, title: 'the service rejected a request' },
  MB3206: { exit: wrongUsage, title: 'the service URL is invalid' },
  // This machine
  MB3301: { exit: cannotWrite, title: 'a file or a folder cannot be written' },
  MB3303: { exit: wrongUsage, title: 'a port is in use' },
  MB3304: { exit: wrongUsage, title: 'a file of yours would be overwritten' },
  MB3416: { exit: wrongInput, title: 'the working folder was deleted' },
  // The lock
  MB3401: { exit: lockHeld, title: 'another run holds the lock' },
  MB3402: { exit: lockHeld, title: 'the lock changed while a decision was recorded' },
  MB3403: { exit: lockHeld, title: 'a run lost the lock to another run' },
  MB3404: { exit: wrongInput, title: 'the sandbox of the lock does not exist' },
  MB3405: { exit: exitCodes.needsDecision, title: 'an unresolved create request needs a decision' },
  MB3406: { exit: cannotWrite, title: 'the lock changed during a run' },
  MB3407: { exit: wrongInput, title: 'the lock cannot be used' },
  MB3408: { exit: wrongUsage, title: 'the lock is not held by this run' },
  MB3409: { exit: wrongInput, title: 'a lock may be lost' },
  // git
  MB3601: { exit: wrongInput, title: 'the campaign is not in a git repository' },
  MB3602: { exit: wrongInput, title: 'a commit does not exist' },
  MB3603: { exit: wrongInput, title: 'the git history of this clone is incomplete' },
  MB3604: { exit: wrongInput, title: 'the campaign at a commit cannot be read' },
  MB3605: { exit: unreachable, title: 'git cannot be run' },
  MB3606: { exit: wrongInput, title: 'git cannot read the repository' },
  // Runs on an engine
  MB3701: { exit: wrongUsage, title: 'an optional package is not installed' },
  MB3702: { exit: unreachable, title: 'the engine cannot be reached or used' },
  MB3703: { exit: wrongInput, title: 'the engine has another version' },
  MB3704: { exit: lockHeld, title: 'the campaign has an open run on an engine' },
  MB3705: { exit: wrongUsage, title: 'the address of an engine or store is invalid' },
  MB3707: { exit: keyRefused, title: 'the engine refused access' },
  // End of a command
  MB3501: { exit: exitCodes.interrupted, title: 'the user interrupted the command' },
  MB3901: { exit: exitCodes.internalError, title: 'internal error of mediabatch' },
} as const satisfies Record<string, Meaning>;

export type FailureCode = keyof typeof failures;

export const titles: Readonly<Record<string, string>> = {
  ...codes,
  ...Object.fromEntries(Object.entries(failures).map(([code, { title }]) => [code, title])),
};

interface Mistakes {
  diagnostics: readonly Diagnostic[];
  sources: ReadonlyMap<string, string>;
}

export interface Holder {
  id: string;
  pid: number;
  host: string;
  /** Time in ISO 8601 UTC, by the clock of the lock's holder. For display only. */
  since: string;
}

/** A command that continues the work. `credits`: its maximum cost, `null` if unknown. `needs`: who must run it. */
export type NextStep = {
  command: string;
  credits: number | null;
  needs: 'person' | null;
};

/** Additional fields of a failure in JSON output. Paths are absolute, or relative to the working directory. */
interface Facts {
  MB1001: { file: string };
  MB1604: { path: string; address: string };
  MB1605: { path: string; address: string };
  MB2001: { lock: string } & Mistakes;
  MB2002: { lock: string } & Mistakes;
  MB2003: { lock: string } & Partial<Mistakes>;
  MB3000: { options?: readonly string[]; value?: string; known?: readonly string[]; path?: string };
  MB3002: { name: string };
  MB3005: { addresses: readonly string[] };
  MB3006: { addresses: readonly string[] };
  MB3007: { next: readonly NextStep[] };
  MB3100: { file: string } & Mistakes;
  MB3101: { file: string };
  MB3102: { file?: string; addresses?: readonly string[] };
  MB3104: { file: string } & Partial<Mistakes>;
  MB3202: { status?: number };
  MB3203: { host?: string };
  MB3204: { status?: number };
  MB3205: { status?: number };
  MB3301: { path?: string };
  MB3303: { port: number };
  MB3304: { files: readonly string[] };
  MB3401: { lock: string; holder?: Holder };
  MB3402: { lock: string };
  MB3404: { lock: string };
  MB3405: { address: string };
  MB3406: { lock: string };
  MB3407: { lock: string };
  MB3408: { lock: string; holder?: Holder };
  MB3409: { lock: string; files?: readonly string[]; jobs: number };
  MB3602: { ref: string };
  MB3604: { file: string; ref: string };
  MB3701: { packages: readonly string[] };
  MB3704: { lock: string };
  MB3901: { lock?: string };
}

type FailureOf<Code extends FailureCode> = {
  code: Code;
  /** May contain control characters, so views must escape it. */
  message: string;
  hint?: Advice | undefined;
} & (Code extends keyof Facts ? Facts[Code] : unknown);

export type Failure = { [Code in FailureCode]: FailureOf<Code> }[FailureCode];

/** An expected failure, reported to the user with a code and a hint. */
export class CampaignError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.message, options);
    this.name = 'CampaignError';
    this.failure = failure;
  }
}

const writeFailures = new Set([
  ...['ENOSPC', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE', 'EXDEV', 'EMLINK'],
  ...['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EBUSY', 'ESTALE', 'ENODEV', 'ENXIO', 'ENOLCK'],
]);
const resumeAdvice: Advice = [
  'if the lock is damaged, restore the version that this run wrote or a version from git, then run again',
  'without either version, apply recovers images and songs bought within a day by their keys, and does not pay again',
  way('to record all other jobs before their steps are bought again', call('adopt')),
];
const makeRoom = 'free disk space or fix the permissions, then run again; everything recorded so far is safe';

/** Returns the failure to report for an error. Returns `undefined` if the error is a bug of mediabatch. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof BrokenRunError) return failureOf(error.cause);
  if (error instanceof CampaignError) return error.failure;
  if (error instanceof ServiceError) return serviceFailure(error);
  if (error instanceof GuardLostError) {
    const hint = 'nothing more was bought; run again when the other run has ended';
    return { code: 'MB3403', message: error.message, hint };
  }
  if (!(error instanceof Error)) return undefined;
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    const hint = 'change to an existing folder, and run the command again';
    return { code: 'MB3416', message: 'the working folder of this command no longer exists', hint };
  }
  const message = `cannot write: ${error.message}`;
  if (error instanceof LockChangedError) return { code: 'MB3406', message, hint: resumeAdvice, lock: error.path };
  // The disk, or another program that uses the file, causes these errors.
  const isOurs = error instanceof UnsafeFileError || (code !== undefined && writeFailures.has(code));
  return isOurs ? { code: 'MB3301', message, hint: makeRoom, ...defined({ path }) } : undefined;
}

/** Returns whether an error is a bug: it has no failure code, and is neither a system error nor a lost leadership. */
export function isDefect(error: unknown): boolean {
  if (failureOf(error) !== undefined || error instanceof LeadershipLostError) return false;
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code !== 'string' || code.startsWith('ERR_');
}

/** Awaits `work`. Rethrows an error that has a failure code as a `CampaignError`. */
export async function orFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const failure = failureOf(error);
    throw failure === undefined || error instanceof CampaignError
      ? error
      : new CampaignError(failure, { cause: error });
  }
}

const proxyHint = 'a proxy or the sign-in page of a network may answer at this address';

export const noUser = {
  text: 'the service has no user for this key',
  hint: 'the account of this key may have been deleted, or may not be set up yet: sign in to the dashboard of the service, and create a new key',
};

function unreachableHint(status: number | undefined, message: string): string {
  if (message.includes('the proxy ')) {
    return 'nothing was sent; check HTTPS_PROXY and NO_PROXY, and whether the proxy allows this host';
  }
  if (status === undefined || status >= 500) return 'check MEDIABATCH_BASE_URL and the network';
  // The service returns these statuses under load. Proxies in front of the service return the same statuses.
  return [408, 425, 429].includes(status) ? 'wait, and try again' : proxyHint;
}

export function serviceFailure({ why, message, status }: ServiceError): Failure {
  const answered = status !== undefined && { status };
  switch (why) {
    case 'auth':
      return {
        code: 'MB3202',
        message: `the service refused the key: ${message}`,
        hint: ['check the API key', way('to see where the key comes from', call('doctor'))],
        ...answered,
      };
    case 'unreachable':
      return {
        code: 'MB3203',
        message: `the service cannot be reached: ${message}`,
        hint: [unreachableHint(status, message), way('or run all checks', call('doctor'))],
      };
    case 'refused':
      return status === 404 && /\buser (\w+ ){0,2}(not found|not exist|unknown)\b/i.test(message)
        ? { code: 'MB3205', message: `${noUser.text}: ${message}`, hint: noUser.hint, ...answered }
        : { code: 'MB3205', message: `the service refused the request: ${message}`, ...answered };
    case 'unusable':
      return {
        code: 'MB3204',
        message: `the service sent an invalid answer: ${message}`,
        hint: [proxyHint, way('to compare the service with this version', call('doctor'))],
        ...answered,
      };
    default:
      return why satisfies never;
  }
}
