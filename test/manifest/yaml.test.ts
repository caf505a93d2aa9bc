import { image, tasks } from './load.ts';
import { testMistakes } from './mistakes.ts';

testMistakes([
  { name: 'an empty file', text: '', found: ['MB1002 1:1'], says: ['is empty', 'init'] },
  { name: 'comments only', text: '# nothing\n\n# here\n', found: ['MB1002 1:1'] },
  { name: 'a start marker only', text: '---\n', found: ['MB1002 1:1'] },
  {
    name: 'a task twice',
    text: tasks('  a: { kind: image, with: { prompt: x } }', '  a: { kind: image, with: { prompt: y } }'),
    found: ['MB1004 5:3'],
    says: ['twice', 'line 4'],
  },
  { name: 'tasks twice', text: `${image('prompt: x')}tasks: {}\n`, found: ['MB1004 8:1'], says: ['first on line 3'] },
  { name: 'a tab', text: 'version: 1\nname: x\ntasks:\n\ta:\n', found: ['MB1005 4:1'], says: ['use spaces'] },
  {
    name: 'two documents',
    text: `${image('prompt: x')}---\nversion: 1\n`,
    found: ['MB1006 8:1'],
    says: ['only one document'],
  },
  {
    name: 'aliases of aliases',
    text: `version: 1\nname: x\nx-0: &x0 [1,1,1,1,1,1,1,1,1,1]\n${Array.from({ length: 10 }, (_, level) => `x-${level + 1}: &x${level + 1} [${Array(10).fill(`*x${level}`).join(',')}]\n`).join('')}tasks: { a: { kind: image, with: { prompt: x } } }\n`,
    found: ['MB1007 7:39'],
    says: ['100,000'],
  },
  {
    name: 'a template without quotes',
    text: image('prompt: {{name}}'),
    found: ['MB1008 7:15'],
    says: ['map', 'quote the template'],
  },
  {
    name: 'a template without quotes and a text behind it',
    text: image('prompt: {{vars.x}} on a table'),
    found: ['MB1008 7:15'],
    says: ['"{{vars.x}} on a table"'],
  },
  {
    name: 'a template without quotes in a list',
    text: image('prompt: x', 'referenceImages:', '  - {{vars.x}}'),
    found: ['MB1008 9:11'],
  },
  {
    name: 'a prompt cut by a comment',
    text: image('prompt: A cat # 1'),
    found: ['MB1009 7:21 warning'],
    says: ['# 1', 'quotes'],
  },
  {
    name: 'a comment behind an enumerated field',
    text: image('prompt: "A cat" # 1', 'model: alpha-2 # default'),
    found: [],
  },
  {
    name: 'a merge conflict',
    text: `<<<<<<< HEAD\n${image('prompt: x')}=======\n>>>>>>> other\n`,
    found: ['MB1003 1:1'],
    says: ['merge conflict'],
  },
  { name: 'a missing quote', text: image('prompt: "x'), found: ['MB1003 8:1'] },
  { name: 'an alias without anchor', text: image('prompt: *x'), found: ['MB1003 7:15'], says: ['&x'] },
  { name: 'a tag', text: image('prompt: !!binary aGk='), found: ['MB1003 7:24'], says: ['!!binary'] },
  { name: 'a number that is no JSON', text: image('prompt: .inf'), found: ['MB1003 7:15'] },
  { name: 'YAML 1.1', text: `%YAML 1.1\n---\n${image('prompt: x')}`, found: ['MB1003 1:1'] },
]);
