import type { Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { writeYaml, type YamlOptions } from '../../manifest/format/write-yaml.ts';
import { countOf } from '../numbers.ts';
import { escapeQuoted, safeText } from '../safe-text.ts';
import type { ExpandedStep, Expansion, Origin } from './expansion.ts';

/** Every step as valid YAML, with the source position of each value as a comment after it. */
export function expandText({ campaign, values, steps }: Expansion): string {
  const tasks = new Set(steps.map(({ task }) => task)).size;
  const head = `# ${safeText(campaign)}, expanded: ${countOf(tasks, 'task')}, ${countOf(steps.length, 'step')}\n`;
  const campaignText = yamlText({ version: 1, name: campaign, ...values });
  if (steps.length === 0) return `${head}${campaignText}steps: {}\n`;
  return `${head}${campaignText}\nsteps:\n${steps.map(stepText).join('\n')}`;
}

function stepText({ address, task, kind, values, trail, origins }: ExpandedStep): string {
  const text = yamlText({ [address]: { task, kind, ...values } }, ([, ...path]) => {
    const origin = origins.get(path.join('.'));
    return origin && safeText(describeOrigin(origin));
  });
  const lines = text.trimEnd().split('\n');
  const way = trail.length > 0 ? [`# ${trail.map((part) => safeText(part, 120)).join(' › ')}`] : [];
  return [...way, ...lines].map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('');
}

function yamlText(value: { [key: string]: Json }, commentOf?: YamlOptions['commentOf']): string {
  return escapeQuoted(writeYaml(value, { isQuoted, ...(commentOf !== undefined && { commentOf }) }));
}

/** True when a text contains characters that a terminal, a log viewer or an editor would obey, or not show. */
function isQuoted(text: string): boolean {
  return /##|::|[ \t]$/m.test(text) || text.split('\n').some((line) => safeText(line, line.length * 10) !== line);
}

function describeOrigin({ place, from }: Origin): string {
  const where = `${place.file}:${place.start.line}`;
  return from === undefined ? where : `from ${from}, ${where}`;
}

/**
 * `{mediabatch: 'expansion', version: 1, campaign, budget?, service?, selectors?, prices?, steps: [{address, task, kind,
 * key?, matrix?, take?, with, needs?, save?, …, trail, origins: {'with.prompt': {file, line, column, from?}}}]}`.
 */
export function expandJson({ campaign, values, steps }: Expansion): Json {
  return {
    mediabatch: 'expansion',
    version: 1,
    campaign,
    ...values,
    steps: steps.map(({ address, task, kind, values: own, trail, origins }) => ({
      address,
      task,
      kind,
      ...own,
      trail,
      origins: Object.fromEntries([...origins].map(([name, { place, from }]) => [name, placeJson(place, from)])),
    })),
  };
}

function placeJson({ file, start }: Place, from: string | undefined): Json {
  return { file, line: start.line, column: start.column, ...(from !== undefined && { from }) };
}
