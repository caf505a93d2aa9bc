import { readFile } from 'node:fs/promises';
import { exitCodes } from '../../contract/exit.ts';
import { kinds } from '../../kinds/index.ts';
import { exampleRow, helperDocs } from '../../manifest/template/helper-docs.ts';
import { pageText } from '../../report/manual/page-text.ts';
import { helperReference, kindReference } from '../../report/manual/references.ts';
import { helpersJson, kindsJson } from '../../report/tables/kinds-json.ts';
import { unknownName } from '../program/unknown-command.ts';
import { outAs, type Terminal } from '../terminal.ts';

/** The JSON Schemas that are published with the package. */
const schemaNames = [
  'manifest',
  'plan',
  'lock',
  'event',
  'run',
  'diagnostics',
  'status',
  'outputs',
  'result',
  'comparison',
  'cost',
  'runs',
  'picks',
  'decisions',
  'approvals',
  'report',
  'unlocked',
  'failure',
  'doctor',
  'models',
  'voices',
  'accounts',
  'jobs',
  'uploads',
  'workers',
  'gc',
  'destroy',
  'explanation',
  'expansion',
] as const;

/** Everything that `schema` can print. */
export const schemaTopics = [...schemaNames, 'helpers', 'kinds'] as const;

export interface SchemaOptions {
  json?: boolean;
}

/** A published JSON Schema as it is, or what a manifest may say: its kinds, its template helpers. */
export async function schema(name: string, options: SchemaOptions, terminal: Terminal): Promise<number> {
  const topic = schemaTopics.find((known) => known === name);
  const look = { style: terminal.outStyle, width: terminal.outWidth };
  switch (topic) {
    case undefined:
      throw unknownName('no schema', name, schemaTopics);
    case 'helpers':
      await outAs(terminal, options, {
        text: () => pageText(helperReference(), look),
        json: () => helpersJson(helperDocs, exampleRow),
      });
      return exitCodes.done;
    case 'kinds': {
      const all = Object.values(kinds);
      await outAs(terminal, options, { text: () => pageText(kindReference(), look), json: () => kindsJson(all) });
      return exitCodes.done;
    }
    default:
      terminal.out(await readFile(new URL(`../../../schemas/${topic}.schema.json`, import.meta.url), 'utf8'));
      return exitCodes.done;
  }
}
