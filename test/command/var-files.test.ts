import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();
const manifest = `version: 1
name: spring
vars: { word: oak, count: 1, on: true, list: [a], map: { a: 1 }, any: null, other: pine }
tasks:
  hero:
    kind: image
    with: { prompt: "{{vars.word}} {{vars.other}} {{vars.count}} {{vars.any}}", resolution: 1k }
    save: hero
`;
/** A word of a prompt comes from the last of these that has it. */
const sources = ['first.yaml', 'second.json', 'environment', '--var'] as const;

afterEach(() => {
  delete process.env.MEDIABATCH_VAR_word;
});

async function wordWith(given: readonly string[]): Promise<string> {
  const args = ['explain', 'hero', '--request', '--var', 'any=x'];
  for (const source of given) {
    if (source === 'environment') process.env.MEDIABATCH_VAR_word = 'environment';
    else if (source === '--var') args.push('--var', 'word=--var');
    else args.push('--var-file', source);
  }
  const { out, err } = await place.run(...args);
  delete process.env.MEDIABATCH_VAR_word;
  expect(out, err).not.toBe('');
  return /"prompt": "(\S+) pine/.exec(out)?.[1] ?? out;
}

describe('--var-file', () => {
  test('manifest < files in their order < environment < --var', async () => {
    place.write('campaign.yaml', manifest);
    place.write('first.yaml', '# for the north\nword: first.yaml\n');
    place.write('second.json', '{"word": "second.json"}');
    for (let some = 0; some <= sources.length; some += 1) {
      expect(await wordWith(sources.slice(0, some))).toBe(sources[some - 1] ?? 'oak');
    }
    expect(await wordWith(['second.json', 'first.yaml'])).toBe('first.yaml');
  });

  test('every mistake has its place in the file, and the name that was meant', async () => {
    place.write('campaign.yaml', manifest);
    place.write('v.yaml', 'wrod: elm\ncount: "2"\non: 1\nlist: {}\nmap: []\nword: 7\nother: null\nany: 1\n');
    const { code, err } = await place.run('validate', '--var-file', 'v.yaml');
    expect(code).toBe(65);
    expect(err.split('\n').filter((line) => /^v\.yaml|hint/.test(line))).toEqual([
      'v.yaml:1:1 error MB1101 the var `wrod` is not declared by the manifest',
      expect.stringContaining('hint: did you mean `word`?'),
      'v.yaml:2:1 error MB1103 the var `count` is "2", and the manifest declares it as a number',
      '  hint: write a number, or change the declaration',
      'v.yaml:3:1 error MB1103 the var `on` is the number 1, and the manifest declares it as true or false',
      '  hint: write true or false, or change the declaration',
      'v.yaml:4:1 error MB1103 the var `list` is a map, and the manifest declares it as a list',
      '  hint: write a list, or change the declaration',
      'v.yaml:5:1 error MB1103 the var `map` is a list, and the manifest declares it as a map',
      '  hint: write a map, or change the declaration',
      'v.yaml:6:1 error MB1103 the var `word` is the number 7, and the manifest declares it as a text',
      '  hint: put it in quotes: "7"',
      'v.yaml:7:1 error MB1103 the var `other` is null, and the manifest declares it as a text',
      '  hint: write a text, or change the declaration',
    ]);
  });

  test.each([
    ['- a\n', 'v.yaml is a list, not a map of vars'],
    ['', 'v.yaml is empty'],
    ['word=elm\n', 'not a map of vars'],
    ['word: [\n', 'MB1302'],
    ['word: "\\0"\n', 'v.yaml:1:8 error MB1106'],
    ['count: .nan\n', 'v.yaml:1:8 error MB1302'],
    ['word: !!js/function elm\n', 'v.yaml:1:'],
  ])('a file of another form is refused: %j', async (text, said) => {
    place.write('campaign.yaml', manifest);
    place.write('v.yaml', text);
    const { code, err } = await place.run('plan', '--var-file', 'v.yaml');
    expect({ code, err }).toEqual({ code: 65, err: expect.stringContaining(said) });
  });

  test('a saved plan reads it again, and is stale when it says something else', async () => {
    mkdirSync('plans');
    place.write('campaign.yaml', manifest);
    place.write('v.yaml', 'word: elm\nany: x\n');
    await place.run('plan', '--sandbox', '--var-file', 'v.yaml', '--out', 'plans/a.json');
    expect(JSON.parse(place.read('plans/a.json')).saved.options).toEqual({ sandbox: true, varFile: ['../v.yaml'] });
    place.write('v.yaml', 'word: birch\nany: x\n');
    const { code, err } = await place.run('apply', 'plans/a.json', '--yes');
    expect({ code, err }).toEqual({ code: 65, err: expect.stringContaining('is stale') });
    // Whatever is printed means the same variables.
    expect(err).toContain('mediabatch plan campaign.yaml --sandbox --var-file v.yaml --out plans/a.json');
  });

  test('a plan of somebody else leads to no hidden file', async () => {
    place.write('campaign.yaml', manifest);
    place.write('v.yaml', 'any: x\n');
    await place.run('plan', '--sandbox', '--var-file', 'v.yaml', '--out', 'a.json');
    place.write('.secret.yaml', 'any: hush\n');
    place.write('a.json', place.read('a.json').replace('"v.yaml"', '".secret.yaml"'));
    const { code, err } = await place.run('apply', 'a.json', '--yes');
    expect({ code, err }).toEqual({ code: 65, err: expect.stringContaining('.secret.yaml is hidden') });
    // Nor by a link of a plain name.
    symlinkSync('.secret.yaml', join(place.folder, 'w.yaml'));
    const linked = await place.run('plan', '--var-file', 'w.yaml');
    expect(linked).toMatchObject({ code: 65, err: expect.stringContaining('a symbolic link leads to .secret.yaml') });
  });
});
