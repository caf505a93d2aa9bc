import { describe, expect, it, test } from 'vitest';
import { exampleRow, helperDocs } from '../../../src/manifest/template/helper-docs.ts';
import { helpers } from '../../../src/manifest/template/helpers.ts';
import { load, steps, tasks } from './load.ts';

/** What a template gives in a prompt; a link that is known only in a run is shown as the step that it comes from. */
function render(template: string): unknown {
  const text = tasks(
    '  a:',
    '    kind: image',
    '    foreach: r.json',
    '    key: "{{row.sku}}"',
    `    with: { prompt: ${JSON.stringify(`-${template}-`)} }`,
  );
  const all = steps(text, {
    data: { 'r.json': JSON.stringify([exampleRow]), 'lyrics/rain.txt': 'Rain on the tin roof\n' },
    uploads: { 'assets/logo.png': { sha256: 'a'.repeat(64), bytes: 1 } },
  });
  const prompt = all.find(({ task }) => task === 'a')?.request.prompt;
  if (typeof prompt === 'string') return prompt.slice(1, -1);
  const parts = (prompt as { $text: (string | { $ref: string })[] }).$text;
  return parts
    .map((part) => (typeof part === 'string' ? part : part.$ref))
    .join('')
    .slice(1, -1);
}

describe('what is said about helpers', () => {
  test('every helper is explained, and nothing else', () => {
    const names = helperDocs.map(({ name }) => name);
    expect([...names].sort()).toEqual([...Object.keys(helpers), 'if', 'unless', 'each'].sort());
  });

  test.each(helperDocs)('$example gives $result', ({ name, usage, example, result }) => {
    expect(usage).toMatch(new RegExp(`^\\{\\{#?${name} `));
    expect(example).toContain(name);
    expect(render(example)).toBe(result);
  });

  it('does not depend on what was rendered before', () => {
    const backwards = [...helperDocs].reverse();
    expect(backwards.map(({ example }) => render(example))).toEqual(backwards.map(({ result }) => result));
  });
});

describe('a result is looked at before it is made', () => {
  const long = 'a'.repeat(9000);
  const wrong = { wrong: 'would give more than 262144 characters' };
  test('replace', () => {
    expect(helpers.replace?.run([long, 'a', long])).toEqual(wrong);
    expect(helpers.replace?.run(['a-b-c', '-', '+'])).toEqual({ value: 'a+b+c' });
  });

  test('join', () => {
    expect(helpers.join?.run([Array.from({ length: 100_000 }, () => 'a'), long])).toEqual(wrong);
    expect(helpers.join?.run([['a', 1, true], '-'])).toEqual({ value: 'a-1-true' });
  });

  test('pad', () => {
    expect(helpers.pad?.run(['1', 1001])).toEqual({ wrong: 'needs a width up to 1000, and got the number 1001' });
  });
});

describe('a template is measured before it is expanded', () => {
  const found = (template: string) =>
    load(tasks(`  a: { kind: image, with: { prompt: ${JSON.stringify(template)} } }`)).diagnostics.map(
      ({ code, message }) => `${code} ${message}`,
    );

  test.each([
    ['its size', `{{slug "x"}}${'a'.repeat(64 * 1024)}`, 'MB1007 a template of 65 KiB is too long'],
    ['its parts', '{{slug "x"}}'.repeat(2001), 'MB1007 the template has too many parts'],
    ['its depth', `${'{{#if 1}}'.repeat(25)}x${'{{/if}}'.repeat(25)}`, 'MB1007 the template is nested too deeply'],
  ])('%s', (_, template, told) => {
    expect(found(template)).toEqual([told]);
  });
});
