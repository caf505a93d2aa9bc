import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';

/** A mistake in a request. `at`: path within the request; for MB1502 it ends with the missing key. */
export interface RequestFault {
  code: DiagnosticCode;
  message: string;
  hint: string;
  at: (string | number)[];
  severity?: 'warning' | undefined;
  meant?: string | undefined;
}

export const refreshLearns = '`plan --refresh` with a key reads the fields and models of your service';

export interface RequestChecker {
  (kind: string, request: Json): RequestFault[] | 'unchecked';
  lists?(kind: string): boolean;
}
