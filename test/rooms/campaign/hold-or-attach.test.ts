import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ApplySession } from '../../../src/campaign/apply.ts';
import type { Carrier, Running } from '../../../src/campaign/carrier.ts';
import { pickPlanningOptions } from '../../../src/campaign/check-options.ts';
import { graphOf } from '../../../src/campaign/checked-graph.ts';
import { holdGuard } from '../../../src/campaign/hold-guard.ts';
import { Scope } from '../../../src/ground/scope.ts';
import { load, plan } from '../../../src/index.ts';
import { makeFolder } from '../disk/folder.ts';

const manifest =
  'version: 1\nname: spring\ntasks:\n  film: { kind: video, with: { prompt: a lamp }, save: films/film }\n';

/** A campaign without a lock that buys a film, and whose carrier is asked once more for a run under way: it has this one then. */
async function hold({ isBought, begun }: { isBought: boolean; begun: Running | undefined }) {
  const folder = makeFolder();
  const write = (name: string, bytes: string | Buffer) => writeFileSync(join(folder, name), bytes);
  write('campaign.yaml', manifest);
  if (isBought) {
    mkdirSync(join(folder, 'films'));
    write('films/film.mp4', Buffer.from('0000001c6674797069736f6d00000200', 'hex'));
  }
  const { campaign, options } = await plan(await load(join(folder, 'campaign.yaml'), { environment: {} }));
  let asked = -1;
  const carrier: Carrier = {
    async attach() {
      asked += 1;
      if (asked === 0) return undefined;
      // Whoever attaches holds the lock.
      const guard = await holdGuard(campaign.paths.lock, 0, () => {}, { forEngine: true });
      await guard.release();
      return begun;
    },
    start: () => Promise.reject(new Error('not asked for')),
  };
  const scope = new Scope();
  const checked = graphOf(campaign.checked, campaign, campaign.checked);
  const session = new ApplySession(checked, { campaign, terms: pickPlanningOptions(options), carrier, scope });
  const held = session.plan();
  held.finally(() => session.close()).catch(() => {});
  return { held, asked: () => asked };
}

const theirs = { isWork: true } as Running;

test('who is second to submit a campaign watches the run that has begun since, in place of a lock that seems lost', async () => {
  const { held, asked } = await hold({ isBought: true, begun: theirs });
  expect(await held).toBe(theirs);
  expect(asked()).toBe(1);
});

test('where none has begun the lock is lost', async () => {
  const { held, asked } = await hold({ isBought: true, begun: undefined });
  await expect(held).rejects.toMatchObject({ failure: { code: 'MB3409' } });
  expect(asked()).toBe(1);
});

test('nobody asks for another run where nothing seems lost', async () => {
  const { held, asked } = await hold({ isBought: false, begun: theirs });
  const own = await held;
  expect([own === theirs, asked()]).toEqual([false, 0]);
});
