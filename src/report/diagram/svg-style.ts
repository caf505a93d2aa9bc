import { displayWidth } from '../text-width.ts';

/** Fonts of the picture: whatever is on the machine, so a width is the most that any of them takes. In pixels. */
export const fonts = {
  name: { size: 13, column: 7.9 },
  code: { size: 11, column: 6.7 },
  words: { size: 11.5, column: 6.9 },
  title: { size: 15, column: 9.2 },
} as const;

const plain = 'system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif';
const code = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace';

type Rules = Readonly<Record<string, string>>;

const shapes: Rules = {
  '.title': `font:600 ${fonts.title.size}px ${plain}`,
  '.words': `font:${fonts.words.size}px ${plain}`,
  '.name': `font:600 ${fonts.name.size}px ${code}`,
  '.code': `font:${fonts.code.size}px ${code}`,
  '.line': 'fill:none;stroke-width:1.4',
  '.weak': 'stroke-dasharray:5 4',
  '.parts': 'stroke-dasharray:4 3',
  '.flag': 'stroke-width:1.4;stroke-linejoin:round',
};

const light: Rules = {
  '.page': 'fill:#fff',
  '.card': 'fill:#f6f8fa;stroke:#c3cad2',
  '.gate': 'fill:#eef4ff;stroke:#7d9fd6',
  '.gate.open': 'fill:#fff4d6;stroke:#b98900',
  '.flag': 'fill:#2da44e;stroke:#2da44e',
  '.flag.open': 'fill:#e0a800;stroke:#b98900',
  '.line': 'stroke:#8a939d',
  '.head': 'fill:#8a939d',
  '.title,.name': 'fill:#1b2128',
  '.words,.code': 'fill:#57606a',
  '.done': 'fill:#2da44e',
  '.running': 'fill:#2f81f7',
  '.failed': 'fill:#cf222e',
  '.lost': 'fill:#8e1519',
  '.unresolved': 'fill:#bf8700',
  '.changed': 'fill:#e16f24',
  '.not-bought': 'fill:#c9d1d9',
  '.unneeded': 'fill:#e6eaee',
};

const dark: Rules = {
  '.page': 'fill:#0d1117',
  '.card': 'fill:#161b22;stroke:#3d444d',
  '.gate': 'fill:#13233a;stroke:#4a74b4',
  '.gate.open': 'fill:#2e2508;stroke:#c69026',
  '.flag': 'fill:#3fb950;stroke:#3fb950',
  '.flag.open': 'fill:#c69026;stroke:#c69026',
  '.line': 'stroke:#768390',
  '.head': 'fill:#768390',
  '.title,.name': 'fill:#e6edf3',
  '.words,.code': 'fill:#9da7b1',
  '.done': 'fill:#3fb950',
  '.running': 'fill:#58a6ff',
  '.failed': 'fill:#f85149',
  '.lost': 'fill:#b3302c',
  '.unresolved': 'fill:#d29922',
  '.changed': 'fill:#f0883e',
  '.not-bought': 'fill:#3d444d',
  '.unneeded': 'fill:#2a3038',
};

/** The class of the picture: within a page its rules concern nothing else. */
export const svgClass = 'mediabatch-graph';

/** No variables, which few viewers but browsers know; the others show the light one. */
export const svgStyle = `${write(shapes)}${write(light)}@media (prefers-color-scheme:dark){${write(dark)}}`;

function write(rules: Rules): string {
  const scoped = (selectors: string) => selectors.split(',').map((one) => `.${svgClass} ${one}`);
  return Object.entries(rules)
    .map(([selectors, rule]) => `${scoped(selectors).join(',')}{${rule}}`)
    .join('');
}

/** Makes a text fit for XML: without markup, and without characters that XML does not have. */
export function xmlText(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, '\ufffd').replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

export type Font = keyof typeof fonts;

/** Width of a safe text, in pixels. */
export function widthOf(text: string, font: Font): number {
  return Math.ceil(displayWidth(text) * fonts[font].column);
}
