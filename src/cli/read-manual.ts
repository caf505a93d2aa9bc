import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { JsonMap } from '../ground/values.ts';
import type { ServiceDocument } from '../kinds/service-document.ts';
import {
  agentsPage,
  type CommandDoc,
  codeReference,
  commandReference,
  exitReference,
  keyReference,
  kindReference,
  topicReference,
} from '../report/manual/references.ts';
import { namedCommands } from './program/command-row.ts';

const pages = new URL('../manual/', import.meta.url);
const manifestSchema = new URL('../../schemas/manifest.schema.json', import.meta.url);

/**
 * Returns a page of the manual as Markdown. `{reference: NAME}` in a page is replaced by text from a table.
 * `document`: stored document of the service.
 */
export async function readTopic(
  name: string,
  program: Command,
  { document }: { document?: ServiceDocument | undefined } = {},
): Promise<string> {
  let page = await readFile(new URL(`${name}.md`, pages), 'utf8');
  for (const [place, reference = ''] of page.matchAll(/^\{reference: (\w+)\}$/gm)) {
    const text = await makeReference(reference, { program, document });
    page = page.replace(place, () => text);
  }
  return page;
}

export async function readAgentsPage(): Promise<string> {
  return agentsPage(await readFile(new URL('agents.md', pages), 'utf8'));
}

async function makeReference(
  name: string,
  { program, document }: { program: Command; document: ServiceDocument | undefined },
): Promise<string> {
  switch (name) {
    case 'topics':
      return topicReference();
    case 'keys':
      return keyReference(JSON.parse(await readFile(manifestSchema, 'utf8')) as JsonMap);
    case 'kinds':
      return kindReference(document);
    case 'exits':
      return exitReference();
    case 'codes':
      return codeReference();
    case 'commands':
      return commandReference(describeCommands(program));
    default:
      throw new Error(`internal error: the manual has no reference ${name}`);
  }
}

function describeCommands(program: Command): CommandDoc[] {
  return namedCommands(program).map(([name, command, { examples }]) => {
    const help = command.createHelp();
    return {
      name,
      ...(command.parent === program && {
        listed: { theme: command.helpGroup().replace(/:$/, ''), summary: command.summary() },
      }),
      usage: help.commandUsage(command),
      description: help.commandDescription(command),
      options: help.visibleOptions(command).map((option) => ({
        flags: option.flags,
        description: help.optionDescription(option),
      })),
      examples: examples.map(([line, about]) => ({ line, about })),
    };
  });
}
