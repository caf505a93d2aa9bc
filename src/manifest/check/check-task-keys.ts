import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { readWhen } from '../read-task-limits.ts';
import { classifyForeach, readWholeParts } from '../rows/read-row-source.ts';
import { extensionOf } from '../rows/read-rows.ts';
import type { TellTask } from '../tell-task.ts';
import { isTemplate } from '../template/template.ts';
import type { Places } from '../yaml/places.ts';
import { checkExpectation } from './check-expectation.ts';
import { checkCanary, checkGate } from './check-gate.ts';

/** Checks the keys of a task against each other and against its kind, which a shape alone cannot express. */
export function checkTaskKeys(value: Json, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const tasks = ownValue(value, 'tasks');
  for (const [id, task] of isMap(tasks) ? Object.entries(tasks) : []) {
    if (!isMap(task) || task === unknownValue) continue;
    const tell: TellTask = ({ key, part, of }, { code = 'MB1103', message, hint }) => {
      const path = ['tasks', id, key, ...(part === undefined ? [] : [part])];
      diagnostics.push({ code, severity: 'error', message, hint, place: places[of](path) });
    };
    checkForeach(id, task, tell);
    checkMaxItems(id, task, tell);
    checkSchema(id, task, tell);
    checkWhen(id, task, tell);
    checkExpectation(id, task, tell);
    checkRetry(id, task, tell);
    checkGate(id, task, tell);
    checkCanary(id, task, tell);
  }
  return diagnostics;
}

function checkForeach(id: string, task: JsonMap, tell: TellTask): void {
  const foreach = ownValue(task, 'foreach');
  if (isMap(foreach)) checkFileSource(id, foreach, tell);
  if (typeof foreach !== 'string') return;
  const at = { key: 'foreach', of: 'value' } as const;
  const kind = classifyForeach(foreach);
  switch (kind) {
    case 'template':
    case 'file':
    case 'files':
      return;
    case 'list in quotes': {
      const message = `\`foreach\` of task \`${id}\` is a list in quotes, which is a text`;
      tell(at, { message, hint: `take the quotes off: ${shorten(foreach)}` });
      return;
    }
    case 'template with one brace': {
      const message = `\`foreach\` of task \`${id}\` has single braces, so it is no template`;
      tell(at, { message, hint: `write two of them, in quotes: "{${shorten(foreach.trim())}}"` });
      return;
    }
    case 'web address': {
      const message = `\`foreach\` of task \`${id}\` is a web address, and rows are read from files only`;
      tell(at, { message, hint: 'download the file into the folder of the campaign and name it by a relative path' });
      return;
    }
    default: {
      const never: never = kind;
      throw new Error(`internal error: a foreach that is ${String(never)}`);
    }
  }
}

function checkFileSource(id: string, { file, separator }: JsonMap, tell: TellTask): void {
  if (typeof file !== 'string' || isTemplate(file)) return;
  if (classifyForeach(file) !== 'file') {
    const message = `\`foreach.file\` of task \`${id}\` is not the path of one file`;
    tell(
      { key: 'foreach', part: 'file', of: 'value' },
      { message, hint: 'write the path of one file, as in file: products.csv' },
    );
  } else if (separator !== undefined && extensionOf(file) !== 'csv') {
    const message = `\`foreach.separator\` of task \`${id}\` separates nothing: ${shorten(file)} is no table`;
    tell(
      { key: 'foreach', part: 'separator', of: 'key' },
      { message, hint: 'remove it; it is for .csv and .tsv files' },
    );
  }
}

function checkMaxItems(id: string, task: JsonMap, tell: TellTask): void {
  const foreach = ownValue(task, 'foreach');
  const maxItems = ownValue(task, 'maxItems');
  const whole = typeof foreach === 'string' ? readWholeParts(foreach) : undefined;
  if (whole !== undefined && maxItems === undefined) {
    tell(
      { key: 'foreach', of: 'value' },
      {
        code: 'MB1102',
        message: `task \`${id}\` has no \`maxItems\`, and how many ${whole.parts} \`${whole.task}\` gives is known only when it has run`,
        hint: 'add `maxItems:` with a whole number from 1 to 100; the plan shows and prices that many',
      },
    );
  } else if (whole === undefined && maxItems !== undefined && foreach !== unknownValue) {
    const message = `\`maxItems\` of task \`${id}\` limits nothing: its rows are no parts of another task's output`;
    const hint = 'remove it, or go through the parts of a task, as in foreach: "{{tasks.talk.clips}}"';
    tell({ key: 'maxItems', of: 'key' }, { message, hint });
  }
}

function checkSchema(id: string, task: JsonMap, tell: TellTask): void {
  if (ownValue(task, 'schema') === undefined) return;
  const foreach = ownValue(task, 'foreach');
  if (isMap(foreach) || (typeof foreach === 'string' && classifyForeach(foreach) === 'file')) return;
  const message = `\`schema\` of task \`${id}\` checks nothing: it is for the rows of a data file`;
  const hint = 'remove it, or read the rows from a file, as in foreach: products.csv';
  tell({ key: 'schema', of: 'key' }, { message, hint });
}

function checkWhen(id: string, task: JsonMap, tell: TellTask): void {
  const when = ownValue(task, 'when');
  if (typeof when !== 'string' || readWhen(when) !== undefined) return;
  tell(
    { key: 'when', of: 'value' },
    {
      message: `\`when\` of task \`${id}\` is the text "${shorten(when)}", not true or false`,
      hint: hintForWhen(when.trim()),
    },
  );
}

function hintForWhen(text: string): string {
  const example = 'write true, false, or a template, as in when: "{{row.active}}"';
  if (/^(?:yes|y|on|true|1)$/i.test(text)) return `in YAML 1.2 only true and false are no texts: write when: true`;
  if (/^(?:no|n|off|false|0)$/i.test(text)) return `in YAML 1.2 only true and false are no texts: write when: false`;
  const name = /^\{?\s*((?:row|vars|matrix)\.[\w.-]+)\s*\}?$/.exec(text)?.[1];
  return name === undefined ? example : `did you mean when: "{{${name}}}"?`;
}

function checkRetry(id: string, task: JsonMap, tell: TellTask): void {
  const kind = ownValue(task, 'kind');
  if (ownValue(task, 'retry') === undefined || typeof kind !== 'string' || kinds[kind]?.act !== 'post') return;
  const message = `\`retry\` of task \`${id}\` cannot be: a ${kind} is sent once, and never again by itself`;
  tell({ key: 'retry', of: 'key' }, { message, hint: 'remove it' });
}
