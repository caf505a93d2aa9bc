import { image, tasks } from './load.ts';
import { testMistakes } from './mistakes.ts';

testMistakes([
  { name: 'no map', text: '- a\n', found: ['MB1103 1:1'] },
  { name: 'nothing required', text: 'vars: {}\n', found: ['MB1102 1:1', 'MB1102 1:1', 'MB1102 1:1'] },
  {
    name: 'a typing mistake in a key',
    text: image('prompt: x').replace('with:', 'whit:'),
    found: ['MB1101 6:5', 'MB1502 4:3'].sort(),
    says: ['did you mean `with`'],
  },
  {
    name: 'a key of a later version',
    text: tasks('  a: { kind: image, with: { prompt: x }, when: x }'),
    found: ['MB1101 4:42'],
    says: ['does not support it yet'],
  },
  {
    name: 'a section of a later version',
    text: `include: [x]\n${image('prompt: x')}`,
    found: ['MB1101 1:1'],
    says: ['does not support it yet'],
  },
  {
    name: 'a key of an anchor',
    text: `x-base: &b { prompt: x }\n${tasks('  a: { kind: image, with: *b }')}`,
    found: [],
  },
  {
    name: 'the address of the service',
    text: `service: { url: "https://x" }\n${image('prompt: x')}`,
    found: ['MB1104 1:12'],
    says: ['MEDIABATCH_BASE_URL'],
  },
  {
    name: 'the key of the service',
    text: `service: { apiKey: x }\n${image('prompt: x')}`,
    found: ['MB1104 1:12'],
    says: ['MEDIABATCH_API_KEY'],
  },
  { name: 'a later version', text: image('prompt: x').replace('version: 1', 'version: 2'), found: ['MB1105 1:10'] },
  {
    name: 'a version in quotes',
    text: image('prompt: x').replace('version: 1', 'version: "1"'),
    found: ['MB1103 1:10'],
  },
  {
    name: 'a name with a space',
    text: image('prompt: x').replace('name: test', 'name: My Test'),
    found: ['MB1103 2:7'],
    says: ['lower-case'],
  },
  {
    name: 'a task name with a slash',
    text: tasks('  a/b: { kind: image, with: { prompt: x } }'),
    found: ['MB1103 4:3'],
  },
  {
    name: 'an unknown kind',
    text: tasks('  a: { kind: imag, with: { prompt: x } }'),
    found: ['MB1103 4:14'],
    says: ['did you mean `image`'],
  },
  {
    name: 'a kind of a later version',
    text: tasks('  a: { kind: video, with: { prompt: x } }'),
    found: ['MB1103 4:14'],
    says: ['does not support it yet'],
  },
  {
    name: 'a kind that every object has',
    text: tasks('  a: { kind: constructor, with: { prompt: x } }'),
    found: ['MB1103 4:14'],
  },
  {
    name: 'takes as a text',
    text: tasks('  a: { kind: image, with: { prompt: x }, takes: "4" }'),
    found: ['MB1103 4:49'],
    says: ['from 1 to 20'],
  },
  {
    name: 'too many takes',
    text: tasks('  a: { kind: image, with: { prompt: x }, takes: 21 }'),
    found: ['MB1103 4:49'],
  },
  {
    name: 'needs as a text',
    text: tasks('  a: { kind: image, with: { prompt: x }, needs: b }'),
    found: ['MB1103 4:49'],
  },
  { name: 'an empty budget', text: `budget:\n${image('prompt: x')}`, found: ['MB1103 1:1'], says: ['is empty'] },
  {
    name: 'too many jobs at once',
    text: `service: { concurrency: 101 }\n${image('prompt: x')}`,
    found: ['MB1103 1:25'],
  },
  {
    name: 'a number that is read otherwise',
    text: `vars: { sku: 007 }\n${image('prompt: "{{vars.sku}}"').replace('"{{vars.sku}}"', '"{{vars.sku}} x"')}`,
    found: ['MB1103 1:14 warning'],
    says: ['"007"'],
  },

  {
    name: 'a var that is not declared',
    text: `vars: { locale: en }\n${image('prompt: "{{vars.locale}} x"')}`,
    vars: { local: 'de' },
    found: ['MB1101 1:1'],
    says: ['did you mean `locale`'],
  },
  {
    name: 'a var that is no number',
    text: `vars: { count: 3 }\n${image('prompt: "{{vars.count}} x"')}`,
    vars: { count: 'four' },
    found: ['MB1103 1:9'],
  },
]);
