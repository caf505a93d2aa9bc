import { expect, test } from 'vitest';
import type { Diagnostic } from '../../../src/ground/diagnostic.ts';
import { diagnosticsGithub } from '../../../src/report/diagnostics/diagnostics-github.ts';
import { mistake, place } from './samples.ts';

const show = (...diagnostics: Diagnostic[]) =>
  diagnosticsGithub(diagnostics, { toCheckoutPath: (file) => `ads/${file}` });

test('one line for each mistake, errors first', () => {
  const error = mistake('there is no column nmae', {
    hint: 'did you mean `name`?',
    place: place('campaign.yaml', [7, 18], [7, 26]),
    trail: ['task hero', 'row 14 of products.csv'],
  });
  const warning: Diagnostic = { code: 'MB1009', severity: 'warning', message: 'the # cuts the prompt short' };
  expect(show(warning, error)).toBe(
    '::error file=ads/campaign.yaml,line=7,endLine=7,col=18,endColumn=25,title=MB1203::there is no column nmae%0A' +
      'in task hero › row 14 of products.csv%0Adid you mean `name`?\n' +
      '::warning title=MB1009::the # cuts the prompt short\n',
  );
});

test.each<[string, [[number, number], [number, number]], string]>([
  [
    'an empty place',
    [
      [3, 5],
      [3, 5],
    ],
    'line=3,endLine=3,col=5,endColumn=5',
  ],
  [
    'a place over lines has no columns',
    [
      [3, 5],
      [5, 2],
    ],
    'line=3,endLine=5',
  ],
  [
    'a place that ends before a line',
    [
      [3, 5],
      [5, 1],
    ],
    'line=3,endLine=4',
  ],
])('%s', (_name, [start, end], properties) => {
  expect(show(mistake('m', { place: place('f', start, end) }))).toBe(
    `::error file=ads/f,${properties},title=MB1203::m\n`,
  );
});

test('what would end a message or a property is escaped, and nothing else is obeyed', () => {
  const text = show(
    mistake('50% off\n::error::gone\u001b[2J', { hint: 'a, b: c\r', place: place('a,b:c%d.yaml', [1, 1], [1, 2]) }),
  );
  expect(text).toBe(
    '::error file=ads/a%2Cb%3Ac%25d.yaml,line=1,endLine=1,col=1,endColumn=1,title=MB1203::' +
      '50%25 off\\n::error::gone\\x1b[2J%0Aa, b: c\\r\n',
  );
  expect(text.split('\n')).toHaveLength(2);
});
