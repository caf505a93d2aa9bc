import { readFile } from 'node:fs/promises';
import { exitCodes } from '../../contract/exit.ts';
import { kinds } from '../../kinds/index.ts';
import { exampleRow, helperDocs } from '../../manifest/template/helper-docs.ts';
import { safeJson } from '../../report/safe-text.ts';
import { helpersJson, helpersText } from '../../report/tables/helpers-text.ts';
import { kindsJson, kindsText } from '../../report/tables/kinds-text.ts';
import type { Terminal } from '../terminal.ts';
import { unknownName } from '../unknown-name.ts';

/** The JSON Schemas that are published with the package. */
const schemaNames = [
  'manifest',
  'plan',
  'lock',
  'event',
  'run',
  'diagnostics',
  'status',
  'graph',
  'watch',
  'failure',
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
      terminal.out(
        options.json ? `${safeJson(helpersJson(helperDocs, exampleRow), 2)}\n` : helpersText(helperDocs, look),
      );
      return exitCodes.done;
    case 'kinds': {
      const all = Object.values(kinds);
      terminal.out(options.json ? `${safeJson(kindsJson(all), 2)}\n` : kindsText(all, look));
      return exitCodes.done;
    }
    case 'manifest':
    case 'plan':
    case 'lock':
    case 'event':
    case 'run':
    case 'diagnostics':
    case 'status':
    case 'graph':
    case 'watch':
    case 'failure':
      terminal.out(await readFile(new URL(`../../../schemas/${topic}.schema.json`, import.meta.url), 'utf8'));
      return exitCodes.done;
    default:
      return topic satisfies never;
  }
}
