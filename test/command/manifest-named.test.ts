import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { nameManifest } from '../../src/cli/program/name-manifest.ts';
import { makeReader } from './buffer-terminal.ts';
import { manifest, products, workplaceForEach } from './in-process.ts';

describe('manifest named', () => {
  const place = workplaceForEach();
  const { program } = makeReader();
  const commands = program.commands.filter(({ registeredArguments: [first] }) => /^files?$/.test(first?.name() ?? ''));

  function name(line: string): string {
    return nameManifest(program, line.split(' ')).join(' ');
  }

  describe('FILE may be left out', () => {
    test('of every command that is about a manifest', () => {
      expect(commands.map((command) => command.name())).toEqual(
        expect.arrayContaining(['validate', 'plan', 'apply', 'status', 'explain', 'pin', 'move', 'resolve', 'gc']),
      );
      for (const command of commands) {
        expect(name(command.name()), command.name()).toBe(`${command.name()} campaign.yaml`);
        // A required FILE would say in its help what is not so.
        expect(command.registeredArguments[0]?.required, command.name()).toBe(false);
      }
    });

    test.each([
      ['explain hero@lamp,1:1', 'explain campaign.yaml hero@lamp,1:1'],
      ['explain --json hero', 'explain campaign.yaml --json hero'],
      ['explain other.yaml hero', 'explain other.yaml hero'],
      ['explain other hero', 'explain other hero'],
      ['explain other.yaml', 'explain other.yaml'],
      ['move hero@a hero@b', 'move campaign.yaml hero@a hero@b'],
      ['adopt hero@a --job 7 --credits 3', 'adopt campaign.yaml hero@a --job 7 --credits 3'],
      ['adopt x.yaml hero@a --job 7', 'adopt x.yaml hero@a --job 7'],
      ['pin', 'pin campaign.yaml'],
      ['pin -s tag:launch', 'pin campaign.yaml -s tag:launch'],
      ['pin hero teaser@a', 'pin campaign.yaml hero teaser@a'],
      ['pin hero/2', 'pin campaign.yaml hero/2'],
      ['pin hero@a.yaml', 'pin campaign.yaml hero@a.yaml'],
      ['pin x/spring.yaml hero', 'pin x/spring.yaml hero'],
      ['pin ./hero', 'pin ./hero'],
      ['pin --lock x.yaml hero', 'pin campaign.yaml --lock x.yaml hero'],
      ['explain', 'explain campaign.yaml'],
      ['explain --origins', 'explain campaign.yaml --origins'],
      ['runs show k3f9', 'runs show campaign.yaml k3f9'],
      ['plan -s hero', 'plan campaign.yaml -s hero'],
      ['plan hero', 'plan hero'],
      ['plan --var=a=b -x hero', 'plan campaign.yaml --var=a=b -x hero'],
      ['apply -y', 'apply campaign.yaml -y'],
      ['apply -ys hero', 'apply campaign.yaml -ys hero'],
      ['apply -shero', 'apply campaign.yaml -shero'],
      ['pin -- hero', 'pin campaign.yaml -- hero'],
      ['validate a.yaml b.yaml', 'validate a.yaml b.yaml'],
      ['upload logo.png', 'upload logo.png'],
      ['doctor', 'doctor'],
      ['nonsense', 'nonsense'],
    ])('%s', (line, named) => {
      expect(name(line)).toBe(named);
    });

    test('FILE is found wherever the options are', () => {
      const options = fc.constantFrom([], ['--sandbox'], ['--lock', 'a.jsonl'], ['--lock=b'], ['--var', 'a=b']);
      fc.assert(
        fc.property(fc.constantFrom(...commands), fc.array(options), fc.array(options), (command, before, after) => {
          const rest = command.registeredArguments.slice(1).map(() => 'hero@a');
          const line = [command.name(), ...before.flat(), 'x.yaml', ...after.flat(), ...rest];
          const isTold = before.flat().every((word) => !word.startsWith('--') || knows(command, word));
          fc.pre(isTold);
          expect(nameManifest(program, line)).toEqual(line);
        }),
      );
    });
  });

  function knows({ options }: (typeof commands)[number], word: string): boolean {
    return options.some(({ long }) => long === word.replace(/=.*/, ''));
  }

  describe('in a folder', () => {
    test('campaign.yaml is the default, and the output names it', async () => {
      place.write('campaign.yaml', manifest);
      place.write('products.csv', products);
      expect((await place.run('plan', '--out', 'campaign.plan.json')).code).toBe(0);
      const explained = await place.run('explain', 'hero@lampe');
      expect(explained).toMatchObject({ code: 64 });
      expect(explained.err).toContain('hero@lamp');
      const decided = await place.run('pin', 'hero');
      expect(decided.err).toContain('has no purchase');
      expect((await place.run('move', 'a', 'b')).err).toContain('mediabatch plan campaign.yaml --all');
    });

    test('without a campaign.yaml, the error names the missing file and the command to type', async () => {
      const empty = await place.run('status');
      expect(empty.code).toBe(65);
      expect(empty.err).toContain('no manifest was given, and there is no campaign.yaml in this folder');
      expect(empty.err).toContain('mediabatch init my-campaign');
      place.write('spring.yaml', manifest);
      expect((await place.run('status', '--sandbox')).err).toContain(
        'give the path of the manifest: mediabatch status spring.yaml --sandbox',
      );
    });
  });

  describe('an unknown command', () => {
    test.each([
      ['run', 'apply'],
      ['plna', 'plan'],
      ['why', 'explain'],
      ['stats', 'status'],
    ])('%s is probably %s', async (word, meant) => {
      const { code, err } = await place.run(word);
      expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining(`did you mean ${meant}?`) });
    });

    test.each([
      ['graph', 'status', '--graph'],
      ['unpin', 'pin', '--undo'],
      ['unpick', 'pick', '--undo'],
    ])('%s is short for %s %s', async (word, ...long) => {
      expect((await place.run(word, 'campaign.yaml')).out).toBe((await place.run(...long, 'campaign.yaml')).out);
    });

    test('is never corrected to a destructive one', async () => {
      const destructive = namedCommands(program).flatMap(([name, , row]) => (row.isDestructive ? [name] : []));
      expect(destructive).toContain('destroy');
      for (const word of [
        'history',
        'destory',
        'destry',
        'Destroy',
        'gcc',
        'forgt',
        'resolv',
        'unlok',
        'delete',
        'rm',
      ]) {
        const said = `${(await place.run(word)).err}${(await place.run('help', word)).err}`;
        expect(said, word).toContain(`there is no command ${word}`);
        expect(said, word).not.toMatch(new RegExp(`did you mean (${destructive.join('|')})\\b`, 'i'));
      }
    });
  });
});

