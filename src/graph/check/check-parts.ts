import { shorten } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { type RowSource, type Task, taskPath } from '../../manifest/manifest.ts';
import type { Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import type { Expansion } from '../expansion.ts';

export type PartSource = Extract<RowSource, { from: 'parts' }>;

/** Names that the templates of a task that goes through parts can use. */
const columns = ['number', 'order', 'url', 'id', 'key'];

/** The form of the rows, before the steps that give the parts are known. */
export function shapeOfParts(source: PartSource): Rows {
  return { rows: [], label: `\`tasks.${source.task}.${source.parts}\``, columns };
}

/** Tells whether the named task has such parts, and reports it when not. */
export function hasParts(task: Task, source: PartSource, expansion: Expansion): boolean {
  const { manifest } = expansion;
  const place = manifest.places.value(taskPath(task.id, 'foreach'));
  const producer = manifest.tasks.find(({ id }) => id === source.task);
  const written = `tasks.${source.task}.${source.parts}`;
  const wrong = (code: 'MB1203' | 'MB1403' | 'MB1405', message: string, hint: string): false => {
    expansion.reportError({ code, message, hint, place });
    return false;
  };
  if (producer === undefined) {
    const names = manifest.tasks.map(({ id }) => id).filter((id) => id !== task.id);
    const message = `\`${written}\` names a task that does not exist: \`${shorten(source.task)}\``;
    return wrong('MB1403', message, suggestName(source.task, names, { what: 'tasks' }));
  }
  const kind = producer.kind === undefined ? undefined : kinds[producer.kind];
  if (kind === undefined) return true;
  if (kind.parts === undefined) {
    const having = Object.values(kinds).flatMap(({ name, parts }) =>
      parts === undefined ? [] : [`${name} (${parts.name})`],
    );
    const message = `\`${written}\` is no list: a task of kind ${kind.name} gives one output`;
    return wrong('MB1203', message, `kinds that give a list: ${having.join(', ')}`);
  }
  if (kind.parts.name !== source.parts) {
    const message = `\`${written}\` is not known: a task of kind ${kind.name} gives \`${kind.parts.name}\``;
    return wrong('MB1203', message, `write foreach: "{{tasks.${source.task}.${kind.parts.name}}}"`);
  }
  if (producer.gate?.is === 'choose') {
    const message = `\`${written}\` cannot be gone through: which \`${source.task}\` is meant is chosen at its gate, when it has run`;
    return wrong(
      'MB1405',
      message,
      `write gate: approve for \`${source.task}\`, or go through the parts of a task without a gate`,
    );
  }
  return true;
}
