import { tasks } from '../manifest/load.ts';
import { type MistakeCase, products, productTask, testMistakes } from '../manifest/mistakes.ts';

testMistakes([
  ...(
    [
      ['../x', 'MB1601'],
      ['a/../../x', 'MB1601'],
      ['/etc/x', 'MB1601'],
      ['C:x', 'MB1601'],
      ['~/x', 'MB1601'],
      ['a\\\\b', 'MB1602'],
      ['con', 'MB1602'],
      ['a/Nul.txt', 'MB1602'],
      ['com1', 'MB1602'],
      ['a/./b', 'MB1602'],
      ['a//b', 'MB1602'],
      ['a/', 'MB1602'],
      ['.git/hooks/x', 'MB1602'],
      ['a/.b', 'MB1602'],
      ['a.', 'MB1602'],
      ['a ', 'MB1602'],
      ['aa:b', 'MB1602'],
      ['a?', 'MB1602'],
      ['a\\u0001b', 'MB1602'],
      ['a\\u202eb', 'MB1602'],
      ['é'.repeat(101), 'MB1602'],
      [`${'a'.repeat(120)}/${'b'.repeat(121)}`, 'MB1602'],
      ['', 'MB1602'],
      ['campaign.lock.jsonl', 'MB1604'],
      ['campaign.yaml', 'MB1604'],
      ['CAMPAIGN.yaml/x', 'MB1604'],
    ] as const
  ).map(
    ([save, code]): MistakeCase => ({
      name: `the output path ${JSON.stringify(save.slice(0, 20))}`,
      text: tasks(`  a: { kind: image, save: "${save}", with: { prompt: x } }`),
      found: [`${code} 4:27`],
    }),
  ),
  {
    name: 'a data file as output',
    text: productTask('    with: { prompt: x }', '    save: products.csv/{{key}}'),
    data: { 'products.csv': 'sku\nA\n' },
    found: ['MB1604 9:11'],
  },
  [
    'two outputs that differ in case',
    tasks('  a: { kind: image, save: A, with: { prompt: x } }', '  b: { kind: image, save: a, with: { prompt: z } }'),
    'MB1603 5:27',
    'Windows',
  ],
  [
    'two outputs that differ in the form of an accent',
    tasks(
      '  a: { kind: image, save: "\\u00e9", with: { prompt: x } }',
      '  b: { kind: image, save: "e\\u0301", with: { prompt: z } }',
    ),
    'MB1603 5:27',
  ],
  [
    'an output in the way of a folder',
    tasks(
      '  a: { kind: image, save: x/y/z, with: { prompt: x } }',
      '  b: { kind: image, save: X/y, with: { prompt: z } }',
    ),
    'MB1603 5:27',
    'a file and a folder',
  ],
  {
    name: 'steps of one task with one output',
    text: productTask('    with: { prompt: x }', '    save: x'),
    data: { 'products.csv': products },
    found: ['MB1603 9:11'],
    says: ['{{key}}'],
  },
]);
