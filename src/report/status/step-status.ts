import type { Purchase } from '../../lock/record.ts';
import type { StepState } from '../../plan/step-state.ts';

/** The status of one step, as far as it is on record. */
export interface StepStatus {
  address: string;
  task: string;
  kind: string;
  state: StepState;
  jobId?: string;
  /** Charge of that job. */
  credits?: number;
  /** Path of its file, or of the first of several, relative to the working folder. */
  file?: string;
  fileState?: 'intact' | 'missing' | 'changed';
  /** Its job has finished, as a run saw it, and its files are not saved. */
  unsaved?: true;
  /** Error message, in the service's words or ours. */
  error?: string;
  /** The service's own code (`moderated`), or one of ours: `http-402`, `refused`, `failed`, `lost`, `no-answer`. */
  code?: string;
}

/** Describes the purchase that represents a step. */
export function describePurchase(
  { state, jobId, credits, error, outputs }: Purchase,
  facts: {
    present: ReadonlyMap<string, 'intact' | 'missing' | 'changed'>;
    folder?: string;
    finishedJobs?: ReadonlySet<string>;
  },
): Omit<StepStatus, 'address' | 'task' | 'kind' | 'state'> {
  const [output] = outputs ?? [];
  const worst = outputs?.find(({ path }) => facts.present.get(path) !== 'intact') ?? output;
  const code = codeOf(state, error);
  const isUnsaved = state === 'running' && jobId !== undefined && facts.finishedJobs?.has(jobId) === true;
  return {
    ...(jobId !== undefined && { jobId }),
    ...(credits !== undefined && { credits }),
    ...(output !== undefined && { file: `${facts.folder ?? ''}${output.path}` }),
    ...(worst !== undefined && { fileState: facts.present.get(worst.path) ?? 'missing' }),
    ...(isUnsaved && { unsaved: true as const }),
    ...(error !== undefined && { error }),
    ...(code !== undefined && { code }),
  };
}

/** Returns a code that is stable for scripts; the sentence beside it is for people. */
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
