import fc from 'fast-check';
import { expect } from 'vitest';
import { type Graph, outlineOf } from '../../../src/graph/graph.ts';
import { joinInto } from '../../../src/lock/join.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { isSpending } from '../../../src/plan/actions.ts';
import { type Judgement, judgeSteps } from '../../../src/plan/decisions/judge.ts';
import { withoutMovedAway } from '../../../src/plan/rows/orphans.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf, TestCampaign } from '../../rig/campaign.ts';
import { type Mishap, mishaps, suffer } from '../../rig/mishaps.ts';
import { forAll, runs } from '../../rig/runs.ts';

/** Drafts of two rows, one of each picked; of the finals, which are approved, a film. `keys`: of the two rows. */
function campaignOf(keys: readonly string[], retries: boolean): Graph {
  const rows = `foreach: [${keys.map((key, index) => `{ id: ${key}, say: thing ${index} }`).join(', ')}], key: "{{row.id}}"`;
  const retry = retries ? 'retry: { attempts: 2 }, ' : '';
  return graphOf(`version: 1
name: culled
prices: { image: 3 }
tasks:
  draft: { kind: image, ${retry}${rows}, takes: 2, gate: { choose: 1 }, with: { prompt: "draft {{row.say}}", resolution: 1k } }
  logo: { kind: image, takes: 3, gate: { choose: 2 }, with: { prompt: logo, resolution: 1k } }
  final: { kind: image, ${retry}${rows}, gate: approve, with: { prompt: "final {{row.say}}", referenceImages: ["{{tasks.draft.url}}"], resolution: 1k } }
  sheet: { kind: image, with: { prompt: sheet, referenceImages: "{{tasks.logo.urls}}", resolution: 1k } }
  film: { kind: image, with: { prompt: film, referenceImages: "{{tasks.final.urls}}", resolution: 1k } }
`);
}

/** What may happen between two runs. `nth`: of the steps that have a gate. */
type Act =
  | Extract<Mishap, { do: 'die' | 'fail' | 'forget files' }>
  | { do: 'run' }
  | { do: 'judge'; as: Judgement['as']; nth: number[] }
  | { do: 'redo'; nth: number }
  | { do: 'exchange keys' };

const nth = fc.nat(8);
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Act>({ do: 'run' }) },
  { weight: 2, arbitrary: mishaps.die(10) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('judge' as const),
      as: fc.constantFrom<Judgement['as'][]>('picked', 'picked', 'picked', 'rejected', 'undecided'),
      nth: fc.uniqueArray(nth, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('redo' as const), nth }) },
  { weight: 1, arbitrary: mishaps.fail() },
  { weight: 1, arbitrary: fc.constant<Act>({ do: 'exchange keys' }) },
  { weight: 1, arbitrary: mishaps.forgetFiles() },
);

/** Addresses that gates ask about. */
function askedAbout({ gates = [] }: Graph): string[] {
  return gates.flatMap(({ members }) => members);
}

function judge(campaign: TestCampaign, as: Judgement['as'], addresses: readonly string[]): void {
  const lock = campaign.file.read();
  for (const address of addresses) {
    const situation = situate(campaign.graph, lock);
    const chosen = situation.matches.filter(({ step }) => step.address === address);
    for (const ruling of judgeSteps(chosen, { as, wordsOf: () => ({}) }, situation)) {
      if (ruling.is === 'recorded') for (const record of ruling.records) joinInto(lock.steps, record);
    }
  }
  campaign.file.text = writeLock(withoutMovedAway(lock, outlineOf(campaign.graph)));
}

/** Jobs whose outputs may be used now. */
function pickedJobs(campaign: TestCampaign): Set<string> {
  const lock = campaign.file.read();
  const { graph, matches } = situate(campaign.graph, lock);
  const picked = new Set(graph.gates.flatMap(({ state }) => (state.is === 'decided' ? state.picked : [])));
  return new Set(matches.flatMap(({ step, purchase }) => (picked.has(step.address) ? (purchase?.jobId ?? []) : [])));
}

/**
 * Runs, and sees to it that what was bought is what the plan named, made from nothing but what is picked. `isCut`: the run
 * before was, so that what it may have sent is asked for again, whatever people have decided since.
 */
async function runAsPlanned(campaign: TestCampaign, isCut: boolean, redo: string[] = []): Promise<void> {
  const { ledger } = campaign.service;
  const asked = ledger.flatMap(({ jobId, body }) => (/"(draft|logo|final)/.test(body) ? [jobId] : []));
  const before = ledger.length;
  const paid = new Set(ledger.map(({ key }) => key));
  const { plan, outcomes } = await campaign.run({ concurrency: 2, redo });
  for (const { address, blockedBy } of plan.rows) if (blockedBy === 'gate') expect(outcomes[address]).toBeUndefined();
  if (isCut) return;
  const spending = plan.rows.filter(({ action }) => isSpending(action));
  // Rows of equal requests that exchange keys share what was bought again for one of them: a key is paid for once.
  const unpaid = spending.filter(({ order }) => order === undefined || !paid.has(order.key));
  expect(ledger.length - before).toBe(unpaid.length);
  expect(spending.map(({ address }) => outcomes[address])).toEqual(spending.map(() => 'done'));
  const usable = pickedJobs(campaign);
  for (const { body } of ledger.slice(before)) {
    for (const job of asked) if (body.includes(job)) expect(usable).toContain(job);
  }
}

forAll([fc.array(acts, { minLength: 2, maxLength: 14 }), fc.boolean()], {
  numRuns: runs(60),
  endOnFailure: true,
  timeoutMs: 900_000,
})(
  'I27 whatever people decide between runs: a plan is carried out as it is, and what is made is made from what is picked',
  async (history, retries) => {
    let keys = ['a', 'b'];
    const campaign = new TestCampaign(campaignOf(keys, retries));
    campaign.service.jobMs = 3000;
    let isCut = false;
    for (const act of [{ do: 'run' } as const, ...history, { do: 'run' } as const]) {
      const asked = askedAbout(campaign.graph);
      const named = (index: number) => asked[index % asked.length] ?? '';
      switch (act.do) {
        case 'run':
          await runAsPlanned(campaign, isCut);
          isCut = false;
          break;
        case 'judge':
          judge(campaign, act.as, act.nth.map(named));
          break;
        case 'redo':
          await runAsPlanned(campaign, isCut, [named(act.nth)]);
          isCut = false;
          break;
        case 'die':
        case 'fail': {
          const { endOf } = campaign.service;
          await suffer(campaign, act);
          campaign.service.endOf = endOf;
          isCut = true;
          break;
        }
        case 'exchange keys':
          keys = [keys[1] ?? '', keys[0] ?? ''];
          campaign.graph = campaignOf(keys, retries);
          break;
        default:
          await suffer(campaign, act);
      }
    }
    const paid = campaign.service.ledger.length;
    await campaign.run({ concurrency: 2 });
    expect(campaign.service.ledger).toHaveLength(paid);
  },
);