describe('--var-file', () => {
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

  test('manifest < files in their order < environment < --var', async () => {
    place.write('campaign.yaml', manifest);
    place.write('first.yaml', '# for the north\nword: first.yaml\n');
    place.write('second.json', '{"word": "second.json"}');
    for (let some = 0; some <= sources.length; some += 1) {
      expect(await wordWith(sources.slice(0, some))).toBe(sources[some - 1] ?? 'oak');
    }
    expect(await wordWith(['second.json', 'first.yaml'])).toBe('first.yaml');
  });

  test('each error has its position in the file, and a suggestion', async () => {
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
      'v.yaml:6:1 error MB1103 the var `word` is the number 7, and the manifest declares it as a string',
      '  hint: put it in quotes: "7"',
      'v.yaml:7:1 error MB1103 the var `other` is null, and the manifest declares it as a string',
      '  hint: write a string, or change the declaration',
    ]);
  });

  test.each([
    ['- a\n', 'v.yaml is a list, not a map of vars'],
    ['', 'v.yaml is empty'],
    ['word=elm\n', 'not a map of vars'],
    ['word: [\n', 'MB1302'],
    ['word: "\\0"\n', 'v.yaml:1:7 error MB1106'],
    ['count: .nan\n', 'v.yaml:1:8 error MB1302'],
    ['word: !!js/function elm\n', 'v.yaml:1:'],
  ])('a file of another form is refused: %j', async (text, said) => {
    place.write('campaign.yaml', manifest);
    place.write('v.yaml', text);
    const { code, err } = await place.run('plan', '--var-file', 'v.yaml');
    expect({ code, err }).toEqual({ code: 65, err: expect.stringContaining(said) });
  });

  test('a saved plan reads it again, and is stale if it differs', async () => {
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

  test('a plan of another user cannot name a hidden file', async () => {
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
