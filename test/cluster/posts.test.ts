import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'vitest';
import { exitCodes } from '../../src/contract/exit.ts';
import { readLockFile } from '../rig/oracle.ts';
import { firstAccount, serviceHere } from '../rig/service-here.ts';
import { ClusterPlace, loading } from './rig/place.ts';
import { until } from './rig/processes.ts';

const manifest = `version: 1
name: launch
budget: { credits: 100 }
service: { concurrency: 1 }
vars: { account: none }
tasks:
  hero: { kind: image, foreach: [lamp, rug], with: { prompt: "A {{row}}" } }
  share:
    kind: post
    foreach: [lamp, rug]
    from: { hero: { key: "{{row}}" } }
    with: { accountIds: ["{{vars.account}}"], caption: "A {{row}}", media: ["{{tasks.hero.url}}"] }
`;

/** A service with an account to post to, and a campaign that does. */
async function placeWithPosts(onTestFinished: TestContext['onTestFinished']) {
  const place = await ClusterPlace.make(onTestFinished);
  const service = await serviceHere({
    speed: 100,
    credits: 500,
    filesDir: join(tmpdir(), 'mediabatch-test-files'),
  });
  onTestFinished(() => service.close());
  place.write('campaign.yaml', manifest);
  return {
    place,
    service,
    args: ['--publish', '--var', `account=${await firstAccount(service)}`, '--store', place.store],
  };
}

describe('a head that dies', () => {
  test.concurrent.for([
    ['with the intent of a post on record', 'before'],
    ['with a post on the wire', 'written'],
    ['with a post that was answered', 'confirmed'],
  ] as const)('%s: it is published once at most, and a person is asked where nobody knows', async (given, context) => {
    const [, when] = given;
    const { onTestFinished, expect: it } = context;
    const { place, service, args } = await placeWithPosts(onTestFinished);
    const log = `${place.folder}/halted`;
    const env = { ...service.env, HALT_PATTERN: 'POST /api/v1/posts', HALT_WHEN: when, HALT_LOG: log };
    const head = place.worker([], { env: { ...env, ...loading('halt-at.mjs') } });
    const submitter = place.submit(args, { env: service.env });
    await until(`it halted; ${head.err()} ${submitter.err()}`, () => existsSync(log) || !submitter.isRunning());
    it((await head.ended).signal, head.err() + submitter.err()).toBe('SIGKILL');
    const next = place.worker([], { env: service.env });
    const ran = await submitter.ended;
    const told = `${next.err()}\n${ran.err}`;
    const again = await place.submit(args, { env: service.env }).ended;
    const kinds = service.ledger().map(({ kind }) => kind);
    it(
      kinds.filter((kind) => kind === 'image'),
      told,
    ).toHaveLength(2);
    const posts = service.ledger().flatMap(({ kind, body }) => (kind === 'post' ? [JSON.stringify(body)] : []));
    it(new Set(posts).size, told).toBe(posts.length);
    it(posts, told).toHaveLength(when === 'before' ? 0 : 1);
    it([ran.code, again.code], told).toEqual([exitCodes.needsDecision, exitCodes.needsDecision]);
    const { steps } = readLockFile(place.path('campaign.lock.jsonl'));
    const state = (address: string) => steps.get(address)?.purchases[0]?.state;
    // The other one goes to the same account: it waits until it is known what became of the first.
    it([state('share@lamp'), state('share@rug')].toSorted(), told).toEqual(['unresolved', undefined]);
  });
});
