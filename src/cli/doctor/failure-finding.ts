import { failureOf, failures } from '../../contract/failure.ts';
import type { Finding } from '../../contract/finding.ts';

/** A failure that the other checks need not end by. What is no failure, or means that nobody can be asked, is thrown. */
export function failureFinding(about: string, error: unknown): Finding & { state: 'problem' } {
  const failure = failureOf(error);
  if (failure === undefined || failure.code === 'MB3004') throw error;
  const { code, message, hint } = failure;
  return { about, state: 'problem', text: message, ...(hint !== undefined && { hint }), exit: failures[code].exit };
}
