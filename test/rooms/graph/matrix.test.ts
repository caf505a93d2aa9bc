import { describe } from 'vitest';
import { tasks } from '../manifest/load.ts';
import { testMistakes } from '../manifest/mistakes.ts';

/** A task whose matrix is this text, from column 29 of line 4. */
const ofMatrix = (matrix: string) => tasks(`  a: { kind: image, matrix: ${matrix}, with: { prompt: x } }`);

/** A matrix of ten values on each of these axes, with further lines. */
const ofTens = (axes: string, ...lines: string[]) =>
  tasks(
    '  a:',
    '    kind: image',
    '    matrix:',
    ...axes.split('').map((axis) => `      ${axis}: [0,1,2,3,4,5,6,7,8,9]`),
    ...lines,
    '    with: { prompt: x }',
  );

describe('mistakes of a matrix', () => {
  testMistakes([
    ['an axis whose values look alike', ofMatrix('{ r: [a b, a-b] }'), 'MB1402 4:40'],
    ['an axis without values', ofMatrix('{ r: [] }'), 'MB1103 4:31'],
    ['an axis that is one string', ofMatrix('{ ratio: "1:1" }'), 'MB1103 4:38', 'write a list: ["1:1"]'],
    [
      'an axis that is a string with a template in it',
      `vars: { l: [1] }\n${ofMatrix('{ r: "x {{vars.l}}" }')}`,
      'MB1202 5:34',
    ],
    ['an axis named key', ofMatrix('{ key: [1] }'), 'MB1103 4:31'],
    ['include without an axis', ofMatrix('{ r: [x], s: [1], include: [{ r: z }] }'), 'MB1103 4:57'],
    ['a value twice on an axis', ofMatrix('{ r: [x, y, x] }'), 'MB1103 4:41', 'has the value "x" twice'],
    ['an empty value of an axis', ofMatrix('{ r: [x, ""] }'), 'MB1103 4:38', 'a value of the axis `r` is empty'],
    [
      'an axis of `exclude` that the matrix does not have',
      ofMatrix('{ ratio: [x, y], exclude: [{ ratoi: x }] }'),
      'MB1103 4:65',
      'the axis `ratoi`',
      'did you mean `ratio`? axes: ratio',
    ],
    [
      'a value of `exclude` that its axis does not have',
      ofMatrix('{ ratio: [wide, tall], exclude: [{ ratio: wde }] }'),
      'MB1103 4:71',
      'ratio `wde`',
      'did you mean `wide`? values: wide, tall',
    ],
    [
      'an axis of `include` that the matrix does not have',
      ofMatrix('{ ratio: [x], include: [{ ratio: y, ratoi: z }] }'),
      'MB1103 4:53',
      'has the axis `ratoi`',
      'did you mean `ratio`? axes: ratio',
    ],
    [
      'a cell of `include` that exists',
      ofMatrix('{ ratio: [x], include: [{ ratio: x }] }'),
      'MB1103 4:53',
      'exists already: x',
    ],
    ['cells without axes, one of them named key', ofMatrix('{ include: [{ key: x }] }'), 'MB1103 4:48', 'named `key`'],
    ['a cell without axes', ofMatrix('{ include: [{ }] }'), 'MB1103 4:41, MB1103 4:21', 'the matrix has no axes'],
    [
      'axes that are vars without a list',
      `vars: { r: "1:1", n: 5, m: { a: 1 } }\n${tasks(
        ...['r', 'n', 'm'].map(
          (id) => `  ${id}: { kind: image, matrix: { x: "{{vars.${id}}}" }, with: { prompt: x } }`,
        ),
      )}`,
      'MB1103 5:34, MB1103 6:34, MB1103 7:34',
      'make `vars.r` a list: ["1:1"]',
      'make `vars.n` a list: [5]',
      'the axis `x` is a map',
    ],
    ['ten thousand million cells', ofTens('abcdefghij'), 'MB1007 6:5'],
    [
      'ten thousand cells, all but ten of them excluded',
      ofTens(
        'abcd',
        `      exclude: [${'bcd'.split('').flatMap((axis) => [...'123456789'].map((value) => `{ ${axis}: ${value} }`))}]`,
      ),
      '',
    ],
    ['one cell more than ten thousand', ofTens('abcd', '      include: [{ a: 10, b: 0, c: 0, d: 0 }]'), 'MB1007 6:5'],
  ]);
});
