import { expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { decideLookUp, findCalibrated, type LostCreate } from '../../../src/run/look-up.ts';

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
  const creates = lost.map((request, index) => ({ id: `k${index}`, request, resent }));
  const verdicts = decideLookUp(creates, [first, second], { fields, known: new Map([['known', old]]) });
  return creates.map(({ id }) => {
    const verdict = verdicts.get(id);
    return verdict?.do === 'adopt' ? `adopt ${verdict.job.jobId}` : (verdict?.do ?? 'none');
  });
}

test.each<[string, Echoes[], string]>([
  ['a job on record is not there', [], 'hold'],
  ['every job on record is there', [old], 'resend'],
])('in a list that had been empty %s', (_, listed, verdict) => {
  const walk = { jobs: listed.map((echoes) => show('known', echoes)), older: [show('known', old)], complete: true };
  const lost: LostCreate = { id: 'k', request: asked, resent: false, fence: '' };
  const known = new Map([['known', old]]);
  const fenced = { ...lost, id: 'fenced', fence: 'n0' };
  expect(decideLookUp([lost, fenced], [walk, walk], { fields, known }).get('k')?.do).toBe(verdict);
});

test.each<[string, string, string]>([
  ['signs as entities', 'Tom & Jerry <in snow>', 'Tom &amp; Jerry &lt;in snow&gt;'],
  ['an ellipsis where it was cut', 'a red fox in snow', 'a red fox …'],
  ['three dots where it was cut', 'a red fox in snow', 'A red fox...'],
  ['an entity, and cut', 'Tom & Jerry in snow', 'Tom &amp; Je…'],
])('a text that comes back with %s is like it', (_, prompt, shown) => {
  const request = { ...asked, prompt };
  expect(lookUp([[{ ...request, prompt: shown }], []], { lost: [request] })).toEqual(['hold']);
});

test.each<[string, () => string[], string[]]>([
  ['the only match is taken', () => lookUp([[asked], [asked]]), ['adopt n0']],
  ['a list that lags: seen in the second walk only', () => lookUp([[], [asked]]), ['adopt n0']],
  ['nothing, twice', () => lookUp([[], []]), ['resend']],
  ['nothing, twice, after it was sent again', () => lookUp([[], []], { resent: true }), ['hold']],
  [
    'more matches than creates',
    () =>
      lookUp([
        [asked, asked],
        [asked, asked],
      ]),
    ['hold'],
  ],
  [
    'takes are interchangeable',
    () =>
      lookUp(
        [
          [asked, asked],
          [asked, asked],
        ],
        { lost: [asked, asked] },
      ),
    ['adopt n0', 'adopt n1'],
  ],
  ['one of two takes was made', () => lookUp([[asked], [asked]], { lost: [asked, asked] }), ['adopt n0', 'resend']],
  ['another job of somebody else', () => lookUp([[{ prompt: 'x', model: 'm1' }], []]), ['resend']],
  ['case and space folded', () => lookUp([[{ ...asked, prompt: 'A red  fox in snow' }], []]), ['hold']],
  ['cut short', () => lookUp([[{ ...asked, prompt: 'a red fox' }], []]), ['hold']],
  ['another model', () => lookUp([[{ ...asked, model: 'm2' }], []]), ['hold']],
  ['a record that shows no prompt', () => lookUp([[{ model: 'm1' }], []]), ['hold']],
  ['not walked to the fence', () => lookUp([[], []], { complete: false }), ['hold']],
  ['the list rewrites prompts', () => lookUp([[], []], { knownShown: { ...old, prompt: 'A known video.' } }), ['hold']],
  ['the list leaves prompts out', () => lookUp([[], []], { knownShown: { model: 'm1' } }), ['hold']],
  [
    'the list renames models',
    () => lookUp([[{ ...asked, model: 'z' }], []], { knownShown: { ...old, model: 'z' } }),
    ['adopt n0'],
  ],
  [
    'one record, two requests that it cannot tell apart',
    () => lookUp([[asked], [asked]], { lost: [asked, { ...asked, seed: '2' } as typeof asked] }),
    ['hold', 'hold'],
  ],
])('%s', (_, seen, expected) => {
  expect(seen()).toEqual(expected);
});

const record = (jobId: string, echoes: Echoes = asked) => show(jobId, echoes);
const known = new Map([['known', old]]);

