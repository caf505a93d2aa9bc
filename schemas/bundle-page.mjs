// Bundles the review page and the gallery into dist/page/: of each a script, one for what the first picture does without, and a
// style sheet. Scripts are classic, as pages from disk load no modules.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { minifySync } from 'rolldown/utils';

/**
 * The windowing library is a third of the script, and half of that are names that only it and its one caller use: none of
 * them is a name of the browser's, or of our data.
 */
const windowingNames = new RegExp(
  `^(${[
    // Of two signs are names by which the two scripts know what they share.
    '_[a-zA-Z]\\w{2,}|lane\\w*|pending\\w+|(itemSize|elements|measurements)Cache\\w*',
    'scroll(Offset|Element|State|Direction|Rect)|get(Measurement|Virtual|TotalSize|ItemKey)\\w*',
    '(calculate|maybeNotify|indexFrom|resizeItem|targetWindow|initial|isScrolling|observeElement|rangeExtractor)\\w*',
    '(followOnAppend|anchorTo|estimateSize|overscan|measureElement|indexAttribute|shouldMeasure|shouldAdjust)\\w*',
    '(useScrollend|useAnimationFrame|useCached)\\w*',
    'get(Scroll|MaxScroll|Command|OffsetFor|Distance)\\w+|scroll(Margin|EndThreshold|Padding\\w+)|(schedule|reconcile)Scroll\\w*',
    '(start|end)Index|padding(Start|End)|(lastTarget|hold)Offset|isIndexInRange|prevLanes|unsubs|stableFrames|lowMaxes',
    'phase|horizontal|enabled|debug|notify|samples|moved|rafId|adjustments|isRtl',
    'scrollTo(Offset|Index|End|Fn)|cancelScroll|takeSnapshot|isAtEnd|inMotion|touch(Start|End)|setOptions|lowMax\\w*',
    '(awaitingFling|clampedMax|maxAtWrite|ownReadBack|tailStill|onTail|elementMax|skipInitial|applyScroll|getSize)\\w*',
  ].join('|')})$`,
);
/** Members of the page's own state, which neither the browser nor our data have a name for. */
const stateNames = new RegExp(
  `^(${[
    'active(Asset|Group|Side)|has(Details|Help|Filters|Note)|(toggle|edit)(Details|Help|Match|Note)|(onT|t)ogglePixels',
    'focusWish|takesFocus|mustLeave|outbox|refusals|dismissRefusals|on(Refused|Recorded|Press)|strips|drifts',
    'groupOf|offer|facets|unsaved|stretches|startedAt|set(Wipe|Mode|Tracks|Frame)|activate|settle|homes|Surroundings',
    'reveal|keyOf|getWindow|timerId|toEnd|unwatched|drift|peaks|undo|longest|deck|heard|loupe|loudness|gainOf|is(Player|On|Off|Pair|Brief|Empty|Lost|Large)|on(Move|Frame|Seek|Size|Toggle|Video)|valuesOf',
    '(set|clear)Filter|pickNth|go(Group|Undecided)|listenTo|is(Playing|Matched|Larger)',
  ].join('|')})$`,
);
/** What Preact would ask of components that are classes: there are none, so that nobody else calls anything so. */
const classNames =
  /^(getDerivedState\w+|component(Will|Did)\w+|getSnapshotBeforeUpdate|shouldComponentUpdate|debounceRendering|getChildContext)$/;
const shortened = new RegExp([windowingNames, stateNames, classNames].map(({ source }) => source).join('|'));

/** A style sheet without remarks, indents and whatever else the grammar does without. */
const smallStyles = (text) =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\n\s*/g, '\n')
    .replace(/([:,]) /g, '$1')
    .replace(/([;{},])\n+/g, '$1')
    .replace(/ \{/g, '{')
    .replace(/;\}/g, '}');

/** Each page, by the folders of `src/page/` whose style sheets are only for another one. */
const pages = [
  { name: 'page', entry: 'main.ts', isOwn: (path) => !path.startsWith('gallery') },
  { name: 'gallery', entry: 'gallery.ts', isOwn: () => true },
];

/**
 * What modules say to each other, said by classic scripts: the first gives what it exports, and goes on without the later one,
 * which takes that and gives its own.
 */
const classic = {
  first: (code) =>
    `var mediabatch = {};
mediabatch.later = new Promise((done) => { mediabatch.run = done; });
(() => { ${withExports(code, (names) => `mediabatch.first = ${names};`).replace(/import\("[^"]*"\)/, 'mediabatch.later')} })();`,
  later: (code) =>
    `(() => { ${withExports(code, (names) => `mediabatch.run(${names});`).replace(/^import \{([^}]*)\} from "[^"]*";/m, fromFirst)} })();`,
};

function withExports(code, give) {
  return code.replace(/^export \{([^}]*)\};\s*$/m, (_, list) => give(`{${asMembers(list)}}`));
}

function fromFirst(_, list) {
  return `const {${list.replaceAll(' as ', ': ')}} = mediabatch.first;`;
}

/** `a as b` of a list of exports is the member `b: a`. */
function asMembers(list) {
  return list.split(',').map((name) => name.trim().split(' as ').reverse().join(': '));
}

/** Short names of the first script, which the later one gives to nothing else, and what members are called in both. */
function minifyBoth(first, later) {
  const one = shorten('first.js', first);
  const taken = { cache: one.mangleCache, reserved: [...new Set(one.code.match(/\b[\w$]{1,2}\b/g))] };
  return [one, shorten('later.js', later, taken)].map(({ code }) => code);
}

function shorten(name, code, taken = {}) {
  const made = minifySync(name, code, {
    ...{ module: false, compress: true, mangle: true, codegen: true },
    mangleProps: { include: shortened, ...taken },
  });
  if (made.errors.length > 0) throw new Error(made.errors[0].message);
  return made;
}

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
      transform: { target: 'es2022' },
      logLevel: 'warn',
      input: join(folder, entry),
      output: { format: 'es', comments: false },
      write: false,
    });
    const [first, later, ...others] = built;
    if (!first.isEntry || later === undefined || others.length > 0)
      throw new Error(`internal error: ${name} is of ${built.map(({ fileName }) => fileName).join(', ')}`);
    const scripts = minifyBoth(classic.first(first.code), classic.later(later.code));
    const [given, asked] = [/mediabatch\.first=\{([^}]*)\}/, /\{([^{}]*)\}=mediabatch\.first/].map((list, index) =>
      (list.exec(scripts[index])?.[1] ?? '').split(',').map((member) => member.split(':')[0]),
    );
    const lost = asked.filter((member) => !given.includes(member));
    if (lost.length > 0)
      throw new Error(`internal error: ${name}-later.js asks for ${lost}, which the first does not give`);
    for (const [index, file] of [`${name}.js`, `${name}-later.js`].entries()) {
      const code = scripts[index];
      if (/\b(import|export)\b *[({*]/.test(code)) throw new Error(`internal error: ${file} is no classic script`);
      writeFileSync(join(output, file), code);
    }
    for (const { moduleIds } of built) for (const id of moduleIds) modules.add(id);
    const styleSheet = inOrder.filter(isOwn).map((path) => readFileSync(join(folder, path), 'utf8'));
    writeFileSync(join(output, `${name}.css`), smallStyles(styleSheet.join('\n')));
  }
  copyFileSync(join(folder, 'icon.svg'), join(output, 'icon.svg'));
  return [...modules];
}
