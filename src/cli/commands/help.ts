import type { Command } from 'commander';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { kinds } from '../../kinds/index.ts';
import { nearestName } from '../../manifest/suggest.ts';
import { active, type Document, line, strong, table } from '../../report/document.ts';
import { topicGroups, topics } from '../../report/manual/topics.ts';
import { nearestCommand } from '../program/unknown-command.ts';
import { show, type Terminal } from '../terminal.ts';

const alsoAbout: Readonly<Record<string, readonly string[]>> = {
  start: ['tutorial', 'quickstart', 'intro'],
  rows: [
    'csv',
    'data',
    'table',
    'tables',
    'join',
    'locale',
    'languages',
    'foreach',
    'matrix',
    'takes',
    'addresses',
    'address',
  ],
  templates: ['template', 'vars', 'variables', 'handlebars', 'helpers', 'references'],
  recovery: ['crash', 'crashes', 'kill', 'killed', 'money', 'safety', 'retry'],
  sends: ['unresolved', 'idempotency', 'unknown'],
  gates: ['gate', 'canary', 'canaries', 'drafts', 'picks'],
  decisions: ['decision', 'orphans'],
  cost: ['budget', 'prices', 'price', 'credits'],
  selection: ['selections', 'selectors', 'select', 'tags'],
  ci: ['github', 'actions', 'team'],
  service: ['key', 'token', 'environment', 'env', 'api'],
  trust: ['security', 'secrets'],
  keys: ['reference', 'yaml'],
  exit: ['exits', 'status-codes'],
  codes: ['errors', 'error', 'warnings'],
  posts: ['publish'],
  looking: ['gallery', 'history'],
  polling: ['poll', 'rate'],
  library: ['node', 'typescript'],
  engine: ['cluster', 'postgres', 'machines', 'distributed', 'store', 's3'],
};

export async function help(topic: string | undefined, program: Command, terminal: Terminal): Promise<number> {
  if (topic === undefined || topic === 'index') {
    program.outputHelp();
    terminal.out('\n');
    show(terminal, contents());
    return exitCodes.done;
  }
  const command = program.commands.find((one) => one.name() === topic.toLowerCase());
  if (command === undefined || topics.has(topic.toLowerCase())) return showPage(topic, program, terminal);
  command.outputHelp();
  return exitCodes.done;
}

async function showPage(topic: string, program: Command, terminal: Terminal): Promise<number> {
  const wanted = topic.toLowerCase();
  if (topics.has(wanted)) return (await import('./help-topic.ts')).helpTopic(wanted, program, terminal);
  const kind = Object.hasOwn(kinds, wanted) ? kinds[wanted] : undefined;
  if (kind !== undefined) return (await import('./help-topic.ts')).helpKind(kind, terminal);
  if (/^m?b?\d+$/.test(wanted)) return (await import('./help-topic.ts')).helpCode(topic.toUpperCase(), terminal);
  throw unknownTopic(topic, program);
}

function contents(): Document {
  const columns = [{ title: '' }, { title: '', cut: 'wrap' as const }];
  const { Reference: reference, ...others } = topicGroups;
  const groups = Object.entries(others).map(([group, names]) =>
    line(strong(group), [
      table(
        columns,
        Object.entries(names).map(([name, about]) => [active(name), about]),
      ),
    ]),
  );
  return [
    line('The manual: mediabatch help TOPIC'),
    ...groups,
    line([strong('Reference'), `: ${Object.keys(reference).join(', ')}`]),
  ];
}

function unknownTopic(topic: string, program: Command): CampaignError {
  const wanted = topic.toLowerCase();
  const names = [...topics.keys()];
  const near =
    names.find((name) => alsoAbout[name]?.includes(wanted)) ??
    nearestCommand(program, topic) ??
    nearestName(wanted, names);
  return new CampaignError({
    code: 'MB3000',
    message: `the manual has no page ${topic}, and there is no such command and no such code`,
    hint: near === undefined ? way('to see pages and commands', call('help')) : `did you mean ${near}?`,
    value: topic,
  });
}