/** Both walks saw the same: these jobs, newest first, and behind them the known one. */
function decide(jobs: string[], creates: Partial<LostCreate>[], more: { complete?: boolean[]; shown?: Echoes } = {}) {
  const { complete = [true, true], shown = old } = more;
  const [first = true, second = true] = complete;
  const walk = { jobs: jobs.map((jobId) => record(jobId)), older: [record('known', shown)] };
  const lost = creates.map((one, index) => ({ id: `k${index}`, request: asked, resent: false, ...one }));
  const verdicts = decideLookUp(
    lost,
    [
      { ...walk, complete: first },
      { ...walk, complete: second },
    ],
    { fields, known },
  );
  return lost.map(({ id }) => verdicts.get(id));
}

test('a person hears why it cannot be told, and which jobs it may be', () => {
  const held = (error: string, ...jobIds: string[]) => [
    { do: 'hold', error, candidates: jobIds.map((jobId) => record(jobId)) },
  ];
  for (const complete of [
    [false, true],
    [true, false],
  ]) {
    const error = 'the list could not be read back to the time before it was sent';
    expect(decide(['n0'], [{}], { complete })).toEqual(held(error, 'n0'));
  }
  const silent = 'no known job shows that the list gives requests back unchanged';
  expect(decide(['n0'], [{}], { shown: { model: 'm1' } })).toEqual(held(silent, 'n0'));
  expect(decide(['n0', 'n1'], [{}])).toEqual(
    held('the list shows more jobs that it could be than were sent', 'n0', 'n1'),
  );
  expect(decide([], [{ resent: true }])).toEqual(held('sent twice, and the list shows neither'));
});

test('the nearest like it is told apart from the same one', () => {
  const like = { ...asked, prompt: `${asked.prompt}, again` };
  const walk = { jobs: [record('near', like)], older: [record('known', old)], complete: true };
  const lost = [{ id: 'k', request: asked, resent: false }];
  expect(decideLookUp(lost, [walk, walk], { fields, known }).get('k')).toEqual({
    do: 'hold',
    error: 'the list shows jobs that are like it, but not the same',
    candidates: [record('near', like)],
  });
});

test('only what is newer than the mark that was set before the first of them counts', () => {
  const adopted = (jobId: string) => ({ do: 'adopt', job: record(jobId) });
  expect(decide(['n1', 'n0'], [{ fence: 'n0' }])).toEqual([adopted('n1')]);
  expect(decide(['n0'], [{ fence: 'n0' }])).toEqual([{ do: 'resend' }]);
  expect(decide(['n0'], [{ fence: 'gone' }])).toEqual([adopted('n0')]);
  expect(decide(['n2', 'n1', 'n0'], [{ fence: 'n1' }, { fence: 'n0' }])).toEqual([adopted('n2'), adopted('n1')]);
  expect(decide(['n2', 'n1'], [{ fence: 'n2' }, { fence: 'gone' }])).toEqual([adopted('n2'), adopted('n1')]);
});

test('what is on record already is nobody’s answer', () => {
  const walk = { jobs: [record('mine')], older: [record('known', old)], complete: true };
  const lost = [{ id: 'k', request: asked, resent: false }];
  const recorded = new Map([...known, ['mine', asked]]);
  expect(decideLookUp(lost, [walk, walk], { fields, known: recorded }).get('k')).toEqual({ do: 'resend' });
});

test('a field counts once a known job came back with it, and never after one came back with another', () => {
  const calibrated = (...shown: Echoes[]) => {
    const jobs = shown.map((echoes, index) => record(`j${index}`, echoes));
    return [...findCalibrated(jobs, { fields, known: new Map(jobs.map(({ jobId }) => [jobId, old])) })];
  };
  expect(calibrated()).toEqual([]);
  expect(calibrated(old)).toEqual(['prompt', 'model']);
  expect(calibrated({ prompt: 'a known video' })).toEqual(['prompt']);
  expect(calibrated(old, { ...old, model: 'm2' })).toEqual(['prompt']);
  const linked = new Map([['j0', { prompt: { $ref: 'a', field: 'url' }, model: 'm1' }]]);
  expect([...findCalibrated([record('j0', old)], { fields, known: linked })]).toEqual(['model']);
  expect([...findCalibrated([record('stranger', old)], { fields, known: linked })]).toEqual([]);
});
