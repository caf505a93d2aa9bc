import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { readEnvironment } from '../../campaign/environment.ts';
import { campaignPaths, knownService } from '../../campaign/paths.ts';
import { CampaignError, titles } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import type { JsonMap } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { active, type Document, line, strong, table } from '../../report/document.ts';
import { pageText } from '../../report/manual/page-text.ts';
import {
  codeReference,
  commandReference,
  exitReference,
  keyReference,
  kindReference,
  kindSection,
  topicReference,
} from '../../report/manual/references.ts';
import { topicGroups, topics } from '../../report/manual/topics.ts';
import { namedCommands } from '../program/command-row.ts';
import { nearestCommand } from '../program/usage-errors.ts';
import { show, type Terminal } from '../terminal.ts';

const pages = new URL('../../manual/', import.meta.url);
const codePages = new URL('../../report/diagnostics/code-pages/', import.meta.url);
const manifestSchema = new URL('../../../schemas/manifest.schema.json', import.meta.url);

export async function help(topic: string | undefined, program: Command, terminal: Terminal): Promise<void> {
  const wanted = topic?.toLowerCase();
  const command = program.commands.find((one) => one.name() === wanted);
  const print = (page: string) => terminal.out(pageText(page, { style: terminal.outStyle, width: terminal.outWidth }));
  if (wanted === undefined || wanted === 'index') {
    program.outputHelp();
    terminal.out('\n');
    show(terminal, contents());
  } else if (topics.has(wanted)) {
    print(await readTopic(wanted, program, wanted === 'kinds' ? await storedDocument() : undefined));
    if (command !== undefined) terminal.out('\n');
    command?.outputHelp();
  } else if (command !== undefined) {
    command.outputHelp();
  } else if (Object.hasOwn(kinds, wanted) && kinds[wanted] !== undefined) {
    const section = kindSection(kinds[wanted], await storedDocument());
    print(`${section}\n\nManual page about all kinds: mediabatch help kinds\n`);
  } else if (/^m?b?\d+$/.test(wanted)) {
    print(await readCodePage(wanted));
  } else {
    throw unknownTopic(wanted, program);
  }
}

function contents(): Document {
  const columns = [{ title: '' }, { title: '', cut: 'wrap' as const }];
  const { Reference: reference, ...others } = topicGroups;
  const rowsOf = (names: object) => Object.entries(names).map(([name, about]) => [active(name), about]);
  return [
    line('The manual: mediabatch help TOPIC'),
    ...Object.entries(others).map(([group, names]) => line(strong(group), [table(columns, rowsOf(names))])),
    line([strong('Reference'), `: ${Object.keys(reference).join(', ')}`]),
  ];
}

export async function readTopic(name: string, program: Command, document?: ServiceDocument): Promise<string> {
  let page = await readFile(new URL(`${name}.md`, pages), 'utf8');
  for (const [place, reference = ''] of page.matchAll(/^\{reference: (\w+)\}$/gm)) {
    const text = await makeReference(reference, program, document);
    page = page.replace(place, () => text);
  }
  return page;
}

async function makeReference(name: string, program: Command, document?: ServiceDocument): Promise<string> {
  const references: Readonly<Record<string, () => string | Promise<string>>> = {
    topics: topicReference,
    keys: async () => keyReference(JSON.parse(await readFile(manifestSchema, 'utf8')) as JsonMap),
    kinds: () => kindReference(document),
    exits: exitReference,
    codes: codeReference,
    commands: () => commandReference(describeCommands(program)),
  };
  const make = references[name];
  if (make === undefined) throw new Error(`internal error: the manual has no reference ${name}`);
  return make();
}

function describeCommands(program: Command): Parameters<typeof commandReference>[0] {
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

async function storedDocument(): Promise<ServiceDocument | undefined> {
  const service = knownService(false, readEnvironment(process.env, process.cwd()));
  if (service === undefined) return undefined;
  const { readKeptServiceDocument } = await import('../../campaign/service-facts.ts');
  return readKeptServiceDocument(campaignPaths('campaign.yaml', {}), service);
}

async function readCodePage(wanted: string): Promise<string> {
  const code = `MB${wanted.replace(/\D/g, '').padStart(4, '0')}`;
  if (Object.hasOwn(titles, code)) return readFile(new URL(`${code}.md`, codePages), 'utf8');
  const hint = way('to list all codes', call('help', 'codes'));
  throw new CampaignError({ code: 'MB3000', message: `there is no code ${code}`, hint, value: code });
}

function unknownTopic(topic: string, program: Command): CampaignError {
  const near = nearestCommand(program, topic) ?? nearestName(topic, [...topics.keys()]);
  return new CampaignError({
    code: 'MB3000',
    message: `${topic} is not a manual page, a command or a code`,
    hint: near === undefined ? way('to list all pages and commands', call('help')) : `did you mean ${near}?`,
    value: topic,
  });
}
