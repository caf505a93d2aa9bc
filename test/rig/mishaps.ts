import fc from 'fast-check';
import type { TestCampaign } from './campaign.ts';

/** What befalls a campaign while it runs, or between two runs. */
export type Mishap =
  | { do: 'die'; line: number; written: boolean }
  | { do: 'lose'; from: number; count: number; booked: boolean }
  | { do: 'refuse'; from: number; count: number; why: 'invalid' | 'credits' }
  /** A job comes to nothing. Nobody asks for another one: there must not be one. */
  | { do: 'fail'; nth: number }
  | { do: 'wait'; hours: number }
  | { do: 'forget files' };

type Arbitrary<Name extends Mishap['do']> = fc.Arbitrary<Extract<Mishap, { do: Name }>>;

/** Mishaps by name, as far as a model lets them go: to which line a run gets, and how many creates are met. */
export const mishaps = {
  die: (lines: number): Arbitrary<'die'> =>
    fc.record({ do: fc.constant('die' as const), line: fc.nat(lines), written: fc.boolean() }),
  lose: (most: number): Arbitrary<'lose'> =>
    fc.record({ do: fc.constant('lose' as const), ...someCreates(most), booked: fc.boolean() }),
  refuse: (most: number): Arbitrary<'refuse'> =>
    fc.record({
      do: fc.constant('refuse' as const),
      ...someCreates(most),
      why: fc.constantFrom('invalid' as const, 'credits' as const),
    }),
  fail: (): Arbitrary<'fail'> => fc.record({ do: fc.constant('fail' as const), nth: fc.nat(3) }),
  wait: (...hours: number[]): Arbitrary<'wait'> =>
    fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(...hours) }),
  forgetFiles: (): Arbitrary<'forget files'> => fc.constant({ do: 'forget files' as const }),
};

function someCreates(most: number) {
  return { from: fc.nat(4), count: fc.integer({ min: 1, max: most }) };
}

/** Has the campaign run into it. */
export async function suffer(campaign: TestCampaign, mishap: Mishap): Promise<void> {
  const { service } = campaign;
  switch (mishap.do) {
    case 'die':
      await campaign.runAndDie({ line: mishap.line, written: mishap.written }, { concurrency: 2 });
      return;
    case 'lose':
    case 'refuse': {
      const first = service.creates.length + mishap.from;
      const trouble =
        mishap.do === 'lose'
          ? { answer: { is: 'ambiguous' as const, message: 'lost' }, booked: mishap.booked }
          : refusal(mishap.why);
      service.trouble = (create) => (create > first && create <= first + mishap.count ? trouble : undefined);
      await campaign.run({ concurrency: 2 });
      service.trouble = () => undefined;
      return;
    }
    case 'fail': {
      const { endOf } = service;
      const failing = service.ledger.length + mishap.nth;
      service.endOf = (job) =>
        service.ledger[failing]?.key === job.key ? { is: 'failed', error: 'boom' } : endOf(job);
      await campaign.run({ concurrency: 2 });
      return;
    }
    case 'wait':
      campaign.clock.advance(mishap.hours * 3_600_000);
      return;
    case 'forget files':
      campaign.outputs.files.clear();
      return;
    default:
      mishap satisfies never;
  }
}

function refusal(why: 'invalid' | 'credits') {
  return { answer: { is: 'refused' as const, status: why === 'credits' ? 402 : 400, why, message: 'no' } };
}
