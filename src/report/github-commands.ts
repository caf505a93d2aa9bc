import { safeText } from './safe-text.ts';

type AnnotationLevel = 'error' | 'warning' | 'notice';

export interface Annotation {
  level: AnnotationLevel;
  properties: readonly (readonly [name: string, value: string | number])[];
  /** One or several lines, already safe for a terminal. */
  message: string;
}

/** Limit of annotations per level that GitHub's runner shows for one step. */
const mostOfALevel = 10;

/**
 * Writes `::error file=…,title=…::message` and a line feed. GitHub shows it at the job and, with a file, at that file.
 */
export function annotationText({ level, properties, message }: Annotation): string {
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${level}${list === '' ? '' : ` ${list}`}::${escapeData(message)}\n`;
}

/** Limits the annotations per level to the number that GitHub shows. The last one counts the omitted ones. */
export function limitAnnotations(annotations: readonly Annotation[]): Annotation[] {
  const counts = { error: 0, warning: 0, notice: 0 };
  for (const { level } of annotations) counts[level] += 1;
  const seen = { error: 0, warning: 0, notice: 0 };
  return annotations.flatMap((annotation): Annotation[] => {
    const { level } = annotation;
    seen[level] += 1;
    if (counts[level] <= mostOfALevel || seen[level] < mostOfALevel) return [annotation];
    if (seen[level] > mostOfALevel) return [];
    const message = `${counts[level] - mostOfALevel + 1} more, in the log of this step`;
    return [{ level, properties: [['title', 'and more']], message }];
  });
}

export function openGroup(title: string): string {
  return `::group::${escapeData(safeText(title))}\n`;
}

export const closeGroup = '::endgroup::\n';

/**
 * Escapes all text in which the runner would find a command, because it may come from a manifest or the service. The
 * runner executes lines that begin with two colons, after optional spaces, and `##[` anywhere.
 */
export function inertText(text: string): string {
  return text.replaceAll(/^(\s*):(?=:)/gm, `$1:${noSpace}`).replaceAll(/##(?=\[)/g, `##${noSpace}`);
}

const noSpace = '\u200b';

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
