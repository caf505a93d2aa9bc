import { defined } from '../../ground/values.ts';
import type { Purchase } from '../../lock/record.ts';
import type { PostTarget } from '../../plan/plan.ts';
import type { StepState } from '../../plan/situation/step-state.ts';
import type { Said } from '../../plan/situation/verdicts.ts';

export interface StepStatus {
  address: string;
  task: string;
  kind: string;
  key?: string;
  matrix?: { readonly [axis: string]: string };
  take?: number;
  state: StepState;
  verdict?: Said;
  jobId?: string;
  credits?: number;
  /** Path of the step's file, or of the first of several, relative to the working folder. */
  file?: string;
  /** Paths of all files, if there are several. */
  files?: string[];
  fileState?: 'intact' | 'missing' | 'changed';
  /** The job of the step has finished, as seen by a run, and its files are not saved. */
  unsaved?: true;
  /** The next `apply` recovers the lost answer of its create. */
  recoverable?: true;
  /** Account and time of a post that was not sent yet. */
  post?: PostTarget;
  /** Time at which the service will publish a post that it has accepted. */
  scheduledFor?: string;
  error?: string;
  /**
   * The service's own code (`moderated`), or one of mediabatch: `http-402`, `refused`, `failed`, `lost`, `no-answer`.
   */
  code?: string;
}

export function describePurchase(
  { state, jobId, credits, error, outputs }: Purchase,
  facts: {
    present: ReadonlyMap<string, 'intact' | 'missing' | 'changed'>;
    folder?: string;
    finishedJobs?: Pick<ReadonlySet<string>, 'has'>;
  },
): Pick<StepStatus, 'jobId' | 'credits' | 'file' | 'files' | 'fileState' | 'unsaved' | 'error' | 'code'> {
  const paths = (outputs ?? []).map(({ path }) => `${facts.folder ?? ''}${path}`);
  const [file] = paths;
  const worst = outputs?.find(({ path }) => facts.present.get(path) !== 'intact') ?? outputs?.[0];
  const code = codeOf(state, error);
  const isUnsaved = state === 'running' && jobId !== undefined && facts.finishedJobs?.has(jobId) === true;
  return {
    ...defined({ jobId, credits, file }),
    ...(paths.length > 1 && { files: paths }),
    ...(worst !== undefined && { fileState: facts.present.get(worst.path) ?? 'missing' }),
    ...(isUnsaved && { unsaved: true as const }),
    ...defined({ error, code }),
  };
}

function codeOf(state: Purchase['state'], error = ''): string | undefined {
  switch (state) {
    case 'done':
    case 'running':
      return undefined;
    case 'intent':
    case 'unresolved':
      return 'no-answer';
    case 'refused':
    case 'failed':
    case 'lost': {
      const own = /\[([^\s\]]{1,60})\]$/.exec(error)?.[1];
      const status = /^HTTP (\d{3})\b/.exec(error)?.[1];
      return own ?? (status === undefined ? state : `http-${status}`);
    }
    default:
      return state satisfies never;
  }
}
