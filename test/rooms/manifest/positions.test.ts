import { expect, it } from 'vitest';
import { image, load, tasks } from './load.ts';

/** `▸` stands before what must be pointed at, `◂` behind it; both are taken out of the text. */
const cases: [name: string, text: string][] = [
  ['double quotes', image('prompt: "a {{▸vars.x◂}} b"')],
  ['double quotes with escapes before', image('prompt: "a \\"q\\" \\t {{▸vars.x◂}} b"')],
  ['double quotes with escapes inside', image('prompt: "{{replace ▸vars.x◂ \\"a\\" \\"b\\"}}"')],
  ['double quotes over two lines', image('prompt: "a', '  and {{▸vars.x◂}} b"')],
  ['single quotes', image("prompt: 'it''s {{▸vars.x◂}}'")],
  ['single quotes inside', image("prompt: '{{default ▸vars.x◂ \"it''s\"}} b'")],
  ['a plain text', image('prompt: a {{▸vars.x◂}} b')],
  ['a plain text over two lines', image('prompt: a', '  b {{▸vars.x◂}} c')],
  ['a literal block', image('prompt: |', '  one', '', '  two {{▸vars.x◂}}')],
  ['a folded block', image('prompt: >-', '  one', '  two {{▸vars.x◂}}', '  three')],
  ['the second of two equal templates', image('prompt: "{{#if 1}}{{▸vars.x◂}}{{/if}} {{▸vars.x◂}}"')],
  ['a helper in a helper', image('prompt: "{{upper (lower ▸vars.x◂)}}"')],
  ['trimmed white space', image('prompt: "a {{~ ▸vars.x◂ ~}} b"')],
  ['a list', image('prompt: a', 'referenceImages: ["https://example.com/a.png", "{{▸vars.x◂}}"]')],
  ['a flow map', tasks('  hero: { kind: image, with: { prompt: "{{▸vars.x◂}}" } }')],
  ['defaults', `defaults: { image: { prompt: "{{▸vars.x◂}}" } }\n${tasks('  hero: { kind: image }')}`],
  ['an anchor', `x-p: &p "a {{▸vars.x◂}}"\n${image('prompt: *p')}`],
  ['a merge key', `x-w: &w { prompt: "a {{▸vars.x◂}}" }\n${image('<<: *w', 'model: alpha-2')}`],
  ['Windows line ends', image('prompt: |', '  one', '  two {{▸vars.x◂}}').replaceAll('\n', '\r\n')],
  ['a byte order mark', `\ufeff${image('prompt: "{{▸vars.x◂}}"')}`],
  ['letters beyond the basic plane', image('prompt: "🎈🎈 {{▸vars.x◂}}"')],
  ['an escaped mustache before', image("prompt: '\\{{vars.x}} {{▸vars.x◂}}'")],
];

it.each(cases)('points into %s', (_, marked) => {
  const expected: [number, number][] = [];
  let text = '';
  let start = 0;
  for (const character of marked) {
    if (character === '▸') start = text.length;
    else if (character === '◂') expected.push([start, text.length]);
    else text += character;
  }
  const { diagnostics } = load(text);
  expect(diagnostics.map((one) => one.code)).toEqual(expected.map(() => 'MB1203'));
  expect(diagnostics.map((one) => [one.place?.start.offset, one.place?.end.offset])).toEqual(expected);
});

it('points at the rows of a data file as well', () => {
  const text = tasks(
    '  hero:',
    '    kind: image',
    '    foreach: data/p.csv',
    '    key: "{{row.sku}}"',
    '    with: { prompt: "{{row.name}}", aspectRatio: "{{row.ratio}}" }',
  );
  const csv = 'sku,name,ratio\r\nA,"two\r\nlines",1:1\r\n\r\nB,"x,\r\ny",7:3\r\n';
  const { diagnostics } = load(text, { data: { 'data/p.csv': csv }, file: 'launch/campaign.yaml' });
  expect(diagnostics).toMatchObject([
    {
      code: 'MB1503',
      place: { file: 'launch/campaign.yaml', start: { line: 8, column: 50 } },
      related: [
        { message: 'row 2 of data/p.csv', place: { file: 'launch/data/p.csv', start: { line: 6, column: 4 } } },
      ],
      trail: ['task hero', 'row 2 of data/p.csv'],
    },
  ]);
});

it.each([
  ['p.json', '[\n  {"sku": "A", "r": "1:1"},\n  {"sku": "B", "r": "x"}\n]\n', 3, 3],
  ['p.jsonl', '{"sku": "A", "r": "1:1"}\n\n{"sku": "B", "r": "x"}\n', 3, 1],
  ['p.yaml', '# rows\n- sku: A\n  r: "1:1"\n- sku: B\n  r: x\n', 4, 3],
  ['p.yml', '- { sku: A, r: "1:1" }\n- { sku: B, r: x }\n', 2, 3],
])('knows the lines of %s', (file, text, line, column) => {
  const manifest = tasks(
    '  hero:',
    '    kind: image',
    `    foreach: ${file}`,
    '    key: "{{row.sku}}"',
    '    with: { prompt: x, aspectRatio: "{{row.r}}" }',
  );
  const { diagnostics } = load(manifest, { data: { [file]: text } });
  expect(diagnostics[0]?.related?.[0]?.place).toMatchObject({ file, start: { line, column } });
});
