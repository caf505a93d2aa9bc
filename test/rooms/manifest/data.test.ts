import { productTask, testMistakes } from './mistakes.ts';

testMistakes([
  {
    name: 'a data file that is not there',
    text: productTask('    with: { prompt: x }'),
    found: ['MB1301 6:14'],
    says: ['products.csv'],
  },
  {
    name: 'a data file outside',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': { problem: 'outside' } },
    found: ['MB1303 6:14'],
  },
  {
    name: 'no data file at all',
    text: productTask('    with: { prompt: x }').replace('products.csv', 'products.xlsx'),
    found: ['MB1103 6:14'],
    says: ['.csv'],
  },
  {
    name: 'a row with too many values',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': 'sku,name\nA,b\n\nC,d,e\n' },
    found: ['MB1302 products.csv:4:1'],
    says: ['row 2', '3 values'],
  },
  {
    name: 'a column twice',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': '\ufeffsku,sku\r\nA,b\r\n' },
    found: ['MB1302 products.csv:1:1'],
  },
  {
    name: 'a column without name',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': 'sku,\nA,b\n' },
    found: ['MB1302 products.csv:1:1'],
  },
  {
    name: 'a quote that is not closed',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': 'sku,name\nA,"b\nC,d\nE,f\n' },
    found: ['MB1302 products.csv:2:1'],
  },
  {
    name: 'semicolons between the columns',
    text: productTask('    with: { prompt: "{{row.name}}" }'),
    data: { 'products.csv': '\ufeff"sku";"name"\r\nA;1,5\r\nB;d\r\n' },
    found: [],
  },
  {
    name: 'semicolons between the columns, and too many',
    text: productTask('    with: { prompt: "{{row.name}}" }'),
    data: { 'products.csv': '\nsku;name\nA;b\nC;d;e\n' },
    found: ['MB1302 products.csv:4:1'],
    says: ['row 2 of products.csv has 3 values', 'put values that hold `;` in double quotes', 'as ;;'],
  },
  {
    name: 'separators that nothing decides between',
    text: productTask('    with: { prompt: "{{row.name}}" }'),
    data: { 'products.csv': '\nsku;name,x\nA;b,c\n' },
    found: ['MB1302 products.csv:2:1'],
    says: ['may be separated by `,` or `;`', 'foreach: { file: products.csv, separator: ";" }'],
  },
  {
    name: 'a separator that is none',
    text: productTask('    with: { prompt: "{{row.name}}" }').replace(
      'foreach: products.csv',
      'foreach: { file: products.csv, separator: ":" }',
    ),
    data: { 'products.csv': 'sku,name\nA,b\n' },
    found: ['MB1103 6:47'],
  },
  {
    name: 'a separator of a file that is no table',
    text: productTask('    with: { prompt: "{{row.name}}" }').replace(
      'foreach: products.csv',
      'foreach: { file: products.json, separator: ";" }',
    ),
    data: { 'products.json': '[{ "sku": "a", "name": "b" }]' },
    found: ['MB1103 6:37'],
    says: ['separates nothing'],
  },
  {
    name: 'semicolons in the values',
    text: productTask('    with: { prompt: "{{row.name}}" }'),
    data: { 'products.csv': 'sku,name\nA,b;c\n' },
    found: [],
  },
  {
    name: 'an empty table',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': '' },
    found: ['MB1302 products.csv:1:1'],
  },
  {
    name: 'a table without rows',
    text: productTask('    with: { prompt: x }'),
    data: { 'products.csv': 'sku,name\n' },
    found: ['MB1408 6:14'],
  },
  {
    name: 'broken JSON',
    text: productTask('    with: { prompt: x }').replace('.csv', '.json'),
    data: { 'products.json': '[\n  {"sku": 1},\n  {"sku": 2,}\n]' },
    found: ['MB1302 products.json:3:13'],
  },
  {
    name: 'a broken line',
    text: productTask('    with: { prompt: x }').replace('.csv', '.jsonl'),
    data: { 'products.jsonl': '{"sku": "1"}\n\n{"sku": \n' },
    found: ['MB1302 products.jsonl:3:8'],
  },
  {
    name: 'a map instead of rows',
    text: productTask('    with: { prompt: x }').replace('.csv', '.yaml'),
    data: { 'products.yaml': 'a: 1\n' },
    found: ['MB1302 products.yaml:1:1'],
  },
  {
    name: 'a tab in the data',
    text: productTask('    with: { prompt: x }').replace('.csv', '.yaml'),
    data: { 'products.yaml': '- a: 1\n\tb: 2\n' },
    found: ['MB1302 products.yaml:2:1'],
  },
]);
