// Bundles the review page into dist/page/: one classic script, as pages from disk load no modules, and one style sheet.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

/** Returns the paths of the sources and packages that are in the script. */
export async function bundlePage(root) {
  const folder = join(root, 'src/page');
  const output = join(root, 'dist/page');
  const { output: built } = await build({
    cwd: root,
    platform: 'browser',
    tsconfig: join(folder, 'tsconfig.json'),
    transform: { target: 'es2022' },
    logLevel: 'warn',
    input: join(folder, 'main.tsx'),
    output: { file: join(output, 'page.js'), format: 'iife', minify: true, comments: false },
  });
  mkdirSync(output, { recursive: true });
  const styles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'));
  const inOrder = styles.sort((a, b) => Number(b === 'page.css') - Number(a === 'page.css') || (a < b ? -1 : 1));
  writeFileSync(join(output, 'page.css'), inOrder.map((path) => readFileSync(join(folder, path), 'utf8')).join('\n'));
  return built.flatMap(({ moduleIds }) => moduleIds);
}
