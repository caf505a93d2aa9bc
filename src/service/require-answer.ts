import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import { envelope } from '../kinds/envelope.ts';
import { isServiceError, parseRetryAfter, readMessage } from './fields.ts';
import type { HttpAnswer } from './http.ts';
import type { Redact } from './secrets.ts';

/** The JSON of a good answer. Throws `ServiceError` for any other, with the credential redacted. */
export function requireAnswer(answer: HttpAnswer, redact: Redact): Json {
  if (answer.is === 'broken') throw new ServiceError('unreachable', answer.message);
  const { status, json, headers } = answer;
  if (status >= 200 && status < 300) {
    if (json === undefined) throw new ServiceError('unusable', `HTTP ${status}: the answer is not JSON`, { status });
    if (isServiceError(json)) {
      throw new ServiceError('refused', readMessage(json, status, redact), { status });
    }
    return json;
  }
  const message = readMessage(json, status, redact);
  if (status === 401 || status === 403) throw new ServiceError('auth', message, { status });
  if (!mayPass(status) && status >= 400) throw new ServiceError('refused', message, { status });
  const retryAfterMs = parseRetryAfter(headers[envelope.headers.retryAfter]);
  throw new ServiceError('unreachable', message, { status, ...(retryAfterMs !== null && { retryAfterMs }) });
}

/** True when the same request may get another answer a little later. */
export function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}
