import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { actionsOf, graphOf, images, launch, TestCampaign } from '../../rig/campaign.ts';
import { type Mishap, mishaps, suffer } from '../../rig/mishaps.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { completed } from '../../rig/scripted-service.ts';

const timeoutMs = 900_000;

/** Everything that may happen to a campaign between two looks at it. */
type Act =
  | Mishap
  | { do: 'run' }
  | { do: 'credential'; replays: boolean }
  /** Under another name, or under two: equal requests are one job. */
  | { do: 'edit'; steps: number; tasks: string[] };

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Act>({ do: 'run' }) },
  { weight: 4, arbitrary: mishaps.die(14) },
  { weight: 3, arbitrary: mishaps.lose(9) },
  { weight: 2, arbitrary: mishaps.refuse(3) },
  { weight: 2, arbitrary: mishaps.fail() },
  { weight: 2, arbitrary: mishaps.wait(1, 12, 22, 24, 30) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('credential' as const), replays: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      steps: fc.integer({ min: 1, max: 5 }),
      tasks: fc.constantFrom<string[]>(['pic'], ['other'], ['other', 'pic'], ['pic', 'other']),
    }),
  },
  { weight: 1, arbitrary: mishaps.forgetFiles() },
);

async function perform(campaign: TestCampaign, act: Act): Promise<void> {
  switch (act.do) {
    case 'run':
      await campaign.run({ concurrency: 2 });
      break;
    case 'credential':
      campaign.service.canReplay = act.replays;
      break;
    case 'edit':
      campaign.graph = graphOf(imagesUnder(act.tasks, act.steps));
      break;
    default:
      await suffer(campaign, act);
  }
}

describe('whatever happens, in whatever order', () => {
  forAll([fc.array(acts, { minLength: 1, maxLength: 12 })], { numRuns: runs(400), endOnFailure: true, timeoutMs })(
    'each request is paid for at most once, and no paid id is ever lost',
    async (history) => {
      const campaign = new TestCampaign(images(4));
      campaign.service.jobMs = 3000;
      for (const act of [...history, { do: 'run' } as const]) {
        await perform(campaign, act);
        expectPaidOnce(campaign.service.ledger, campaign.file.text);
      }
      const known = JSON.stringify([...campaign.file.read().steps.values()]);
      const lost = campaign.service.ledger.filter(({ jobId }) => !known.includes(`"${jobId}"`));
      // What has no id on record is on record as a create request that waits for its answer or for a person.
      for (const { key } of lost) {
        expect(known).toMatch(
          new RegExp(
            `"state":"(intent|unresolved)"[^}]*"key":"${key}"|"key":"${key}"[^}]*"state":"(intent|unresolved)"`,
          ),
        );
      }
    },
  );

  const calm = fc.array(
    acts.filter((act) => act.do !== 'edit'),
    { minLength: 1, maxLength: 12 },
  );
  forAll([calm], { numRuns: runs(300), endOnFailure: true, timeoutMs })(
    'posts, parts, uploads and kinds that cannot be asked again are bought at most once, too',
    async (history) => {
      const campaign = new TestCampaign(launch());
      campaign.service.jobMs = 3000;
      campaign.service.endOf = ({ body }) =>
        body.includes('videoUrl') ? completed('https://files.example/c0', 'https://files.example/c1') : undefined;
      for (const act of [...history, { do: 'run' } as const]) {
        await perform(campaign, act);
        expectPaidOnce(campaign.service.ledger, campaign.file.text);
      }
      expect(campaign.service.ledger.filter(({ body }) => body.includes('share 2'))).toHaveLength(0);
    },
  );

  /**
   * What one of the two does, or what git does to both. Within a day: later the service replays no key. Nothing is
   * refused: after a refusal another key is used, and only a merge tells the other one of it.
   */
  const turn = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(
        fc.nat(1),
        acts.filter(({ do: what }) => !['credential', 'refuse'].includes(what)),
      ),
    },
    { weight: 3, arbitrary: fc.constant('merge' as const) },
  );
  forAll([fc.array(turn, { minLength: 2, maxLength: 12 })], { numRuns: runs(200), endOnFailure: true, timeoutMs })(
    'two clones with one account, merged now and then, buy each request once and keep each id',
    async (turns) => {
      const one = new TestCampaign(images(3));
      const other = Object.assign(new TestCampaign(images(3)), { clock: one.clock, service: one.service });
      const clones = [one, other] as const;
      one.service.jobMs = 3000;
      for (const next of [...turns, 'merge' as const, [0, { do: 'run' }] as const, 'merge' as const]) {
        if (next === 'merge') mergeByUnion(clones);
        else await perform(clones[next[0] === 0 ? 0 : 1], next[1].do === 'wait' ? { do: 'wait', hours: 1 } : next[1]);
        expectPaidOnce(one.service.ledger, one.file.text + other.file.text);
      }
      const known = JSON.stringify([...one.file.read().steps.values()]);
      for (const { jobId, key } of one.service.ledger) {
        const isOpen = new RegExp(`"state":"intent"[^}]*"key":"${key}"`).test(known);
        expect(known.includes(`"${jobId}"`) || isOpen, `${jobId} in ${known}`).toBe(true);
      }
      // What one of them has bought, the other one fetches.
      const spending = Object.values(actionsOf(other.plan())).filter((action) => action === 'redo');
      expect(spending).toEqual([]);
    },
  );
});

/** Each request once, and on record: by its id or, where that never came, by the key under which it can be asked for. */
function expectPaidOnce(ledger: readonly { key: string; jobId: string; body: string }[], text: string): void {
  const bodies = ledger.map(({ body }) => body);
  expect(new Set(bodies).size, JSON.stringify(bodies)).toBe(bodies.length);
  const lost = ledger.filter(({ key, jobId }) => !text.includes(`"${key}"`) && !text.includes(`"${jobId}"`));
  expect(lost, text).toEqual([]);
}

/** The same images once for each task. */
function imagesUnder(tasks: readonly string[], steps: number): string {
  const [head = '', body = ''] = images(steps).split('  pic:');
  return `${head}${tasks.map((task) => `  ${task}:${body}`).join('')}`;
}

/** `merge=union` of the two files: all lines of both, as they are. */
function mergeByUnion([one, other]: readonly [TestCampaign, TestCampaign]): void {
  const lines = [...new Set(`${one.file.text}\n${other.file.text}`.split('\n'))].filter((line) => line !== '');
  one.file.text = `${lines.join('\n')}\n`;
  other.file.text = one.file.text;
}
