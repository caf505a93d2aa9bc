import { describe, expect, test } from 'vitest';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import {
  findConditions,
  findMissingPart,
  findOptional,
  type PartCondition,
} from '../../../src/plan/situation/parts.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';
import { clips, picture, stepOf, urlOf } from './facts.ts';

const still = (nth: number) => picture(`still@${nth}`, { part: { of: 'talk', index: nth } });
const using = (request: OpenRequest): WrittenStep => ({ address: 'end', kind: 'video', request });

function conditionsOf(...steps: WrittenStep[]): Record<string, number[]> {
  const graph = graphOfSteps([clips('talk'), still(0), still(1), ...steps]);
  const { fingerprint } = stepOf(graph, 'talk');
  const found = findConditions(graph);
  const all = [...found.values()].flat();
  expect(all.every((one) => one.of === 'talk' && one.fingerprint === fingerprint)).toBe(true);
  return Object.fromEntries([...found].map(([address, own]) => [address, own.map(({ index }) => index)]));
}

describe('what may turn out not to be needed', () => {
  const stills = { 'still@0': [0], 'still@1': [1] };

  test('is nothing in a campaign without parts', () => {
    expect(findConditions(graphOfSteps([picture('a'), picture('b', { request: { image: urlOf('a') } })]))).toEqual(
      new Map(),
    );
  });

  test.each<[string, OpenRequest, Record<string, number[]>]>([
    ['a step that uses no part', { prompt: 'x', none: null, deep: { more: [1, 'still@0'] } }, stills],
    ['a step that uses one', { image: urlOf('still@1') }, { ...stills, end: [1] }],
    ['a step that uses two', { image: urlOf('still@0'), last: urlOf('still@1') }, { ...stills, end: [0, 1] }],
    ['one that uses the same part twice', { image: urlOf('still@0'), last: urlOf('still@0') }, { ...stills, end: [0] }],
    ['a part further in', { deep: { image: urlOf('still@1') } }, { ...stills, end: [1] }],
    ['a part in a text', { prompt: { $text: ['see ', urlOf('still@1')] } }, { ...stills, end: [1] }],
    ['a text in a list', { texts: ['a', { $text: ['see ', urlOf('still@1')] }] }, { ...stills, end: [1] }],
    ['a list of one', { images: [urlOf('still@1')] }, { ...stills, end: [1] }],
    ['a list of two, which only gets shorter', { images: [urlOf('still@0'), urlOf('still@1')] }, stills],
    ['an object in a list of two', { images: [{ image: urlOf('still@0') }, 'x'] }, stills],
  ])('%s', (_name, request, expected) => {
    expect(conditionsOf(using(request))).toEqual(expected);
  });

  test('goes on from step to step', () => {
    const middle = picture('middle', { part: { of: 'talk', index: 4 }, request: { image: urlOf('still@1') } });
    expect(conditionsOf(middle, using({ image: urlOf('middle') }))).toEqual({
      'still@0': [0],
      'still@1': [1],
      middle: [4, 1],
      end: [4, 1],
    });
  });
});

describe('the part that does not exist', () => {
  const [third, first]: PartCondition[] = [
    { of: 'talk', fingerprint: '1:t', index: 2 },
    { of: 'other', fingerprint: '1:o', index: 0 },
  ];
  const both = [third, first].filter((one) => one !== undefined);

  test.each<[string, PartCondition[] | undefined, Record<string, number>, object | undefined]>([
    ['nothing is asked for', undefined, { 'talk 1:t': 0 }, undefined],
    ['nobody knows yet', both, {}, undefined],
    ['there are enough', both, { 'talk 1:t': 3, 'other 1:o': 1 }, undefined],
    ['there is one too few', both, { 'talk 1:t': 2, 'other 1:o': 0 }, { condition: third, parts: 2 }],
    ['only the second is missing', both, { 'talk 1:t': 3, 'other 1:o': 0 }, { condition: first, parts: 0 }],
    ['only the second is known', both, { 'other 1:o': 0 }, { condition: first, parts: 0 }],
    ['another purchase had fewer', both, { 'talk 1:before': 0 }, undefined],
  ])('%s', (_name, conditions, counts, expected) => {
    expect(findMissingPart(conditions, (address, fingerprint) => counts[`${address} ${fingerprint}`])).toEqual(
      expected,
    );
  });
});

describe('the members of lists that may be missing', () => {
  const condition: PartCondition = { of: 'talk', fingerprint: '1:t', index: 1 };
  const known = new Map([['still', [condition]]]);

  test.each<[string, OpenRequest, object | undefined]>([
    ['a member of a list', { images: [urlOf('still'), urlOf('logo')] }, { still: [condition] }],
    ['a member that always exists', { images: [urlOf('logo'), urlOf('sign')] }, undefined],
    ['no list', { image: urlOf('still') }, undefined],
    ['a list of one', { images: [urlOf('still')] }, undefined],
    ['a member without which there is no request', { images: [urlOf('still'), 'x'], image: urlOf('still') }, undefined],
    ['a text in a list', { texts: ['x', { $text: [urlOf('still')] }] }, undefined],
    ['a list in a list', { images: ['x', [urlOf('still')]] }, { still: [condition] }],
  ])('%s', (_name, request, optional) => {
    expect(findOptional(request, known)).toEqual(optional);
  });
});
