// Bundles the sources into dist/: a command then opens a handful of files where it opened hundreds. What is imported
// lazily stays in a file of its own. `--clean` removes what earlier builds left.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const slashed = (path) => path.split(sep).join('/');

/** Packages that start faster from our own files. The others are large, lazy, or find files beside themselves. */
const bundled = [
  'commander',
  'csv-parse',
  'eventemitter3',
  'fastest-levenshtein',
  'handlebars',
  'neo-async',
  'p-queue',
  'p-timeout',
  'picocolors',
  'undici',
  'yaml',
];

const packageOf = (specifier) =>
  specifier.startsWith('@') ? specifier.split('/').slice(0, 2).join('/') : specifier.split('/')[0];

const packages = {
  name: 'packages',
  setup(builder) {
    builder.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point') return undefined;
      return path.startsWith('node:') || !bundled.includes(packageOf(path)) ? { path, external: true } : undefined;
    });
  },
};

/** Code moves between files, what it reads beside itself does not: every source keeps the address that it had. */
const addresses = {
  name: 'addresses',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const own = slashed(relative(join(root, 'src'), path)).replace(/\.ts$/, '.js');
      const address = `new URL('../${own}', import.meta.url).href`;
      return { contents: text.replaceAll('import.meta.url', address), loader: 'ts' };
    });
  },
};

const entries = ['cli/bin.ts', 'index.ts', 'sandbox/index.ts', 'sandbox/render-worker.ts'];
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: entries.map((path) => `src/${path}`),
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  plugins: [packages, addresses],
  // Packages in CommonJS ask for built-in modules only. Handlebars also asks for `source-map`, and does without it.
  banner: { js: 'const require=process.getBuiltinModule;' },
  metafile: true,
  logLevel: 'warning',
});

// `../` leads out of a folder directly under dist/ only.
const misplaced = Object.keys(metafile.outputs).filter(
  (path) => path.split('/').length !== 3 && readFileSync(join(root, path), 'utf8').includes('new URL('),
);
if (misplaced.length > 0) throw new Error(`internal error: ${misplaced.join(', ')} reads files beside itself`);

// Only for a package: a command that runs meanwhile may still load the files of the build before.
const isForPackage = process.argv.includes('--clean');
for (const path of isForPackage ? readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }) : []) {
  const output = slashed(join('dist', path));
  if (output.endsWith('.js') && metafile.outputs[output] === undefined) rmSync(join(root, output));
}

const folders = new Set(
  Object.keys(metafile.inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
);
const notices = [...folders].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`internal error: ${name} has no licence text`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
});
const opening = 'The files of this folder hold code of these packages, under these licences.\n';
writeFileSync(join(root, 'dist', 'THIRD-PARTY-NOTICES.txt'), [opening, ...notices].join(`\n${'-'.repeat(80)}\n\n`));
