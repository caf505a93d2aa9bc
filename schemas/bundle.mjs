// Bundles the sources into dist/: a command then opens a handful of files where it opened hundreds. What is imported
// lazily stays in files of its own. What earlier builds left stays: a command that runs meanwhile may still load it. `npm ci`
// begins with an empty folder.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { isAbsolute, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { bundlePages } from './bundle-page.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const slashed = (path) => path.split(sep).join('/');

/** Packages that start faster, or weigh less, from our own files. The others are large, lazy, or find files beside themselves. */
const bundled = [
  'commander',
  'csv-parse',
  'fastest-levenshtein',
  'handlebars',
  'listr2',
  'p-queue',
  'picocolors',
  'read-excel-file',
  'undici',
  'yaml',
];

const packageOf = (specifier) =>
  specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : specifier.split('/')[0];

const source = (path) => join(root, 'src', path);

/** Code moves between files, what it reads beside itself does not: every source keeps the address that it had. */
const addresses = {
  name: 'addresses',
  transform: {
    filter: { id: /[\\/]src[\\/].*\.ts$/, code: 'import.meta.url' },
    handler(code, path) {
      const own = slashed(relative(source(''), path)).replace(/\.ts$/, '.js');
      return code.replaceAll('import.meta.url', `new URL('../${own}', import.meta.url).href`);
    },
  },
};

/** undici as its dispatchers alone: loading fetch, caches, mocks and interceptors takes 50 ms and 9 MiB in every run. */
const dispatchers = {
  name: 'dispatchers',
  resolveId: { filter: { id: /^undici$/ }, handler: () => '\0undici' },
  load: {
    filter: { id: /^\0undici$/ },
    handler: () =>
      ['Pool']
        .map((name) => `export { default as ${name} } from 'undici/lib/dispatcher/${kebab(name)}.js';`)
        .join('\n'),
  },
};
const kebab = (name) => name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase();

/**
 * What is always loaded together is one file, however small its parts. Each layer holds what its first sources need
 * and no layer before it has.
 */
const layers = {
  main: ['cli/main.ts'],
  recall: ['campaign/open-campaign.ts', 'campaign/up-to-date.ts'],
  campaign: ['cli/commands/validate.ts'],
  plan: ['cli/commands/plan.ts'],
  run: ['cli/apply-campaign.ts'],
  service: ['service/service.ts'],
};

const layerOf = new Map();
const layering = {
  name: 'layering',
  buildEnd() {
    for (const [layer, paths] of Object.entries(layers)) {
      const open = paths.map(source);
      for (let id = open.pop(); id !== undefined; id = open.pop()) {
        if (layerOf.has(id)) continue;
        layerOf.set(id, layer);
        open.push(...(this.getModuleInfo(id)?.importedIds ?? []));
      }
    }
    const strays = [...layerOf.keys()].filter((id) => /\/src\/(review|cluster)\//.test(slashed(id)));
    if (strays.length > 0) throw new Error(`internal error: every command would load ${strays.join(', ')}`);
  },
};

/** What a bundled package needs comes along, except what Handlebars asks for and does without. */
const isKept = (id, importer) => {
  if (isBuiltin(id) || id === 'source-map') return true;
  if (/^[.\0/]/.test(id) || isAbsolute(id)) return false;
  return !importer?.includes('node_modules') && !bundled.includes(packageOf(id));
};

const entries = ['cli/bin', 'index', 'sandbox/index', 'sandbox/render-worker'];
const { output: built } = await build({
  cwd: root,
  platform: 'node',
  transform: { target: 'node20.19' },
  logLevel: 'warn',
  input: Object.fromEntries(entries.map((entry) => [entry, source(`${entry}.ts`)])),
  external: isKept,
  plugins: [addresses, dispatchers, layering],
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: 'dist',
    format: 'es',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: false,
    codeSplitting: {
      groups: [{ debugName: 'layers', name: (id) => layerOf.get(id) ?? null }],
      includeDependenciesRecursively: false,
    },
  },
});
// npm marks it only when it finds it: in a checkout it links the command before anything is built.
chmodSync(join(root, 'dist/cli/bin.js'), 0o755);
// Left by earlier builds, whose command was a script.
rmSync(join(root, 'dist/cli/package.json'), { force: true });
const outputs = new Set([
  ...built.map(({ fileName }) => `dist/${fileName}`),
  ...['page', 'gallery'].map((name) => `dist/page/${name}.js`),
]);
const modules = [...built.flatMap(({ moduleIds }) => moduleIds), ...(await bundlePages(root))];
const inputs = new Set(modules.map((id) => slashed(relative(root, id))));

// `../` leads out of a folder directly under dist/ only.
const misplaced = [...outputs].filter(
  (path) => path.split('/').length !== 3 && readFileSync(join(root, path), 'utf8').includes('new URL('),
);
if (misplaced.length > 0) throw new Error(`internal error: ${misplaced.join(', ')} reads files beside itself`);

const folders = new Set([...inputs].flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
const notices = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`internal error: ${name} has no licence text`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
});
const opening = 'The files of this folder hold code of these packages, under these licences.\n';
writeFileSync(join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'), [opening, ...notices].join(`\n${'-'.repeat(80)}\n\n`));
