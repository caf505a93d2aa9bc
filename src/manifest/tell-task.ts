import type { DiagnosticCode } from '../ground/diagnostic.ts';

/** Reports one mistake of a task: at its key, or at the value of that key. */
export type TellTask = (
  at: { key: string; part?: string; of: 'key' | 'value' },
  words: { code?: DiagnosticCode; message: string; hint: string },
) => void;
