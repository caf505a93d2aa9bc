import { image, tasks } from './load.ts';
import { products, productTask, testMistakes } from './mistakes.ts';

testMistakes([
  {
    name: 'a name that is not known',
    text: productTask('    with:', '      prompt: "{{missing}}"'),
    data: { 'products.csv': products },
    found: ['MB1203 9:18'],
    says: ['missing', 'sku, name'],
  },
  {
    name: 'a column without its row',
    text: productTask('    with: { prompt: "{{name}} x" }'),
    data: { 'products.csv': products },
    found: ['MB1203 8:24'],
    says: ['did you mean `row.name`'],
  },
  {
    name: 'a column that is not there',
    text: productTask('    with: { prompt: "{{row.nmae}}" }'),
    data: { 'products.csv': products },
    found: ['MB1203 8:24'],
    says: ['did you mean `row.name`', 'sku, name'],
  },
  {
    name: 'a name in a branch that is not taken',
    text: image('prompt: "x{{#if false}}{{row.x}}{{/if}}"'),
    found: ['MB1203 7:32'],
  },
  { name: 'a row where there is none', text: image('prompt: "{{row.x}}"'), found: ['MB1203 7:18'], says: ['no rows'] },
  {
    name: 'a block that is not closed',
    text: image('prompt: |', '  Line one', '  and {{#if vars.a}} more'),
    found: ['MB1201 9:13'],
    says: ['{{#if vars.a}}', 'not closed'],
  },
  { name: 'braces that are not closed', text: image('prompt: "a {{vars.x"'), found: ['MB1201 7:18'] },
  { name: 'a block closed by another', text: image('prompt: "{{#if 1}}{{/each}}"'), found: ['MB1201 7:25'] },
  { name: 'an expression that is none', text: image('prompt: "ok {{! fine }} {{matrix.0}}"'), found: ['MB1201 7:31'] },
  {
    name: 'a map in a text',
    text: `vars: { m: { k: 1 } }\n${image('prompt: "a {{vars.m}}"')}`,
    found: ['MB1204 8:20'],
    says: ['vars.m', 'map', 'cannot be printed'],
  },
  {
    name: 'a list in a text',
    text: `vars: { l: [1] }\n${image('prompt: "a {{vars.l}}"')}`,
    found: ['MB1204 8:20'],
    says: ['join vars.l'],
  },
  {
    name: 'nothing in a text',
    text: `vars: { n: null }\n${image('prompt: "a {{vars.n}}"')}`,
    found: ['MB1204 8:20'],
    says: ['default vars.n'],
  },
  {
    name: 'nothing in a text that asks first',
    text: `vars: { n: null }\n${image('prompt: "a {{#if vars.n}}{{vars.n}}{{/if}}"')}`,
    found: [],
  },
  {
    name: 'a helper that is none',
    text: image('prompt: "{{slugg vars.x}}"'),
    found: ['MB1202 7:18', 'MB1203 7:24'],
    says: ['did you mean `slug`'],
  },
  { name: 'a helper without its value', text: image('prompt: "{{slug}}"'), found: ['MB1202 7:16'] },
  {
    name: 'lookup of what is not in the map',
    text: image('prompt: "{{lookup vars.cta \'frr\'}}"').replace(
      'name: test',
      'name: test\nvars: { cta: { de: Jetzt, fr: Maintenant } }',
    ),
    found: ['MB1203 8:16'],
    says: ['`{{lookup vars.cta \'frr\'}}` finds nothing for "frr"', 'did you mean `fr`? the map has: de, fr'],
  },
  {
    name: 'lookup of what nothing has',
    text: image('prompt: "{{lookup vars \'constructor\'}}"'),
    found: ['MB1203 7:16'],
  },
  {
    name: 'lookup in what is no map',
    text: image('prompt: "{{lookup \'a\' 1}}"'),
    found: ['MB1204 7:16'],
    says: ['needs a map'],
  },
  { name: 'log', text: image('prompt: "{{log 1}}"'), found: ['MB1202 7:18'] },
  { name: 'a partial', text: image('prompt: "{{> x}}"'), found: ['MB1202 7:16'] },
  { name: 'a decorator', text: image('prompt: "{{* x}}"'), found: ['MB1202 7:16'] },
  { name: 'an inline partial', text: image('prompt: "{{#*inline \\"x\\"}}y{{/inline}}"'), found: ['MB1202 7:16'] },
  { name: 'three braces', text: image('prompt: "{{{vars.x}}}"'), found: ['MB1202 7:16'] },
  { name: 'with', text: image('prompt: "{{#with vars}}{{/with}}"'), found: ['MB1202 7:16'] },
  {
    name: 'the environment',
    text: image('prompt: "{{env.HOME}}"'),
    found: ['MB1203 7:18'],
    says: ['under `vars:`', '{{vars.HOME}}', 'MEDIABATCH_VAR_HOME'],
  },
  {
    name: 'what every object has',
    text: image('prompt: "{{constructor}} {{vars.constructor}} {{vars.__proto__}}"'),
    found: ['MB1203 7:18', 'MB1203 7:34', 'MB1203 7:55'],
  },
  { name: 'this outside of a loop', text: image('prompt: "{{this}}"'), found: ['MB1202 7:18'] },
  {
    name: 'vars in a circle',
    text: `vars: { a: "{{vars.b}}", b: "{{vars.a}}" }\n${image('prompt: x')}`,
    found: ['MB1404 1:32'],
    says: ['vars.a → vars.b → vars.a'],
  },
  {
    name: 'a template in a kind',
    text: tasks('  a: { kind: "{{vars.k}}", with: { prompt: x } }'),
    found: ['MB1202 4:14'],
  },
  {
    name: 'a template in a row',
    text: tasks('  a: { kind: image, foreach: ["{{vars.k}}"], with: { prompt: x } }'),
    found: ['MB1202 4:31'],
  },
  { name: 'a template of 65 KiB', text: image(`prompt: "{{vars.x}}${'x'.repeat(65 * 1024)}"`), found: ['MB1007 7:16'] },
  {
    name: 'a template with too many parts',
    text: image(`prompt: "${'{{! }}{{vars.x}}'.repeat(1200)}"`),
    found: ['MB1007 7:16016'],
  },
  { name: 'a take where there is one', text: image('prompt: "{{take}}"'), found: ['MB1203 7:18'], says: ['takes:'] },
  {
    name: 'an output in a key',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, key: "{{tasks.b.url}}", with: { prompt: x } }',
    ),
    found: ['MB1202 5:29'],
  },
  {
    name: 'an output in a helper',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: "{{upper tasks.b.url}}" } }',
    ),
    found: ['MB1202 5:46'],
  },
  {
    name: 'an output as a condition',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: "x{{#if tasks.b.url}}y{{/if}}" } }',
    ),
    found: ['MB1202 5:45'],
  },
  {
    name: 'a list of outputs in a text',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: "x {{tasks.b.urls}}" } }',
    ),
    found: ['MB1204 5:42'],
  },
  {
    name: 'an output that is none',
    text: tasks(
      '  b: { kind: image, with: { prompt: x } }',
      '  a: { kind: image, with: { prompt: "{{tasks.b.uri}}" } }',
    ),
    found: ['MB1203 5:40'],
    says: ['tasks.b.url'],
  },
]);
