import { describe, expect, test } from 'vitest';
import { type Condition, parseSelection } from '../../../src/plan/select/parse-selection.ts';

const alone = { needs: false, users: false };
const named = (text: string, more: { needs?: true; users?: true; literal?: true } = {}): Condition => ({
  is: 'name',
  text,
  literal: false,
  ...alone,
  ...more,
});
const tagged = (text: string, more: { needs?: true; users?: true; literal?: true } = {}): Condition => ({
  is: 'tag',
  text,
  literal: false,
  ...alone,
  ...more,
});
const kind = (text: string): Condition => ({ is: 'kind', text, literal: false, ...alone });
const cost = (operator: '>' | '>=' | '<' | '<=' | '=', credits: number | null): Condition => ({
  is: 'cost',
  operator,
  credits,
  ...alone,
});

/** There is nothing, so everything is read by the rules alone. */
const nothing = { isAddress: () => false, isTag: () => false };

describe('a selection', () => {
  test.each<[string, Condition[][]]>([
    ['  a\tb,c  ', [[named('a')], [named('b'), named('c')]]],
    ['+a', [[named('a', { needs: true })]]],
    ['a+', [[named('a', { users: true })]]],
    ['+a+', [[named('a', { needs: true, users: true })]]],
    ['a+b', [[named('a+b')]]],
    ['++a', [[named('+a', { needs: true })]]],
    ['x@kind:image', [[named('x@kind:image')]]],
    ['kind:im*', [[kind('im*')]]],
    ['tag:a:b', [[tagged('a:b')]]],
    ['+tag:a', [[tagged('a', { needs: true })]]],
    ['+tag:a+', [[tagged('a', { needs: true, users: true })]]],
    ['state:not-bought', [[{ is: 'state', state: 'not-bought', ...alone }]]],
    ['state:failed+', [[{ is: 'state', state: 'failed', needs: false, users: true }]]],
    ['+selector:x', [[{ is: 'selector', name: 'x', needs: true, users: false }]]],
    ['cost:?', [[cost('=', null)]]],
    ['cost:12', [[cost('=', 12)]]],
    ['cost:=12', [[cost('=', 12)]]],
    ['cost:>123456789', [[cost('>', 123_456_789)]]],
    ['cost:>=1', [[cost('>=', 1)]]],
    ['cost:<1', [[cost('<', 1)]]],
    ['cost:<=0', [[cost('<=', 0)]]],
    ['+cost:?', [[{ ...cost('=', null), needs: true }]]],
  ])('reads %j', (text, terms) => {
    expect(parseSelection(text, nothing)).toEqual({ terms });
  });

  test.each<[string, Condition[][]]>([
    ['hero@lamp,1:1', [[named('hero@lamp,1:1')]]],
    ['hero@*,9:16', [[named('hero@*,9:16')]]],
    ['*@lamp,9:16', [[named('*@lamp,9:16')]]],
    ['+share@NL-003,en', [[named('share@NL-003,en', { needs: true })]]],
    ['hero@lamp,9:16+', [[named('hero@lamp,9:16', { users: true })]]],
    ['hero@lamp,9:16,en teaser', [[named('hero@lamp,9:16,en')], [named('teaser')]]],
    ['hero@lamp,1:1/2', [[named('hero@lamp,1:1/2')]]],
    ['hero@A*,kind:image', [[named('hero@A*'), kind('image')]]],
    ['kind:image,hero@A*,1:1', [[kind('image'), named('hero@A*,1:1')]]],
    ['hero@A*,1:1,kind:image,tag:x', [[named('hero@A*,1:1'), kind('image'), tagged('x')]]],
    ['hero@lamp,+kind:video', [[named('hero@lamp'), { ...kind('video'), needs: true }]]],
    ['+teaser@a,hero@b', [[named('teaser@a', { needs: true }), named('hero@b')]]],
    ['+teaser@a,en,*@b,de', [[named('teaser@a,en', { needs: true }), named('*@b,de')]]],
    ['hero@lamp,colour:red', [[named('hero@lamp,colour:red')]]],
    ['hero,hero@lamp,1:1', [[named('hero'), named('hero@lamp,1:1')]]],
    ['kind:image,hero', [[kind('image'), named('hero')]]],
  ])('a comma within an address belongs to it: %j', (text, terms) => {
    expect(parseSelection(text, nothing)).toEqual({ terms });
  });

  test.each<[string, Condition[][]]>([
    ['"a b"', [[named('a b', { literal: true })]]],
    ['"a*,kind:x"+', [[named('a*,kind:x', { literal: true, users: true })]]],
    ['+"a+"', [[named('a+', { literal: true, needs: true })]]],
    ['+"a b"+,kind:x c', [[named('a b', { literal: true, needs: true, users: true }), kind('x')], [named('c')]]],
    ['tag:"a b*"', [[tagged('a b*', { literal: true })]]],
    ['hero@x,"y z"', [[named('hero@x'), named('y z', { literal: true })]]],
    ['"say \\"so\\" \\\\ "', [[named('say "so" \\ ', { literal: true })]]],
    ['a"b', [[named('a"b')]]],
  ])('in quotes every character is meant: %j', (text, terms) => {
    expect(parseSelection(text, nothing)).toEqual({ terms });
  });

  test('what exists is read as what it is, the longest first', () => {
    const addresses = ['hero@a,kind:image', 'hero@a', 'b+', 'two words', 'x*', 'y,z', '+c', 'hero@a\u3164b'];
    const tags = ['c++'];
    const vocabulary = {
      isAddress: (text: string) => addresses.includes(text),
      isTag: (text: string) => tags.includes(text),
    };
    const read = (text: string) => parseSelection(text, vocabulary);
    const exactly = (text: string, more = {}) => named(text, { literal: true, ...more });
    for (const address of addresses) {
      expect(read(address)).toEqual({ terms: [[exactly(address)]] });
      expect(read(` ${address}\n`)).toEqual({ terms: [[exactly(address)]] });
    }
    expect(read('hero@a,kind:image,tag:x')).toEqual({ terms: [[exactly('hero@a,kind:image'), tagged('x')]] });
    expect(read('hero@a,kind:music')).toEqual({ terms: [[exactly('hero@a'), kind('music')]] });
    expect(read('hero@a,en')).toEqual({ terms: [[named('hero@a,en')]] });
    expect(read('b++ ++c')).toEqual({ terms: [[exactly('b+', { users: true })], [exactly('+c', { needs: true })]] });
    expect(read('+y,z+,kind:x')).toEqual({ terms: [[exactly('y,z', { needs: true, users: true }), kind('x')]] });
    expect(read('tag:c++')).toEqual({ terms: [[tagged('c++')]] });
    expect(read('+tag:c+++')).toEqual({ terms: [[tagged('c++', { needs: true, users: true })]] });
    expect(read('hero@a\\u3164b')).toEqual({ terms: [[exactly('hero@a\u3164b')]] });
    expect(read('hero@b\\u3164b')).toEqual({ terms: [[named('hero@b\\u3164b')]] });
  });

  const comma = 'there is nothing before or after a comma';
  const plus = '`+` needs a name or a condition, as in +teaser or +tag:launch';
  const wrongCost = 'write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown one';

  test.each([
    ['', 0, 'it is empty'],
    [',a', 0, comma],
    ['abc,', 4, comma],
    ['one abc,def,,g', 12, comma],
    ['hero@a,', 0, comma],
    ['hero@a,,b', 0, comma],
    ['a +', 2, plus],
    ['++', 0, plus],
    ['a,kind:', 2, 'there is nothing after `kind:`'],
    ['+tag:', 0, 'there is nothing after `tag:`'],
    ['tag:+', 0, 'there is nothing after `tag:`'],
    ['colour:red', 0, '`colour:` is not known; there are kind:, tag:, state:, cost: and selector:'],
    ['colour:"red"', 0, '`colour:` is not known; there are kind:, tag:, state:, cost: and selector:'],
    [
      'state:ready',
      0,
      '`ready` is not a state; states: done, running, failed, lost, unresolved, changed, not-bought, unneeded',
    ],
    ['a "b', 2, 'a quote is opened and not closed'],
    ['a ""', 2, 'there is nothing in the quotes'],
    ['"a"b', 3, 'after a quote comes a comma or white space'],
    ['cost:x5', 0, wrongCost],
    ['cost:5x', 0, wrongCost],
    ['cost:>', 0, wrongCost],
    ['cost:=>5', 0, wrongCost],
    ['cost:-1', 0, wrongCost],
    ['cost:1234567890', 0, wrongCost],
  ])('says where %j goes wrong', (text, at, problem) => {
    expect(parseSelection(text, nothing)).toEqual({ problem, at });
  });
});
