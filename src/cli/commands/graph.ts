import { extname } from 'node:path';
import { type DrawOptions, drawCampaign, saveDrawing } from '../../campaign/draw.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { Diagram } from '../../report/diagram/diagram.ts';
import { diagramDot, diagramJson, diagramMermaid, mermaidLimits } from '../../report/diagram/text-formats.ts';
import { countOf } from '../../report/numbers.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import type { Terminal } from '../terminal.ts';

type Format = 'mermaid' | 'svg' | 'dot' | 'json';

export interface GraphOptions extends StateOptions, DrawOptions {
  format?: Format;
  json?: boolean;
  out?: string;
}

/** Limit of steps that anybody can tell apart in a picture. */
const mostSteps = 300;

/** `markdown`: Mermaid in a fence, as GitHub and others draw it. */
const formatsByEnding: Readonly<Record<string, Format | 'markdown'>> = {
  '.svg': 'svg',
  '.mmd': 'mermaid',
  '.mermaid': 'mermaid',
  '.md': 'markdown',
  '.dot': 'dot',
  '.gv': 'dot',
  '.json': 'json',
};

/** The campaign as a drawing: what is made from what, how far it is, what it cost. No network; writes only `--out`. */
export async function graph(file: string, options: GraphOptions, terminal: Terminal): Promise<number> {
  const format = formatOf(options);
  const campaign = await open(file, options, terminal);
  const diagram = await drawCampaign(campaign, options);
  if (options.steps === true) refuseCrowd(diagram);
  const text = await write(diagram, format);
  if (options.out === undefined) terminal.out(text);
  else {
    await saveDrawing(options.out, text, { lock: campaign.paths.lock });
    terminal.err(`${terminal.style.green('saved')}  ${safeText(options.out)}\n`);
  }
  return exitCodes.done;
}

function formatOf({ format, json, out }: GraphOptions): Format | 'markdown' {
  const given = json ? 'json' : format;
  if (out === undefined) return given ?? 'mermaid';
  const ending = extname(out).toLowerCase();
  const byEnding = formatsByEnding[ending];
  if (byEnding === undefined) {
    throw new CampaignError({
      code: 'MB3001',
      message: `--out: ${out} does not end as a graph does`,
      hint: `let it end in one of ${Object.keys(formatsByEnding).join(', ')}`,
      options: ['--out'],
    });
  }
  const isSame = given === undefined || given === byEnding || (given === 'mermaid' && byEnding === 'markdown');
  if (isSame) return byEnding;
  throw new CampaignError({
    code: 'MB3001',
    message: `--format ${given} does not go with --out ${out}`,
    hint: 'leave --format out: the ending of the file says it',
    options: ['--format', '--out'],
  });
}

async function write(diagram: Diagram, format: Format | 'markdown'): Promise<string> {
  switch (format) {
    case 'json':
      return `${safeJson(diagramJson(diagram), 2)}\n`;
    case 'dot':
      return diagramDot(diagram);
    case 'svg': {
      const { diagramSvg, svgLimits } = await import('../../report/diagram/diagram-svg.ts');
      return diagramSvg(diagram) ?? refuse('svg', diagram, countOf(svgLimits.nodes, 'node'), svgLimits.edges);
    }
    case 'mermaid':
    case 'markdown': {
      const text = diagramMermaid(diagram);
      const { characters, edges } = mermaidLimits;
      if (text === undefined) return refuse('mermaid', diagram, countOf(characters, 'character'), edges);
      return format === 'mermaid' ? text : `<!-- mediabatch graph -->\n\n\`\`\`mermaid\n${text}\`\`\`\n`;
    }
    default:
      return format satisfies never;
  }
}

function refuseCrowd({ nodes }: Diagram): void {
  const steps = nodes.filter(({ is }) => is === 'step').length;
  if (steps <= mostSteps) return;
  throw new CampaignError({
    code: 'MB3001',
    message: `--steps draws at most ${countOf(mostSteps, 'step')}, and these are ${countOf(steps, 'step')}`,
    hint: 'leave --steps out for a node for each task, or choose steps: --select +hero@lamp,9:16 is one with what it needs, --select hero all of a task',
    options: ['--steps'],
  });
}

function refuse(format: Format, { nodes, edges }: Diagram, size: string, mostEdges: number): never {
  throw new CampaignError({
    code: 'MB3001',
    message: `--format ${format} draws at most ${size} and ${countOf(mostEdges, 'edge')}, and these are ${countOf(nodes.length, 'node')} and ${countOf(edges.length, 'edge')}`,
    hint: 'choose with --select; --format dot and --format json have no limit',
    options: ['--format'],
  });
}
