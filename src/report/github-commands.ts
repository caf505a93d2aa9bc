import { safeText } from './safe-text.ts';

export type AnnotationLevel = 'error' | 'warning' | 'notice';

export interface Annotation {
  level: AnnotationLevel;
  /** Shown in this order. */
  properties: readonly (readonly [name: string, value: string | number])[];
  /** May have several lines. Its text is safe for a terminal. */
  message: string;
}

/** Most annotations of each level that the runner of GitHub shows for one step. */
const mostOfALevel = 10;

/** `::error file=…,title=…::message`, with a line feed: the runner shows it beside the job and, with a file, in it. */
export function annotationText({ level, properties, message }: Annotation): string {
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${level}${list === '' ? '' : ` ${list}`}::${escapeData(message)}\n`;
}

/** No more annotations of a level than are shown: the last one says how many there are beside those. */
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

/** Opens a group: what follows, up to `closeGroup`, is folded in the log of a job under this title. */
export function openGroup(title: string): string {
  return `::group::${escapeData(safeText(title))}\n`;
}

export const closeGroup = '::endgroup::\n';

/**
 * Text in which the runner finds no command, whatever manifest or service have written into it. It obeys lines that
 * begin with two colons, spaces aside, and `##[` anywhere.
 */
export function inertText(text: string): string {
  return text.replaceAll(/^(\s*):(?=:)/gm, `$1:${noSpace}`).replaceAll(/##(?=\[)/g, `##${noSpace}`);
}

const noSpace = '\u200b';

/** Escapes for the runner: these characters would end the message. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** These would also end the property. */
function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
