import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factsBefore, ReportedEvents } from '../../../src/cluster/head/reported-events.ts';
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
  /** No answer to its creates arrives, and none of its ends is on record: what it reported of them does not hold. */
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
    const reported = new ReportedEvents();
    for (const fact of stream) reported.note(fact);
    const lock = campaign.file.read();
    const facts = { before, lock, ends: known, now: campaign.clock.now(), replays: 'yes' as const };
    const resumed = resumePlan(plan, { ...facts, prices: campaign.graph.prices });
    for (const [name, end] of resumed.newEnds) known.set(name, end);
    let left = moment?.events ?? Number.POSITIVE_INFINITY;
    const emit = (fact: RunFact) => {
      if (!reported.note(fact)) return;
      left -= 1;
      if (left >= 0) stream.push(fact);
    };
    const { campaign: name, concurrency, totals } = plan;
    const tasks = [{ id: 'pic', kind: 'image', steps: 4 }];
    emit({ event: 'run-started', version: 1, campaign: name, steps: countSteps(plan), concurrency, totals, tasks });
    for (const fact of factsBefore(resumed.plan, resumed.ends, { lock, reported })) emit(fact);
    const most = known.size + (moment?.loses ? 0 : (moment?.ends ?? Number.POSITIVE_INFINITY));
    // As a head does: what another one could find to have ended otherwise is reported when it is on record.
    const unreported = new Map<string, RunFact>();
    const onEnd = (step: string, end: StepEnd) => {
      if (known.size >= most) return;
      known.set(step, end);
      const fact = unreported.get(step);
      if (fact !== undefined) emit(fact);
    };
    const onEvent = (fact: RunFact) => {
      if (fact.event === 'step-finished' && fact.outcome !== 'done') unreported.set(fact.address, fact);
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

test('the event stream of several leaders reads like that of one', async () => {
  const expected = shown(await relay([]));
  expect(expected.text).toBe('3 of 4 done, 1 failed');
  await fc.assert(
    fc.asyncProperty(deaths, async (moments) => {
      expect(shown(await relay(moments))).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

test('reports the begin and end of a step once across leaders', async () => {
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

test('reports a stop of all spending after a partial stop', () => {
  const reported = new ReportedEvents();
  const stop = (because: 'budget' | 'price' | 'signal') =>
    reported.note({ event: 'spending-stopped', because, detail: because });
  stop('budget');
  stop('price');
  expect(reported.stopped).toBeUndefined();
  stop('signal');
  expect(reported.stopped).toBe('signal');
});
