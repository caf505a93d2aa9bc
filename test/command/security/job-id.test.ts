import { expect, test } from 'vitest';
import { type Http, type HttpCall, pathWithId } from '../../../src/service/http.ts';
import { Poller } from '../../../src/service/polling/poller.ts';
import { watchJob } from '../../../src/service/watch.ts';
import { VirtualClock } from '../../rig/virtual-clock.ts';

test.each(['a/b', '/a//b', 'a?x=1', 'a#b', 'a%2fposts', '100%', "$&$'", '...'])(
  'the job id %s stays one part of an address',
  async (jobId) => {
    const clock = new VirtualClock();
    const paths: string[] = [];
    const http: Http = {
      async call({ path }: HttpCall) {
        paths.push(path);
        return { is: 'answer', status: 404, headers: {}, json: { success: false } };
      },
      close: async () => {},
    };
    await clock.run(
      watchJob(
        { kind: 'image', jobId },
        {
          clock,
          poller: new Poller({ http, clock, deadlineMs: 1000 }),
          health: { failures: 0, countAgainAt: 0 },
          patienceMs: 60_000,
          redact: (text) => text,
        },
        { signal: new AbortController().signal, onStatus: () => {}, fresh: true, notice: () => {} },
      ),
    );
    const addresses = paths.map((path) => new URL(`https://service.example/api/v1${path}`));
    expect(addresses).not.toHaveLength(0);
    for (const { pathname, search, hash } of addresses) {
      expect(decodeURIComponent(pathname.slice('/api/v1/image/status/'.length))).toBe(jobId);
      expect(pathname.split('/')).toHaveLength(6);
      expect(search + hash).toBe('');
    }
  },
);

test.each(['..', '../../posts', '%2e%2e', '%252e%252e', 'a%2f..%2fb'])(
  'the job id %s gets into no address',
  (jobId) => {
    expect(() => pathWithId('/image/status/{id}', jobId)).toThrow('not an id');
  },
);
