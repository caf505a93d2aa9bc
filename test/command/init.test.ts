import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectExit, root } from '../rig/command.ts';
import { exampleNames } from '../rig/examples.ts';
import { workplaceForEach } from './in-process.ts';

const workplace = workplaceForEach();
const { run, write, read } = workplace;

test.each(exampleNames())('--example %s writes a valid campaign', async (name) => {
  expect((await run('init', 'new', '--example', name)).code).toBe(0);
  expect(await run('validate', 'new/campaign.yaml')).toMatchObject({ code: 0 });
  expect(read('new/.gitattributes')).toContain('merge=union');
});

test('writes the schema next to the manifest of a new campaign if no installed package has it', async () => {
  const schemaOf = (manifest: string) => /\$schema=(.+)$/m.exec(read(manifest))?.[1] ?? '';
  await run('init', 'new');
  expect(schemaOf('new/campaign.yaml')).toBe('mediabatch.schema.json');
  expect(read('new/mediabatch.schema.json')).toBe(readFileSync(join(root, 'schemas/manifest.schema.json'), 'utf8'));
});

test.each([
  ['spring', 'spring'],
  ['Grüße 2026', 'grusse-2026'],
  ['--- Launch (v2)!', 'launch-v2'],
  ['2026', '"2026"'],
  ['true', '"true"'],
  ['春', 'quickstart'],
])('a campaign in the folder %s is named %s', async (folder, name) => {
  const into = `./${folder}`;
  expect((await run('init', into)).code).toBe(0);
  expect(read(`${into}/campaign.yaml`)).toContain(`\nname: ${name}\n`);
  expect(await run('validate', `${into}/campaign.yaml`)).toMatchObject({ code: 0 });
});

test('--list names the examples', async () => {
  const { out } = await run('init', '--list');
  expect(out.split('\n')[0]).toMatch(/^quickstart {2}\S/);
  expect(out.trim().split('\n')).toHaveLength(exampleNames().length);
  expect(readdirSync(workplace.folder)).toEqual([]);
});

test('overwrites no file, and leaves no partial file', async () => {
  write('campaign.yaml', 'mine\n');
  write('.gitignore', 'mine\n');
  const refused = await run('init', '.');
  expect(refused).toMatchObject({ code: 64, err: expect.stringContaining('campaign.yaml would be overwritten') });
  expect(readdirSync(workplace.folder).sort()).toEqual(['.gitignore', 'campaign.yaml']);
  const other = await run('init', '.', '--example', 'podcast-clips');
  expect(other.code).toBe(64);
  expect(read('campaign.yaml')).toBe('mine\n');
});

test('.gitignore names installed packages', async () => {
  mkdirSync(join(workplace.folder, 'node_modules'));
  await run('init', '.');
  expect(read('.gitignore')).toMatch(/^node_modules\/\n\.mediabatch\/\n/);
  await run('init', 'spring');
  expect(read('spring/.gitignore')).not.toContain('node_modules');
});

test('writes the page for agents next to the campaign, without dead links; an existing page stays', async () => {
  expect((await run('init', 'plain')).code).toBe(0);
  expect(readdirSync(join(workplace.folder, 'plain'))).not.toContain('AGENTS.md');
  expect((await run('init', 'new', '--agents')).code).toBe(0);
  expect(read('new/AGENTS.md')).toContain('mediabatch approve campaign.plan.json');
  expect(read('new/AGENTS.md')).toContain('`mediabatch help trust`');
  expect(read('new/AGENTS.md')).not.toMatch(/\]\(|not-run/);
  write('AGENTS.md', 'Ours.\n');
  const { err } = await run('init', '.', '--agents');
  expect(err).toMatch(/kept {2}AGENTS\.md\n(?! {9})/);
  expect(read('AGENTS.md')).toBe('Ours.\n');
});

