import { emptyMap } from '../../ground/values.ts';
import { type Manifest, type Task, taskPath } from '../../manifest/manifest.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { makeReference } from '../../manifest/template/references.ts';
import { addressPart } from '../address.ts';
import { type PartSource, shapeOfParts } from '../check/check-parts.ts';
import type { Draft } from './draft.ts';

/** Makes a row for each part that these steps of the other task may give. */
export function rowsOfParts(
  task: Task,
  { source, drafts }: { source: PartSource; drafts: readonly Draft[] },
  manifest: Manifest,
): Rows {
  const place = () => manifest.places.value(taskPath(task.id, 'foreach'));
  const rows = drafts.flatMap((draft) => {
    const key = nameOf(draft);
    return Array.from({ length: source.most }, (_, index): Row => {
      const number = index + 1;
      const value = emptyMap();
      const part = (field: string) => makeReference(draft.address, `${source.parts}.${index}.${field}`);
      Object.assign(value, { number, order: index, url: part('url'), id: part('id'), key });
      return {
        value,
        label: `part ${number} of ${draft.address}`,
        place,
        key: key === '' ? String(number) : `${key}-${number}`,
        part: { of: draft.address, index },
      };
    });
  });
  return { ...shapeOfParts(source), rows };
}

/** Names a step of the other task uniquely, as one text that can stand in a key. */
function nameOf(draft: Draft): string {
  const names = [...(draft.key === undefined ? [] : [draft.key]), ...Object.values(draft.matrix).map(addressPart)];
  return [...names, ...(draft.take === undefined ? [] : [String(draft.take)])].join('-').slice(0, 90);
}
