import type { Fault, FaultAction } from '../../../src/sandbox/index.ts';

const refusal = { success: false, error: 'come back later', code: 'busy', message: 'come back later' };

/** Everything that may happen to an answer and passes. `booked`: the service has done it before the answer is lost. */
const troubles: { on: Fault['on']; do: FaultAction }[] = [
  { on: 'create', do: { type: 'reset' } },
  { on: 'create', do: { type: 'reset', booked: true } },
  { on: 'create', do: { type: 'html' } },
  { on: 'create', do: { type: 'html', booked: true } },
  { on: 'create', do: { type: 'status', status: 500, body: refusal } },
  { on: 'create', do: { type: 'status', status: 502, booked: true } },
  { on: 'create', do: { type: 'status', status: 503, body: refusal, booked: true } },
  { on: 'create', do: { type: 'truncate', bytes: 20 } },
  { on: 'status', do: { type: 'status', status: 404, body: refusal } },
  { on: 'status', do: { type: 'status', status: 500 } },
  { on: 'status', do: { type: 'status', status: 503, body: refusal } },
  { on: 'status', do: { type: 'html' } },
  { on: 'status', do: { type: 'reset' } },
  { on: 'status', do: { type: 'truncate', bytes: 30 } },
  { on: 'status', do: { type: 'answer', body: { success: true, data: { id: '{id}', status: 'RENDERING' } } } },
  { on: 'file', do: { type: 'truncate', bytes: 3000 } },
  { on: 'file', do: { type: 'html' } },
  { on: 'file', do: { type: 'status', status: 404 } },
  { on: 'file', do: { type: 'status', status: 403 } },
  { on: 'file', do: { type: 'status', status: 503 } },
  { on: 'file', do: { type: 'reset' } },
];

/** Whoever is throttled makes all others wait, so there are a few of these and not a share. */
const throttles = 6;

/** `share` of the first `requests` requests of each sort, spread over all sorts of trouble. */
export function spreadFaults(options: { requests: number; share: number; random: () => number }): Fault[] {
  const { requests, share, random } = options;
  const faults: Fault[] = [];
  for (const on of ['create', 'status', 'file'] as const) {
    const own = troubles.filter((trouble) => trouble.on === on);
    for (let nth = 1; nth <= requests; nth += 1) {
      const trouble = own[Math.floor(random() * own.length)];
      if (random() < share && trouble !== undefined) faults.push({ on, nth, do: trouble.do });
    }
  }
  for (let count = 1; count <= throttles; count += 1) {
    const nth = Math.floor((requests / (throttles + 1)) * count);
    faults.unshift({
      on: 'create',
      nth,
      do: { type: 'status', status: 429, body: refusal, headers: { 'retry-after': '1' } },
    });
  }
  return faults;
}
