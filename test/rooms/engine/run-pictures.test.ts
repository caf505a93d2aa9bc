import { expect, test } from 'vitest';
import type { Outputs } from '../../../src/contract/ports.ts';
import { RunPictures } from '../../../src/engine/run-pictures.ts';
import type { Output } from '../../../src/lock/record.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, output, picture, planOf, saved, stepOf } from '../plan/facts.ts';

const one = { hash: '00ff00ff00ff00ff', shape: 1 };
const other = { hash: 'f0f0f0f00f0f0f0f', shape: 1 };

test('a run compares what it saves with what was there, and among itself; what is made anew replaces what it was', async () => {
  const expect_ = { expect: { same: false as const } };
  const graph = graphOfSteps(
    ['pic@kept', 'pic@redone', 'pic@new', 'pic@newer', 'else@new'].map((address) => picture(address, expect_)),
  );
  const lock = lockOf(
    Object.fromEntries(
      ['pic@kept', 'pic@redone'].map((address) => [
        address,
        [
          saved(stepOf(graph, address), {
            outputs: [output(`output/${address.replace('@', '-')}.png`, { sha256: address, type: 'image/png' })],
          }),
        ],
      ]),
    ),
  );
  const looked: string[] = [];
  const measure: Outputs['measure'] = async ({ sha256 }) => {
    looked.push(sha256);
    return { looks: sha256 === 'pic@kept' ? one : other };
  };
  const mediaFacts = ({ sha256 }: { sha256: string }) => ({ looks: sha256 === 'pic@kept' ? one : other });
  const plan = planOf(graph, lock, { redo: new Set(['pic@redone']), mediaFacts });
  const pictures = new RunPictures(plan, { lock, outputs: { measure } as Outputs, ends: undefined });
  const add = (address: string, looks: typeof one) =>
    pictures.add({ address, task: address.split('@')[0] ?? '' }, looks);
  expect(
    await Promise.all([add('pic@new', one), add('pic@newer', other), add('pic@redone', other), add('else@new', one)]),
  ).toEqual(['pic@kept', undefined, 'pic@newer', undefined]);
  expect(looked).toEqual(['pic@kept']);
});

test('what was on record first stays the first when it is fetched again, and what came second the second', async () => {
  const graph = graphOfSteps(
    ['pic@first', 'pic@second'].map((address) => picture(address, { expect: { same: false } })),
  );
  const files = (address: string, more: Partial<Output> = {}) => [
    output(`output/${address.replace('@', '-')}.png`, { sha256: address, type: 'image/png', ...more }),
  ];
  const lock = lockOf({
    'pic@first': [saved(stepOf(graph, 'pic@first'), { outputs: files('pic@first') })],
    'pic@second': [saved(stepOf(graph, 'pic@second'), { outputs: files('pic@second', { same: true }) })],
  });
  const measure: Outputs['measure'] = async () => ({ looks: one });
  const lose = async (address: string) => {
    const fileState = ({ sha256 }: Output) => (sha256 === address ? 'missing' : 'intact') as 'missing' | 'intact';
    const plan = planOf(graph, lock, { fileState, mediaFacts: () => ({ looks: one }) });
    const order = plan.rows.find((row) => row.address === address)?.order;
    if (order === undefined) throw new Error(`${address} is not fetched again`);
    return new RunPictures(plan, { lock, outputs: { measure } as Outputs, ends: undefined }).add(order, one);
  };
  expect([await lose('pic@first'), await lose('pic@second')]).toEqual([undefined, 'pic@first']);
});
