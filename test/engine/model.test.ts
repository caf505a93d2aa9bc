import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { graphOf, images, TestCampaign } from '../rig/campaign.ts';

const hours = 3_600_000;

/** Everything that may happen to a campaign between two looks at it. */
type Act =
  | { do: 'run' }
  | { do: 'die'; line: number; written: boolean }
  | { do: 'lose'; from: number; count: number; booked: boolean }
  | { do: 'wait'; hours: number }
  | { do: 'credential'; replays: boolean }
  | { do: 'edit'; steps: number; task: string }
  | { do: 'forget files' };

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Act>({ do: 'run' }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('die' as const), line: fc.nat(14), written: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('lose' as const),
      from: fc.nat(4),
      count: fc.integer({ min: 1, max: 9 }),
      booked: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 12, 22, 24, 30) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('credential' as const), replays: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      steps: fc.integer({ min: 1, max: 5 }),
      task: fc.constantFrom('pic', 'other'),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Act>({ do: 'forget files' }) },
);

async function perform(campaign: TestCampaign, act: Act): Promise<void> {
  switch (act.do) {
    case 'run':
      await campaign.run({ concurrency: 2 });
      break;
    case 'die':
      await campaign.runAndDie({ line: act.line, written: act.written }, { concurrency: 2 });
      break;
    case 'lose': {
      const first = campaign.service.creates.length + act.from;
      campaign.service.trouble = (create) =>
        create > first && create <= first + act.count
          ? { answer: { is: 'ambiguous', message: 'lost' }, booked: act.booked }
          : undefined;
      await campaign.run({ concurrency: 2 });
      campaign.service.trouble = () => undefined;
      break;
    }
    case 'wait':
      campaign.clock.advance(act.hours * hours);
      break;
    case 'credential':
      campaign.service.canReplay = act.replays;
      break;
    case 'edit':
      campaign.graph = graphOf(images(act.steps).replace('pic:', `${act.task}:`));
      break;
    case 'forget files':
      campaign.outputs.files.clear();
      break;
    default:
      act satisfies never;
  }
}

describe('whatever happens, in whatever order', () => {
  test('each request is paid for at most once, and no paid id is ever lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(acts, { minLength: 1, maxLength: 12 }), async (history) => {
        const campaign = new TestCampaign(images(4));
        campaign.service.jobMs = 3000;
        for (const act of [...history, { do: 'run' } as const]) {
          await perform(campaign, act);
          const bodies = campaign.service.ledger.map(({ body }) => body);
          expect(new Set(bodies).size, JSON.stringify(bodies)).toBe(bodies.length);
          const recorded = campaign.file.text;
          for (const { key } of campaign.service.ledger) expect(recorded).toContain(key);
        }
        const known = JSON.stringify([...campaign.file.read().steps.values()]);
        const lost = campaign.service.ledger.filter(({ jobId }) => !known.includes(`"${jobId}"`));
        // What has no id on record is on record as a create that waits for its answer or for a person.
        for (const { key } of lost) {
          expect(known).toMatch(
            new RegExp(
              `"state":"(intent|unresolved)"[^}]*"key":"${key}"|"key":"${key}"[^}]*"state":"(intent|unresolved)"`,
            ),
          );
        }
      }),
      { numRuns: 400, endOnFailure: true },
    );
  }, 120_000);
});
