import { describe, expect, test } from 'vitest';
import type { Decisions, Lock, Output, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { acceptOutput, findAcceptable, type SeenOutput } from '../../../src/plan/decisions/pin.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import {
  create,
  deciding,
  earlier,
  job,
  lockOf,
  matchOf,
  output,
  planOf,
  rowOf,
  saved,
  song,
  stepOf,
} from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');
const was = earlier(a);
const two = { outputs: [output('x/1.mp3'), output('x/2.mp3')] };
const edited: Output = { ...output('x/2.mp3'), sha256: 'by hand', edited: true };

function accept(lock: Lock, ...files: SeenOutput[]): Ruling {
  const match = matchOf(graph, lock, 'a');
  const found = findAcceptable(match, { isAlone: true });
  if ('is' in found) return found;
  const seen = files.map((file, index) => ({ path: `x/${index + 1}.mp3`, file }));
  return acceptOutput(match, found, { seen, isUnfit: false });
}

const recorded = (text: string, purchases: Purchase[], decisions?: Decisions): Ruling => {
  const record: StepRecord = { address: 'a', kind: 'music', purchases, ...(decisions && { decisions }) };
  return { is: 'recorded', address: 'a', text, records: [record] };
};
const acceptance = (revision: number): Decisions => ({
  accepted: [{ wanted: a.fingerprint, fingerprint: was.fingerprint, revision }],
});
const changedText = 'its output, although prompt: before → a';

describe('an output is accepted', () => {
  test('before it is saved: its job is collected as it is', () => {
    const own = { wanted: a.fingerprint, fingerprint: a.fingerprint, job: 'a-1', revision: 1 };
    const text =
      'the file of job a-1 (4 credits): apply saves it for 0 credits, even if it is incomplete or has another type';
    expect(accept(lockOf({ a: [job(a)] }))).toStrictEqual(recorded(text, [job(a)], { accepted: [own] }));
    const record = { address: 'a', kind: 'music', purchases: [job(a)], decisions: { accepted: [own] } };
    const lock = { ...lockOf({}), steps: new Map([['a', record]]) };
    expect(accept(lock)).toMatchObject({ is: 'unchanged' });
    expect(rowOf(planOf(graph, lock), 'a').order).toMatchObject({ action: 'attach', asIs: true });
    expect(rowOf(planOf(graph, lockOf({ a: [job(a)] })), 'a').order).not.toHaveProperty('asIs');
    const later = { ...record, purchases: [job(a, { generation: 2, jobId: 'a-2', key: 'k-2' }), saved(a)] };
    const order = rowOf(planOf(graph, { ...lockOf({}), steps: new Map([['a', later]]) }), 'a').order;
    expect(order).toMatchObject({ action: 'attach', jobId: 'a-2' });
    expect(order).not.toHaveProperty('asIs');
  });

  test('as it was edited', () => {
    const purchase = saved(a, two);
    expect(
      accept(
        lockOf({ a: [purchase, job(was, { state: 'failed' })] }),
        { is: 'intact' },
        { is: 'edited', output: edited },
      ),
    ).toStrictEqual(
      recorded('x/2.mp3 as it is now', [
        { ...purchase, outputs: [output('x/1.mp3'), edited], revision: 1 },
        job(was, { state: 'failed' }),
      ]),
    );
  });

  test('as it was edited, although its input has changed', () => {
    expect(accept(lockOf({ a: [saved(was, two)] }), { is: 'intact' }, { is: 'edited', output: edited }).text).toBe(
      `x/2.mp3 as it is now; ${changedText}`,
    );
  });

  test('although its input has changed, and nobody knows how', () => {
    const { request: _request, ...unexplained } = saved(was);
    expect(accept(lockOf({ a: [unexplained] })).text).toBe('its output for the changed input');
  });

  test.each<[string, Purchase, string]>([
    ['a job that failed', job(a, { state: 'failed', generation: 2 }), `${changedText}, whose job failed`],
    ['a job that is lost', job(a, { state: 'lost', generation: 2 }), changedText],
    ['a refusal', create(a, { state: 'refused', generation: 2 }), changedText],
  ])('instead of that of %s', (_name, purchase, text) => {
    expect(accept(lockOf({ a: [purchase, saved(was)] })).text).toBe(text);
  });

  test('once more, after another one was accepted for this input', () => {
    const lock = deciding(lockOf({ a: [saved(was)] }), 'a', {
      accepted: [
        { wanted: '1:elsewhere', fingerprint: '1:x', revision: 9 },
        { wanted: a.fingerprint, fingerprint: '1:gone', revision: 2 },
      ],
    });
    expect(accept(lock)).toStrictEqual(recorded(changedText, [saved(was)], acceptance(3)));
  });

  test('and edited afterwards: that is accepted, too, and no new input', () => {
    const purchase = saved(was, two);
    const lock = deciding(lockOf({ a: [purchase] }), 'a', acceptance(1));
    expect(accept(lock, { is: 'edited', output: edited })).toStrictEqual(
      recorded('x/1.mp3 as it is now', [{ ...purchase, outputs: [edited, output('x/2.mp3')], revision: 1 }]),
    );
  });
});

describe('an output is not accepted', () => {
  const whenAccepted =
    'use accept for files that were edited by hand or do not fit `expect`, and for steps that a plan would redo';
  const both = [saved(was, two)];
  const empty: SeenOutput = { is: 'unusable', why: 'is empty' };
  const intact: SeenOutput = { is: 'intact' };

  test.each<[string, Purchase[], SeenOutput[], text: string, hint: string]>([
    ['that has not changed', [saved(a)], [intact], 'nothing to accept, because the step is up to date', whenAccepted],
    [
      'that is missing',
      both,
      [empty, { is: 'missing' }],
      'x/2.mp3 does not exist',
      'restore the file, or run apply, which downloads it for free',
    ],
    [
      'that is no media file',
      both,
      [intact, empty],
      'x/2.mp3 is empty',
      'put a media file at this path, or run apply, which downloads the original',
    ],
    [
      'that is not here yet',
      [job(was)],
      [],
      'has no output yet: job a-1 (4 credits) is running',
      'run apply first, which is free',
    ],
    ['that was never bought', [], [], 'has no purchase', 'run apply first; a plan shows the cost'],
  ])('%s', (_name, purchases, files, text, hint) => {
    const lock = lockOf(purchases.length === 0 ? {} : { a: purchases });
    expect(accept(lock, ...files)).toEqual({ address: 'a', is: 'refused', text, hint });
  });

  test('twice', () => {
    const lock = deciding(lockOf({ a: [saved(was)] }), 'a', acceptance(1));
    expect(accept(lock, intact)).toEqual({ address: 'a', is: 'unchanged', text: 'is accepted already' });
  });
});
