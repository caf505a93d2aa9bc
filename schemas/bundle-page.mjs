// Bundles the review page and the gallery into dist/page/: a script and a style sheet each. Scripts are classic, because pages
// from disk load no modules.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

/** A style sheet without remarks, indents and whatever else the grammar does without. */
const smallStyles = (text) =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .replace(/([:,]) /g, '$1')
    .replace(/([;{},])\n+/g, '$1')
    .replace(/ \{/g, '{')
    .replace(/;\}/g, '}')
    .replace(/(?<=[ :,(])0\./g, '.');

/** Each page, by the folders of `src/page/` whose style sheets are only for another one. */
const pages = [
  { name: 'page', entry: 'main.ts', isOwn: (path) => !path.startsWith('gallery') },
  { name: 'gallery', entry: 'gallery.ts', isOwn: () => true },
];

/** Returns the paths of the sources and packages that are in the scripts. */
export async function bundlePages(root) {
  const folder = join(root, 'src/page');
  const output = join(root, 'dist/page');
  mkdirSync(output, { recursive: true });
  const styles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'));
  const inOrder = styles.sort((a, b) => Number(b === 'page.css') - Number(a === 'page.css') || (a < b ? -1 : 1));
  const modules = new Set();
  for (const { name, entry, isOwn } of pages) {
    const { output: built } = await build({
      cwd: root,
      platform: 'browser',
      tsconfig: join(folder, 'tsconfig.json'),
      transform: { target: 'es2022', define: { 'window.__PREACT_SIGNALS_DEVTOOLS__': 'false' } },
      logLevel: 'warn',
      input: join(folder, entry),
      output: { format: 'iife', comments: false, minify: true },
      write: false,
    });
    const [script, ...others] = built;
    if (others.length > 0)
      throw new Error(`internal error: ${name} is of ${built.map(({ fileName }) => fileName).join(', ')}`);
    writeFileSync(join(output, `${name}.js`), script.code);
    for (const id of script.moduleIds) modules.add(id);
    const styleSheet = inOrder.filter(isOwn).map((path) => readFileSync(join(folder, path), 'utf8'));
    writeFileSync(join(output, `${name}.css`), smallStyles(styleSheet.join('\n')));
  }
  copyFileSync(join(folder, 'icon.svg'), join(output, 'icon.svg'));
  return [...modules];
}
