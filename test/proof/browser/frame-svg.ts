/** A frame of a terminal as tmux prints it (`capture-pane -e`), drawn as SVG: light or dark as its reader has it, no script, no font. */
export function frameSvg(frame: string, title: string): string {
  const lines = frame.trimEnd().split('\n').map(runsOf);
  const columns = Math.max(...lines.map((runs) => runs.reduce((sum, { text }) => sum + [...text].length, 0)));
  const width = columns * cell.width + 2 * margin;
  const height = lines.length * cell.height + 2 * margin;
  const texts = lines.flatMap((runs, row) => {
    let column = 0;
    return runs.map(({ text, look }) => {
      const length = [...text].length;
      const x = margin + column * cell.width;
      column += length;
      const y = margin + row * cell.height + cell.base;
      const classes = look === '' ? '' : ` class="${look}"`;
      return text.trim() === ''
        ? ''
        : `<text x="${round(x)}" y="${round(y)}" textLength="${round(length * cell.width)}"${classes}>${escapeXml(text)}</text>`;
    });
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}" role="img" aria-labelledby="t">
<title id="t">${escapeXml(title)}</title>
<style>${styles}</style>
<rect width="100%" height="100%" rx="8"/>
${texts.filter((text) => text !== '').join('\n')}
</svg>
`;
}

const cell = { width: 8.4, height: 19, base: 14 };
const margin = 14;

const styles = `
rect { fill: #fff; stroke: #d3d0c7 } text { fill: #1d1c1a; font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.bold { font-weight: 700 } .dim { fill: #6b6860 } .red { fill: #b3261e } .green { fill: #1c7040 } .yellow { fill: #7d5200 } .cyan { fill: #0b6c80 }
@media (prefers-color-scheme: dark) { rect { fill: #141517; stroke: #3a3d42 } text { fill: #eceae6 } .dim { fill: #9a988f } .red { fill: #ff8f85 } .green { fill: #69c991 } .yellow { fill: #f0b858 } .cyan { fill: #6cc9dc } }
`;

const looks: Readonly<Record<number, string>> = {
  1: 'bold',
  2: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  36: 'cyan',
};

interface Run {
  text: string;
  /** Names of classes. */
  look: string;
}

/** The parts of a line, each with what the escapes before it switch on. */
function runsOf(line: string): Run[] {
  const runs: Run[] = [];
  let on = new Set<number>();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is read here
  for (const [, codes, text = ''] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
    if (codes === undefined) {
      const look = [...on].flatMap((code) => looks[code] ?? []).join(' ');
      runs.push({ text, look });
    } else for (const code of codes.split(';').map(Number)) on = switched(on, code);
  }
  return runs;
}

function switched(on: ReadonlySet<number>, code: number): Set<number> {
  if (code === 0) return new Set();
  if (code === 22) return new Set([...on].filter((one) => one > 2));
  if (code === 39) return new Set([...on].filter((one) => one < 30));
  return new Set([...on, code]);
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
