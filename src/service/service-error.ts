import type { Json } from '../json.ts';
import { readMessage } from './fields.ts';
import type { HttpAnswer } from './http.ts';
import type { Redact } from './secrets.ts';

/**
 * Why a call that buys nothing came to nothing. `auth`: the key is missing or refused. `unreachable`: no usable answer.
 * `refused`: the service said no. `unusable`: it said yes, in words that make no sense.
 */
export class ServiceError extends Error {
  readonly why: 'auth' | 'unreachable' | 'refused' | 'unusable';
  /** HTTP status; absent when there was no answer. */
  readonly status: number | undefined;

  constructor(why: ServiceError['why'], message: string, status?: number) {
    super(message);
    this.name = 'ServiceError';
    this.why = why;
    this.status = status;
  }
}

/** The JSON of a good answer. Throws `ServiceError` for any other, with the credential taken out of its words. */
export function requireAnswer(answer: HttpAnswer, redact: Redact): Json {
  if (answer.is === 'broken') throw new ServiceError('unreachable', answer.message);
  const { status, json } = answer;
  if (status >= 200 && status < 300) {
    if (json === undefined) throw new ServiceError('unusable', `HTTP ${status}: the answer is not JSON`, status);
    return json;
  }
  const message = readMessage(json, status, redact);
  if (status === 401 || status === 403) throw new ServiceError('auth', message, status);
  const isTheirs = status >= 500 || status === 408 || status === 425 || status === 429 || status < 400;
  throw new ServiceError(isTheirs ? 'unreachable' : 'refused', message, status);
}
