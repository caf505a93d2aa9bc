// Bundles the review page into dist/page/: one classic script, as pages from disk load no modules, and one style sheet.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

/**
 * The windowing library is a third of the script, and half of that are names that only it and its one caller use: none of
 * them is a name of the browser's, or of our data.
 */
const windowingNames = new RegExp(
  `^(${[
    '_[a-zA-Z]\\w*|lane\\w*|pending\\w+|(itemSize|elements|measurements)Cache\\w*',
    'scroll(Offset|Element|State|Direction|Rect)|get(Measurement|Virtual|TotalSize|ItemKey)\\w*',
    '(calculate|maybeNotify|indexFrom|resizeItem|targetWindow|initial|isScrolling|observeElement|rangeExtractor)\\w*',
    '(followOnAppend|anchorTo|estimateSize|overscan|measureElement|indexAttribute|shouldMeasure|shouldAdjust)\\w*',
    'horizontal|enabled|notify|(useScrollend|useAnimationFrame|useCached)\\w*',
    'get(Scroll|MaxScroll|Command|OffsetFor|Distance)\\w+|scroll(Margin|EndThreshold|Padding\\w+)|(schedule|reconcile)Scroll\\w*',
    '(start|end)Index|padding(Start|End)|(lastTarget|hold)Offset|isIndexInRange|prevLanes|unsubs|stableFrames|lowMaxes',
    '(awaitingFling|clampedMax|maxAtWrite|ownReadBack|tailStill|onTail|elementMax|skipInitial|applyScroll|getSize)\\w*',
  ].join('|')})$`,
);
/** Members of the page's state, which nothing else has a name for either. */
const stateNames = new RegExp(
  `^(${[
    'focusWish|active(Asset|Group)|mustLeave|canUndo|has(Details|Help|Filters|Note)|outbox|refusals|dismissRefusals',
    'strips|togglePixels|activeSide|groupOf|drifts|setMode|(toggle|edit)(Details|Help|Note)|(set|clear)Filter|pickNth|go(Group|Undecided)|takesFocus|on(Refused|Recorded)',
  ].join('|')})$`,
);
const small = {
  ...{ compress: true, codegen: true, mangle: true },
  mangleProps: { include: new RegExp(`${windowingNames.source}|${stateNames.source}`) },
};

/** A style sheet without remarks and indents. */
const smallStyles = (text) =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .replace(/ \{\n/g, '{');

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
    output: { file: join(output, 'page.js'), format: 'iife', minify: small, comments: false },
  });
  mkdirSync(output, { recursive: true });
  const styles = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'));
  const inOrder = styles.sort((a, b) => Number(b === 'page.css') - Number(a === 'page.css') || (a < b ? -1 : 1));
  const styleSheet = inOrder.map((path) => readFileSync(join(folder, path), 'utf8')).join('\n');
  writeFileSync(join(output, 'page.css'), smallStyles(styleSheet));
  copyFileSync(join(folder, 'icon.svg'), join(output, 'icon.svg'));
  return built.flatMap(({ moduleIds }) => moduleIds);
}