test.each([
  ['plain', 'id,name,price\na1,Lamp,10\nb2,Vase,20\n', ['picture@a1', 'picture@b2'], 'Lamp, product'],
  ['a key further back', 'name,sku\nLamp,A-1\nLamp,B-2\n', ['picture@A-1', 'picture@B-2'], 'Lamp, product'],
  [
    'names with spaces',
    'Product name,Old price\nAurora Lamp,1\nTide Vase,2\n',
    ['picture@aurora-lamp', 'picture@tide-vase'],
    'Aurora Lamp, product',
  ],
  [
    'a number of two words, descriptions and strings to be spoken',
    'Zimmer Nr;Name DE;Sprechertext DE;Beschreibung DE\n101;Suite 1;Willkommen.;Blick auf den See\n102;Turm 2;Hallo.;Garten\n',
    ['picture@101', 'picture@102'],
    /^Suite 1, Blick auf den See$/,
  ],
  ['one column', 'town\nOslo\nBergen\n', ['picture@Oslo', 'picture@Bergen'], 'Oslo, product'],
  ['quotes and commas', 'id,text\n1,"big, red ""x"""\n2,small\n', ['picture@1', 'picture@2'], 'big, red "x"'],
  ['semicolons', 'sku;name;price\na1;"Lamp; big";1,5\nb2;Vase;2\n', ['picture@a1', 'picture@b2'], 'Lamp; big, product'],
  [
    'a prompt',
    'prompt,style\nA market,ink\nA tea house,ink\n',
    ['picture@a-market', 'picture@a-tea-house'],
    'A market',
  ],
  [
    'words that are keys',
    'word;language;colour\nHaus;de;red\ncasa;it;\n',
    ['picture@Haus', 'picture@casa'],
    /^Haus, de, product/,
  ],
  ['a pair of keys', 'scene,shot,prompt\n1,a,x\n1,b,y\n2,a,z\n', ['picture@1-a', 'picture@1-b', 'picture@2-a'], 'x'],
  ['a column that no template can name', 'id,ref [url]\na,x\n', ['picture@a'], 'a, product'],
  ['an article number', 'Name,Artikel-Nr.\nLamp,1001\nVase,1002\n', ['picture@1001', 'picture@1002'], 'Lamp, product'],
  ['an error in a column that is not used', 'id,idea,price\na,A lamp,#N/A\n', ['picture@a'], 'A lamp'],
  ['literals as names', 'id,null,2026,this\na,Lamp,red,x\n', ['picture@a'], 'Lamp, red, x, product'],
  ['numbers only', 'id,price\n1,10\n2,20\n', ['picture@1', 'picture@2'], '1, product'],
])('--from-csv: %s', async (_what, csv, addresses, prompt) => {
  write('my table.csv', csv);
  await expectExit(0, run('init', 'new', '--from-csv', 'my table.csv'));
  expect(read('new/my table.csv')).toBe(csv);
  const { code, out, err } = await run('explain', 'new/campaign.yaml', '--origins', '--json');
  expect(code, err).toBe(0);
  const { steps } = JSON.parse(out);
  expect(steps.map(({ address }: { address: string }) => address)).toEqual(addresses);
  expect(steps[0].with.prompt).toMatch(prompt);
});

test('--from-csv: brackets in the name of a file are not a pattern', async () => {
  write('products[1].csv', 'sku,name\na,Lamp\n');
  await expectExit(0, run('init', 'new', '--from-csv', 'products[1].csv'));
  await expectExit(0, run('validate', 'new/campaign.yaml'));
});

test.each<[string, string, string | undefined, number, string]>([
  ['a table without a key', 't.csv', 'a,b\n1,1\n1,1\n', 65, 'no column or pair of columns of t.csv has a unique value'],
  ['an empty table', 't.csv', 'a,b\n', 65, 'has no rows'],
  ['a header with two separators', 't.csv', 'sku;Preis, EUR\na1;1,50\n', 65, 'cannot tell which of'],
  ['a broken table', 't.csv', 'a,b\n1\n', 65, 'MB1302'],
  [
    'a total below it',
    't.csv',
    'Art.-Nr.,name,price\n1,a,3\n2,b,4\n,,7\n',
    65,
    'row 3 of t.csv has no value in column Art.-Nr.',
  ],
  ['a row without its prompt', 't.csv', 'id,prompt\na,x\nb,\n', 65, 'row 2 of t.csv has no value in column prompt'],
  ['no table', 't.csv', undefined, 65, 't.csv does not exist'],
  ['another kind of file', 't.txt', 'a\n1\n', 64, 'is not a .csv, .tsv or .xlsx file'],
])('--from-csv: %s is reported', async (_what, file, csv, code, words) => {
  if (csv !== undefined) write(file, csv);
  expect(await run('init', 'new', '--from-csv', file)).toMatchObject({ code, err: expect.stringContaining(words) });
  expect(readdirSync(workplace.folder)).toEqual(csv === undefined ? [] : [file]);
});

test('an unknown example suggests a similar one', async () => {
  const said = await run('init', 'new', '--example', 'product-gird');
  expect(said).toMatchObject({ code: 64, err: expect.stringContaining('did you mean product-grid?') });
});
