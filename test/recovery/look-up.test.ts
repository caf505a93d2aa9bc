import { expect, test } from 'vitest';
import type { Json } from '../../src/json.ts';
import { decideLookUp } from '../../src/run/look-up.ts';

type Echoes = { [field: string]: Json };

const fields = ['prompt', 'model'];
const old = { prompt: 'a known video', model: 'm1' };
const asked = { prompt: 'a red fox in snow', model: 'm1' };
const show = (jobId: string, echoes: Echoes) => ({ kind: 'video', jobId, echoes });

/** `lost`: requests; `resent` are those that were sent again. The known job stands in every list as `knownShown`. */
function lookUp(
  lists: [Echoes[], Echoes[]],
  { lost = [asked], resent = false, complete = true, knownShown = old as Echoes } = {},
): string[] {
  const [first, second] = lists.map((jobs) => ({
    jobs: jobs.map((echoes, index) => show(`n${index}`, echoes)),
    older: [show('known', knownShown)],
    complete,
  }));
  if (first === undefined || second === undefined) throw new Error('two walks');
  const creates = lost.map((request, index) => ({ key: `k${index}`, request, resent }));
  const verdicts = decideLookUp(creates, [first, second], { fields, known: new Map([['known', old]]) });
  return creates.map(({ key }) => {
    const verdict = verdicts.get(key);
    return verdict?.do === 'adopt' ? `adopt ${verdict.job.jobId}` : (verdict?.do ?? 'none');
  });
}

test.each<[string, string[], string[]]>([
  ['the only match is taken', lookUp([[asked], [asked]]), ['adopt n0']],
  ['a list that lags: seen in the second walk only', lookUp([[], [asked]]), ['adopt n0']],
  ['nothing, twice', lookUp([[], []]), ['resend']],
  ['nothing, twice, after it was sent again', lookUp([[], []], { resent: true }), ['hold']],
  [
    'more matches than creates',
    lookUp([
      [asked, asked],
      [asked, asked],
    ]),
    ['hold'],
  ],
  [
    'takes are interchangeable',
    lookUp(
      [
        [asked, asked],
        [asked, asked],
      ],
      { lost: [asked, asked] },
    ),
    ['adopt n0', 'adopt n1'],
  ],
  ['one of two takes was made', lookUp([[asked], [asked]], { lost: [asked, asked] }), ['adopt n0', 'resend']],
  ['another job of somebody else', lookUp([[{ prompt: 'x', model: 'm1' }], []]), ['resend']],
  ['case and space folded', lookUp([[{ ...asked, prompt: 'A red  fox in snow' }], []]), ['hold']],
  ['cut short', lookUp([[{ ...asked, prompt: 'a red fox' }], []]), ['hold']],
  ['another model', lookUp([[{ ...asked, model: 'm2' }], []]), ['hold']],
  ['a record that shows no prompt', lookUp([[{ model: 'm1' }], []]), ['hold']],
  ['not walked to the fence', lookUp([[], []], { complete: false }), ['hold']],
  ['the list rewrites prompts', lookUp([[], []], { knownShown: { ...old, prompt: 'A known video.' } }), ['hold']],
  ['the list leaves prompts out', lookUp([[], []], { knownShown: { model: 'm1' } }), ['hold']],
  [
    'the list renames models',
    lookUp([[{ ...asked, model: 'z' }], []], { knownShown: { ...old, model: 'z' } }),
    ['adopt n0'],
  ],
  [
    'one record, two requests that it cannot tell apart',
    lookUp([[asked], [asked]], { lost: [asked, { ...asked, seed: '2' } as typeof asked] }),
    ['hold', 'hold'],
  ],
])('%s', (_, seen, expected) => {
  expect(seen).toEqual(expected);
});
