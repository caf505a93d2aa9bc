import { expect, it } from 'vitest';
import { fingerprintStep } from '../../../src/graph/render/fingerprint.ts';
import { canonicalJson } from '../../../src/ground/json.ts';
import { writeLine } from '../../../src/lock/write.ts';
import { idempotencyKey } from '../../../src/plan/purchases/key.ts';
import { TestCampaign } from '../../rig/campaign.ts';

const manifest = 'version: 1\nname: test\ntasks:\n  hero: { kind: image, with: { prompt: x } }\n';

it('asks about a send from before under its own key, with its own bytes: defaults that it wrote out included', async () => {
  const campaign = new TestCampaign(manifest);
  const { clock, service, file } = campaign;
  const request = { model: 'alpha-2', prompt: 'x' };
  const fingerprint = fingerprintStep({ kind: 'image', paidRequest: request });
  const key = idempotencyKey({ campaign: 'test', fingerprint, repeat: 1, attempt: 1 });
  file.text += writeLine({
    ...{ address: 'hero', kind: 'image', fingerprint, generation: 1, attempt: 1, key, request },
    ...{ state: 'intent', send: 'abcdef0123456789', since: new Date(clock.now()).toISOString() },
    account: 'abcdef0123456789-one',
  });
  // The answer to it was lost: the job is there.
  await clock.run(service.create({ kind: 'image', body: canonicalJson(request), key }));
  const { outcomes } = await campaign.run();
  expect(outcomes).toEqual({ hero: 'done' });
  expect(service.creates.map((create) => create.key)).toEqual([key, key]);
  expect(new Set(service.creates.map(({ body }) => body))).toEqual(new Set([canonicalJson(request)]));
  expect(service.ledger).toHaveLength(1);
  expect(Object.values((await campaign.run()).outcomes)).toEqual([]);
});

it('buys it again, where somebody asks, under the request that was bought', async () => {
  const campaign = new TestCampaign(manifest);
  await campaign.run();
  await campaign.run({ redo: ['hero'] });
  expect(campaign.service.ledger.map(({ body }) => body)).toEqual(['{"prompt":"x"}', '{"prompt":"x"}']);
});
