import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { loadManifest } from '../../../src/campaign/load-manifest.ts';
import { diagnosticsText } from '../../../src/report/diagnostics/diagnostics-text.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { makeFolder } from '../disk/folder.ts';
import { summarize } from './load.ts';

/** A folder with these files; the path of its campaign. */
async function campaign(files: Record<string, string>): Promise<string> {
  const folder = makeFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return join(folder, 'campaign.yaml');
}

const start = 'version: 1\nname: test\n';

it('included files, data files, patterns and uploads are read from where they are named', async () => {
  const file = await campaign({
    'campaign.yaml': `${start}include: [sub/a.yaml]\nvars: { style: oil }\n`,
    'sub/a.yaml': [
      'include: [b.yaml]',
      'tasks:',
      '  hero:',
      '    kind: image',
      '    foreach: p.csv',
      '    schema: p.schema.json',
      '    key: "{{row.sku}}"',
      '    with: { prompt: "{{row.name}}, {{vars.style}}" }',
      '  photo: { kind: image, foreach: "art/*.png", with: { prompt: "like {{row.stem}}" } }',
      '  logo: { kind: upload, with: { file: art/logo.png } }',
      '',
    ].join('\n'),
    'sub/b.yaml': 'vars: { style: ink }\ndefaults: { image: { resolution: 1k } }\n',
    'sub/p.csv': 'sku,name\nA,Lamp\n',
    'sub/p.schema.json': '{ "properties": { "sku": { "type": "string" } } }',
    'sub/art/logo.png': '\0\0\0\0\0',
  });
  const { graph, diagnostics } = await loadManifest(file, {});
  expect(diagnostics).toEqual([]);
  expect(graph?.steps.map(({ address, request }) => [address, request]).sort()).toMatchObject([
    ['hero@A', { prompt: 'Lamp, oil', resolution: '1k' }],
    ['logo', {}],
    ['photo@logo', { prompt: 'like logo', resolution: '1k' }],
  ]);
  expect(graph?.steps.find(({ address }) => address === 'logo')?.file).toMatchObject({
    path: 'sub/art/logo.png',
    bytes: 5,
  });
});

it('mistakes of every file are shown with the line that has them', async () => {
  const file = await campaign({
    'campaign.yaml': `${start}include: [sub/a.yaml]\ntasks: { own: { kind: image, with: { prompt: "{{vars.x}}" } } }\n`,
    'sub/a.yaml':
      'tasks:\n  hero: { kind: image, foreach: p.csv, key: "{{row.sku}}", with: { prompt: "{{row.nmae}}" } }\n',
    'sub/p.csv': 'sku,name\nA,Lamp\n',
  });
  const { diagnostics, sources } = await loadManifest(file, {});
  const folder = dirname(file);
  expect(diagnostics.map((one) => summarize(one).replace(`${folder}/`, ''))).toEqual([
    'MB1203 campaign.yaml:4:49',
    'MB1203 sub/a.yaml:2:79',
  ]);
  const text = diagnosticsText(diagnostics, sources, { style: makeStyle(false), cwd: folder });
  expect(text).toContain('  2 |   hero: { kind: image');
  expect(text).toContain('  4 | tasks: { own:');
});

it.each([
  ['that is missing', 'MB1010', async () => undefined],
  ['that is a folder', 'MB1010', (path: string) => mkdir(path)],
  [
    'that is hidden behind a link',
    'MB1010',
    async (path: string) => {
      await writeFile(join(dirname(path), '.env'), 'vars: {}\n');
      await symlink('.env', path);
    },
  ],
  [
    'that a link leads out to',
    'MB1010',
    async (path: string) => {
      const outside = await campaign({ 'campaign.yaml': 'vars: {}\n' });
      await symlink(outside, path);
    },
  ],
  ['that is larger than a manifest', 'MB1007', (path: string) => writeFile(path, `#${'x'.repeat(2 * 1024 ** 2)}`)],
])('refuses an included file %s', async (_, code, make) => {
  const file = await campaign({ 'campaign.yaml': `${start}include: [a.yaml]\ntasks: { a: { kind: image } }\n` });
  await make(join(dirname(file), 'a.yaml'));
  const { graph, diagnostics } = await loadManifest(file, {});
  expect(diagnostics.map((one) => one.code)).toEqual([code]);
  expect(graph).toBeUndefined();
});
