import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factsBefore, ToldEvents } from '../../../src/cluster/head/told-events.ts';
import type { RunEvent, RunFact } from '../../../src/contract/event.ts';
import { countSteps } from '../../../src/plan/actions.ts';
import { foldEvent } from '../../../src/report/run/fold-event.ts';
import { createRunView } from '../../../src/report/run/run-view.ts';
import { progressText } from '../../../src/report/run/run-words.ts';
import { resumePlan } from '../../../src/run/resume-plan.ts';
import type { StepEnd } from '../../../src/run/step-end.ts';
import { images, TestCampaign } from '../../rig/campaign.ts';

interface Death {
  /** The line it dies at. */
  line: number;
  written: boolean;
  /** How many of its ends and events are on record then. */
  ends: number;
  events: number;
  /** No answer to its creates arrives, and none of its ends is on record: what it told of them does not hold. */
  loses: boolean;
}

const deaths = fc.array(
  fc.record({ line: fc.nat(20), written: fc.boolean(), ends: fc.nat(4), events: fc.nat(40), loses: fc.boolean() }),
  {
    maxLength: 4,
  },
);

/** The events of a run that one head after the other carries out. */
async function relay(moments: readonly Death[]) {
  const campaign = new TestCampaign(images(4));
  campaign.service.endOf = ({ body }) => (body.includes('p3') ? { is: 'failed', error: 'boom' } : undefined);
  const plan = campaign.plan();
  const before = campaign.file.read();
  const known = new Map<string, StepEnd>();
  const stream: RunFact[] = [];
  for (const moment of [...moments, undefined]) {
    const told = new ToldEvents();
    for (const fact of stream) told.note(fact);
    const lock = campaign.file.read();
    const facts = { before, lock, ends: known, now: campaign.clock.now(), replays: 'yes' as const };
    const resumed = resumePlan(plan, { ...facts, prices: campaign.graph.prices });
    for (const [name, end] of resumed.newEnds) known.set(name, end);
    let left = moment?.events ?? Number.POSITIVE_INFINITY;
    const emit = (fact: RunFact) => {
      if (!told.note(fact)) return;
      left -= 1;
      if (left >= 0) stream.push(fact);
    };
    const { campaign: name, concurrency, totals } = plan;
    const tasks = [{ id: 'pic', kind: 'image', steps: 4 }];
    emit({ event: 'run-started', version: 1, campaign: name, steps: countSteps(plan), concurrency, totals, tasks });
    for (const fact of factsBefore(resumed.plan, resumed.ends, { lock, told })) emit(fact);
    const most = known.size + (moment?.loses ? 0 : (moment?.ends ?? Number.POSITIVE_INFINITY));
    // As a head does: what another one could find to have ended otherwise is told when it is on record.
    const untold = new Map<string, RunFact>();
    const onEnd = (step: string, end: StepEnd) => {
      if (known.size >= most) return;
      known.set(step, end);
      const fact = untold.get(step);
      if (fact !== undefined) emit(fact);
    };
    const onEvent = (fact: RunFact) => {
      if (fact.event === 'step-finished' && fact.outcome !== 'done') untold.set(fact.address, fact);
      else emit(fact);
    };
    const lost = { answer: { is: 'ambiguous', message: 'lost' }, booked: true } as const;
    campaign.service.trouble = () => (moment?.loses ? lost : undefined);
    const options = { resumed, onEnd, onEvent, unsettled: true };
    if (moment === undefined) await campaign.run(options);
    else await campaign.runAndDie(moment, options);
  }
  return stream;
}

/** What a screen shows at the end. */
function shown(stream: readonly RunFact[]) {
  const view = createRunView();
  const at = new Date(0).toISOString();
  for (const fact of stream) foldEvent(view, { at, ...fact } as RunEvent);
  const stages = [...view.tasks.values()].map((task) => [...task.stages].filter(([, count]) => count > 0).sort());
  return { stages, files: view.files, text: progressText(view, { isOver: true }) };
}

test('whoever reads the events of a run from its start sees what one head would have told', async () => {
  const expected = shown(await relay([]));
  expect(expected.text).toBe('3 of 4 done, 1 failed');
  await fc.assert(
    fc.asyncProperty(deaths, async (moments) => {
      expect(shown(await relay(moments))).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test('a step begins and ends once, however many heads there were that lost nothing they told', async () => {
  const whole = deaths.map((moments) => moments.map((moment) => ({ ...moment, ends: 99, events: 999, loses: false })));
  await fc.assert(
    fc.asyncProperty(whole, async (moments) => {
      const stream = await relay(moments);
      const count = (event: RunFact['event']) => stream.filter((fact) => fact.event === event).length;
      expect([count('run-started'), count('step-started'), count('step-finished')]).toEqual([1, 4, 4]);
    }),
    { numRuns: 40 },
  );
});

test('a stop of all spending counts although one of some of it was told before', () => {
  const told = new ToldEvents();
  const stop = (because: 'budget' | 'price' | 'signal') =>
    told.note({ event: 'spending-stopped', because, detail: because });
  stop('budget');
  stop('price');
  expect(told.stopped).toBeUndefined();
  stop('signal');
  expect(told.stopped).toBe('signal');
});
