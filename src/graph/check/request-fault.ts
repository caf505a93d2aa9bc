import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';

/** A mistake in a request. `at` is the path from the request to the value; for MB1502 it ends in the missing key. */
export interface RequestFault {
  code: DiagnosticCode;
  message: string;
  hint: string;
  at: (string | number)[];
  /** Absent for an error. */
  severity?: 'warning';
  /** The field that was most likely meant. */
  meant?: string;
}

/** Advice about a name that the sandbox does not know, and the user's service may. */
export const sandboxLearns = '`plan --refresh` with a key lets the sandbox learn what your service has';

/** Checks requests whose only documentation is the service's own description. */
export interface RequestChecker {
  (kind: string, request: Json): RequestFault[] | 'unchecked';
  /** Whether the description names the fields of this kind: then no other source does. */
  lists?(kind: string): boolean;
}
