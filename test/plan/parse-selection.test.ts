import { describe, expect, test } from 'vitest';
import { type Condition, parseSelection } from '../../src/plan/parse-selection.ts';

const named = (pattern: string, more: Partial<Extract<Condition, { is: 'name' }>> = {}): Condition => ({
  is: 'name',
  pattern,
  needs: false,
  users: false,
  ...more,
});

describe('a selection', () => {
  test.each<[string, Condition[][]]>([
    ['  a\tb,c  ', [[named('a')], [named('b'), named('c')]]],
    ['+a', [[named('a', { needs: true })]]],
    ['a+', [[named('a', { users: true })]]],
    ['+a+', [[named('a', { needs: true, users: true })]]],
    ['a+b', [[named('a+b')]]],
    ['++a', [[named('+a', { needs: true })]]],
    ['x@kind:image', [[named('x@kind:image')]]],
    ['kind:im*', [[{ is: 'kind', pattern: 'im*' }]]],
    ['tag:a:b', [[{ is: 'tag', pattern: 'a:b' }]]],
    ['state:not-bought', [[{ is: 'state', state: 'not-bought' }]]],
    ['selector:x', [[{ is: 'selector', name: 'x' }]]],
    ['cost:?', [[{ is: 'cost', operator: '=', credits: null }]]],
    ['cost:12', [[{ is: 'cost', operator: '=', credits: 12 }]]],
    ['cost:=12', [[{ is: 'cost', operator: '=', credits: 12 }]]],
    ['cost:>123456789', [[{ is: 'cost', operator: '>', credits: 123_456_789 }]]],
    ['cost:>=1', [[{ is: 'cost', operator: '>=', credits: 1 }]]],
    ['cost:<1', [[{ is: 'cost', operator: '<', credits: 1 }]]],
    ['cost:<=0', [[{ is: 'cost', operator: '<=', credits: 0 }]]],
  ])('reads %j', (text, terms) => {
    expect(parseSelection(text)).toEqual({ terms });
  });

  const comma = 'there is nothing before or after a comma';
  const plus = '`+` needs the name of a task or a step';
  const cost = 'write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown one';

  test.each([
    ['', 0, 'it is empty'],
    [',a', 0, comma],
    ['abc,', 4, comma],
    ['one abc,def,,g', 12, comma],
    ['a +', 2, plus],
    ['++', 0, plus],
    ['a,kind:', 2, 'there is nothing after `kind:`'],
    ['colour:red', 0, '`colour:` is not known; there are kind:, tag:, state:, cost: and selector:'],
    ['state:ready', 0, '`ready` is no state; states: done, running, failed, lost, unresolved, changed, not-bought'],
    ['cost:x5', 0, cost],
    ['cost:5x', 0, cost],
    ['cost:>', 0, cost],
    ['cost:=>5', 0, cost],
    ['cost:-1', 0, cost],
    ['cost:1234567890', 0, cost],
  ])('says where %j goes wrong', (text, at, problem) => {
    expect(parseSelection(text)).toEqual({ problem, at });
  });
});
