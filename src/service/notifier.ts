import { Pool } from 'undici';
import type { Clock } from '../contract/clock.ts';
import type { Notifier } from '../contract/ports.ts';
import { type ExchangeEnd, exchange } from './exchange.ts';

/** Waits before the second and the third try, in ms; there is no fourth. */
const gapsMs = [1000, 2000];
const defaultDeadlineMs = 5000;
const longestAnswer = 1024 * 1024;

/**
 * Posts to an address that is as secret as a key: whoever knows it can write to the channel behind it. Follows no
 * redirect, which could lead to another host. A try whose answer is lost is made again, so that a message may come twice.
 */
export function createNotifier(options: {
  /** https, or loopback. */
  address: string;
  clock: Pick<Clock, 'sleep'>;
  /** Limit of each try. */
  deadlineMs?: number;
}): Notifier {
  const { address, clock, deadlineMs = defaultDeadlineMs } = options;
  const { origin, pathname, search } = new URL(address);
  const limits = { maxResponseSize: longestAnswer, headersTimeout: 0, bodyTimeout: 0, connectTimeout: deadlineMs };
  return {
    async send(body) {
      const pool = new Pool(origin, limits);
      try {
        for (let tries = 1; ; tries += 1) {
          const headers = { 'content-type': 'application/json', 'user-agent': 'mediabatch' };
          const request = { path: `${pathname}${search}`, method: 'POST', headers, body, reset: true } as const;
          const end = await exchange(pool, request, { deadlineMs });
          if (end.is === 'answer' && end.status >= 200 && end.status < 300) return { is: 'sent' };
          const gap = gapsMs[tries - 1];
          if (!mayRepeat(end) || gap === undefined) return { is: 'unsent', why: describe(end, { tries, deadlineMs }) };
          await clock.sleep(gap);
        }
      } finally {
        await pool.destroy();
      }
    },
  };
}

function mayRepeat(end: ExchangeEnd): boolean {
  return end.is === 'broken' || end.status === 408 || end.status === 429 || end.status >= 500;
}

/** Describes an end in words of our own: an error of a library may hold the address. */
function describe(end: ExchangeEnd, { tries, deadlineMs }: { tries: number; deadlineMs: number }): string {
  const often = tries === 1 ? '' : `, ${tries} times`;
  if (end.is === 'answer') {
    const isRedirect = end.status >= 300 && end.status < 400;
    return isRedirect ? `it redirects (HTTP ${end.status}), which is not followed` : `HTTP ${end.status}${often}`;
  }
  if (end.late) return `no answer within ${deadlineMs / 1000} s${often}`;
  const code = end.error instanceof Error && 'code' in end.error ? String(end.error.code) : '';
  return `no connection${/^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : ''}${often}`;
}
