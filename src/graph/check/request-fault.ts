import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';

/** A mistake in a request. `at`: path within the request; for MB1502 it ends with the missing key. */
export interface RequestFault {
  code: DiagnosticCode;
  message: string;
  hint: string;
  at: (string | number)[];
  /** Omitted for an error. */
  severity?: 'warning';
  meant?: string;
}

export const refreshLearns = '`plan --refresh` with a key reads the fields and models of your service';

/** Checks requests that only the service's own description documents. */
export interface RequestChecker {
  (kind: string, request: Json): RequestFault[] | 'unchecked';
  /** Returns whether the description has the fields of this kind. It is then their only source. */
  lists?(kind: string): boolean;
}
