import type { Diagnostic, DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, type JsonMap, mapOf, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { readLimit, readWhen } from '../read-manifest.ts';
import { classifyForeach, readWholeParts, readWholeTable } from '../rows/read-row-source.ts';
import { extensionOf } from '../rows/read-rows.ts';
import { listNames, nearestName } from '../suggest.ts';
import { helpers } from '../template/helpers.ts';
import { isTemplate } from '../template/template.ts';
import type { Places } from '../yaml/places.ts';

type Report = (of: 'key' | 'value', at: string[], message: string, hint: string, code?: DiagnosticCode) => void;

export function checkTaskKeys(value: Json, places: Places): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const tasks = ownValue(value, 'tasks');
  const tellOf =
    (...owner: string[]): Report =>
    (of, at, message, hint, code = 'MB1103') => {
      diagnostics.push({ code, severity: 'error', message, hint, place: places[of]([...owner, ...at]) });
    };
  for (const [name, table] of Object.entries(mapOf(ownValue(value, 'tables')))) {
    checkTable(name, table, tellOf('tables', name));
  }
  for (const [name, rows] of Object.entries(mapOf(ownValue(value, 'rows')))) {
    if (isMap(rows) && rows !== unknownValue) checkRows(`rows \`${name}\``, rows, tellOf('rows', name));
  }
  for (const [id, task] of isMap(tasks) ? Object.entries(tasks) : []) {
    if (!isMap(task) || task === unknownValue) continue;
    const report = tellOf('tasks', id);
    checkRows(`task \`${id}\``, task, report);
    checkSharedRows(id, task, report);
    checkExpectation(id, task, mapOf(ownValue(value, 'defaults')), report);
    checkPurchase(id, task, report);
    checkTextLimits(id, task, mapOf(ownValue(value, 'defaults')), report);
    checkGate(id, task, report);
    checkCanary(id, task, report);
  }
  return diagnostics;
}

function checkRows(owner: string, written: JsonMap, report: Report): void {
  checkForeach(owner, written, report);
  checkMaxItems(owner, written, report);
  checkSchema(owner, written, report);
  checkWhen(owner, written, report);
}

function checkSharedRows(id: string, task: JsonMap, report: Report): void {
  const rows = ownValue(task, 'rows');
  if (rows === undefined) return;
  for (const key of ['foreach', 'maxItems', 'schema', 'key']) {
    if (ownValue(task, key) === undefined) continue;
    const message = `task \`${id}\` has \`${key}\`, which \`rows\` already sets`;
    report('key', [key], message, 'remove the key, or write `foreach` and `key` in place of `rows`');
  }
}

function checkForeach(owner: string, task: JsonMap, report: Report): void {
  const foreach = ownValue(task, 'foreach');
  const found = isMap(foreach)
    ? findFileMistake(foreach, (part = 'file') => `\`foreach.${part}\` of ${owner}`)
    : undefined;
  if (found !== undefined) {
    report(found.part === 'file' ? 'value' : 'key', ['foreach', found.part], found.message, found.hint);
  }
  if (typeof foreach !== 'string') return;
  const wrong = wrongForeach[classifyForeach(foreach)]?.(shorten(foreach.trim()));
  if (wrong === undefined) return;
  report('value', ['foreach'], `\`foreach\` of ${owner} ${wrong.is}`, wrong.hint);
}

const wrongForeach: {
  readonly [form in ReturnType<typeof classifyForeach>]?: (written: string) => { is: string; hint: string };
} = {
  'list in quotes': (written) => ({
    is: 'is a list in quotes, which is a string',
    hint: `remove the quotes: ${written}`,
  }),
  'template with one brace': (written) => ({
    is: 'has single braces, so it is not a template',
    hint: `use double braces and quotes: "{${written}}"`,
  }),
  backslashes: () => ({
    is: 'has a backslash in it',
    hint: 'write a relative path with / between folders, as in data/products.csv',
  }),
  'web address': () => ({
    is: 'is a web address, and rows are read from files only',
    hint: 'download the file into the folder of the campaign and name it by a relative path',
  }),
};

function checkMaxItems(owner: string, task: JsonMap, report: Report): void {
  const foreach = ownValue(task, 'foreach');
  const maxItems = ownValue(task, 'maxItems');
  const whole = typeof foreach === 'string' ? readWholeParts(foreach) : undefined;
  if (whole !== undefined && maxItems === undefined) {
    const message = `${owner} has no \`maxItems\`, and the number of ${whole.parts} of \`${whole.task}\` is known only after that task has run`;
    const hint = 'add `maxItems:` with a whole number from 1 to 100; the plan shows and prices that number of steps';
    report('value', ['foreach'], message, hint, 'MB1102');
  } else if (whole === undefined && maxItems !== undefined && foreach !== unknownValue) {
    const message = `\`maxItems\` of ${owner} has no effect: \`foreach\` does not refer to parts of another task's output`;
    const hint = 'remove `maxItems`, or refer to the parts of a task, as in foreach: "{{tasks.talk.clips}}"';
    report('key', ['maxItems'], message, hint);
  }
}

function checkSchema(owner: string, task: JsonMap, report: Report): void {
  if (ownValue(task, 'schema') === undefined) return;
  const foreach = ownValue(task, 'foreach');
  if (isMap(foreach) || (typeof foreach === 'string' && classifyForeach(foreach) === 'file')) return;
  const message = `\`schema\` of ${owner} checks nothing: it is for the rows of a data file`;
  const table = typeof foreach === 'string' ? readWholeTable(foreach) : undefined;
  const hint =
    table === undefined
      ? 'remove `schema`, or read the rows from a file, as in foreach: products.csv'
      : `move \`schema\` to the table, as in tables: { ${shorten(table)}: { file: …, schema: … } }`;
  report('key', ['schema'], message, hint);
}

function checkWhen(owner: string, task: JsonMap, report: Report): void {
  const when = ownValue(task, 'when');
  if (typeof when !== 'string' || readWhen(when) !== undefined) return;
  const message = `\`when\` of ${owner} is the string "${shorten(when)}", not true or false`;
  report('value', ['when'], message, hintForWhen(when.trim()));
}

function hintForWhen(text: string): string {
  const example = 'write true, false, or a template, as in when: "{{row.active}}"';
  const truth = /^(?:yes|y|on|true|1)$/i.test(text) || (/^(?:no|n|off|false|0)$/i.test(text) ? false : undefined);
  if (truth !== undefined) return `YAML 1.2 reads only true and false as conditions: write when: ${truth}`;
  const name = /^\{?\s*((?:row|vars|matrix)\.[\w.-]+)\s*\}?$/.exec(text)?.[1];
  return name === undefined ? example : `did you mean when: "{{${name}}}"?`;
}

function checkPurchase(id: string, task: JsonMap, report: Report): void {
  const kind = ownValue(task, 'kind');
  const act = typeof kind === 'string' ? kinds[kind]?.act : undefined;
  if (act !== 'upload' && act !== 'post') return;
  const why = act === 'post' ? 'a post is sent once, after a separate consent (--publish)' : 'an upload costs nothing';
  for (const key of act === 'post' ? ['gate', 'canary', 'retry'] : ['gate', 'canary']) {
    const value = ownValue(task, key);
    if (value === undefined || value === unknownValue) continue;
    report('key', [key], `\`${key}\` of task \`${id}\` has no meaning: ${why}`, 'remove it');
  }
}

function checkTextLimits(id: string, task: JsonMap, defaults: JsonMap, report: Report): void {
  const kind = ownValue(task, 'kind');
  const preset = typeof kind === 'string' ? mapOf(ownValue(defaults, kind)) : {};
  const written = Object.keys({ ...preset, ...mapOf(ownValue(task, 'with')) });
  for (const field of Object.keys(mapOf(ownValue(task, 'limits')))) {
    if (written.includes(field)) continue;
    const nearest = nearestName(field, written);
    const message = `\`limits\` of task \`${id}\` names \`${shorten(field)}\`, which its request does not have`;
    const hint = nearest === undefined ? `its fields: ${listNames(written)}` : `did you mean \`${nearest}\`?`;
    report('key', ['limits', field], message, hint);
  }
}

function checkExpectation(id: string, task: JsonMap, defaults: JsonMap, report: Report): void {
  const expect = ownValue(task, 'expect');
  if (!isMap(expect) || expect === unknownValue) return;
  checkRanges(id, expect, report);
  const kindName = ownValue(task, 'kind');
  const media = typeof kindName === 'string' ? kinds[kindName]?.media : undefined;
  if (media === undefined) return;
  if (media === 'none') {
    const message = `\`expect\` of task \`${id}\` checks nothing: a task of kind ${kindName} has no output file`;
    report('key', ['expect'], message, 'remove it');
    return;
  }
  const type = ownValue(expect, 'type');
  if (typeof type === 'string' && /^(?:image|audio|video)(?:\/|$)/.test(type) && type.split('/')[0] !== media) {
    const message = `\`expect.type\` of task \`${id}\` is ${describeValue(type)}, and a task of kind ${kindName} gives ${media} files`;
    report('value', ['expect', 'type'], message, `write ${media}, or a media type that starts with ${media}/`);
  }
  const exact = typeof type === 'string' && type.includes('/') ? type : askedType(task, defaults);
  for (const { name, of, needs, decoded } of measured) {
    if (ownValue(expect, name) === undefined) continue;
    const why = !of.includes(media)
      ? `a task of kind ${kindName} gives ${media} files, which have no ${needs}`
      : decoded !== undefined && media === 'video'
        ? 'mediabatch does not decode videos'
        : decoded !== undefined && exact !== undefined && !decoded.includes(exact)
          ? `mediabatch decodes only ${decoded.join(', ')}`
          : undefined;
    if (why === undefined) continue;
    const message = `\`expect.${name}\` of task \`${id}\` cannot be measured: ${why}`;
    report('key', ['expect', name], message, 'remove it');
  }
}

function askedType(task: JsonMap, defaults: JsonMap): string | undefined {
  const ofKind = ownValue(defaults, String(ownValue(task, 'kind')));
  const format = ownValue(ownValue(task, 'with'), 'output_format') ?? ownValue(ofKind, 'output_format');
  return format === 'flac' ? 'audio/flac' : undefined;
}

type Media = 'image' | 'audio' | 'video';

const measured: readonly { name: string; of: readonly Media[]; needs: string; decoded?: readonly string[] }[] = [
  { name: 'width', of: ['image', 'video'], needs: 'width' },
  { name: 'height', of: ['image', 'video'], needs: 'height' },
  { name: 'ratio', of: ['image', 'video'], needs: 'ratio' },
  { name: 'duration', of: ['audio', 'video'], needs: 'duration' },
  ...['loudness', 'peak', 'silence'].map((name) => ({
    ...{ name, of: ['audio', 'video'] as const, needs: 'sound', decoded: ['audio/mpeg', 'audio/wav'] },
  })),
  { name: 'blank', of: ['image', 'video'], needs: 'picture', decoded: ['image/png', 'image/jpeg', 'image/webp'] },
];

function checkRanges(id: string, expect: JsonMap, report: Report): void {
  for (const name of ['width', 'height', 'duration', 'bytes', 'peak', 'loudness']) {
    const written = ownValue(expect, name);
    const pair = ownValue(written, 'lufs');
    const [min, max] = Array.isArray(pair)
      ? pair
      : [readLimit(ownValue(written, 'min')), readLimit(ownValue(written, 'max'))];
    if (typeof min !== 'number' || typeof max !== 'number' || min <= max) continue;
    const message = Array.isArray(pair)
      ? `\`expect.loudness.lufs\` of task \`${id}\` is from ${min} to ${max}, so no file fits`
      : `\`expect.${name}\` of task \`${id}\` has a \`min\` of ${min} above its \`max\` of ${max}, so no file fits`;
    const hint = Array.isArray(pair) ? `write [${max}, ${min}]` : `write { min: ${max}, max: ${min} }`;
    report('key', ['expect', name], message, hint);
  }
}

function checkCanary(id: string, task: JsonMap, report: Report): void {
  if (ownValue(ownValue(task, 'canary'), 'then') !== 'ask' || ownValue(task, 'gate') === undefined) return;
  const message = `\`canary\` and \`gate\` of task \`${id}\` cannot both ask for a pick`;
  report('value', ['canary', 'then'], message, 'write then: check, or remove `gate`');
}

function checkGate(id: string, task: JsonMap, report: Report): void {
  const [gate, takes] = [ownValue(task, 'gate'), ownValue(task, 'takes')];
  if (!isMap(gate) || gate === unknownValue) return;
  const [approve, choose, among] = [ownValue(gate, 'approve'), ownValue(gate, 'choose'), ownValue(gate, 'among')];
  if (approve !== undefined) {
    for (const [part, value] of Object.entries({ choose, among })) {
      if (value === undefined) continue;
      const message = `\`gate\` of task \`${id}\` cannot have both \`approve\` and \`${part}\`: with \`approve\`, each output is approved separately`;
      report('key', ['gate', part], message, `remove \`${part}\`, or write gate: { choose: 1, among: all }`);
    }
    return;
  }
  if (choose === undefined) {
    // A misspelled `choose` or `approve` is reported as an unknown key.
    if (Object.keys(gate).some((key) => nearestName(key, ['choose', 'approve']) !== undefined)) return;
    const hint = 'add `choose:` with the number of outputs to pick, or write gate: approve';
    report('value', ['gate'], `\`gate\` of task \`${id}\` has no \`choose\``, hint, 'MB1102');
    return;
  }
  const hasTakes = takes === unknownValue || (typeof takes === 'number' && takes > 1);
  if (hasTakes || (among !== undefined && among !== 'takes')) return;
  const hint = 'add `takes: 4`, or set `among` to a matrix axis or `all`, as in gate: { choose: 1, among: all }';
  const message = `\`gate\` of task \`${id}\` lets users choose among takes, but the task has only one take`;
  report('key', ['gate', among === undefined ? 'choose' : 'among'], message, hint);
}

const takenNames: readonly string[] = [
  ...['vars', 'row', 'matrix', 'key', 'take', 'tasks', 'tables'],
  ...['this', 'env', 'process'],
];

function checkTable(name: string, written: Json, report: Report): void {
  if (takenNames.includes(name) || Object.hasOwn(helpers, name)) {
    const message = `a table cannot be named \`${name}\`: the name is reserved in templates`;
    report('key', [], message, 'choose another name, such as copy');
  }
  const at = isMap(written) ? ['file'] : [];
  const file = isMap(written) ? ownValue(written, 'file') : written;
  if (typeof file !== 'string') return;
  if (isTemplate(file)) {
    const message = `the file of table \`${name}\` cannot be a template`;
    report('value', at, message, 'write the path of one file, as in file: copy.csv', 'MB1202');
    return;
  }
  const found = findFileMistake(isMap(written) ? written : { file }, (part) => {
    return part === undefined ? `table \`${name}\`` : `\`${part}\` of table \`${name}\``;
  });
  if (found?.part === 'file') report('value', at, found.message, found.hint);
  else if (found !== undefined) report('key', [found.part], found.message, found.hint);
}

const optionsOf = { separator: ['csv'], header: ['csv', 'xlsx'], sheet: ['xlsx'] } as const;

/**
 * Finds the first mistake in a reference to a data file. `nameOf`: returns the name of an option (or without an
 * argument, of the reference) for messages.
 */
function findFileMistake(
  given: JsonMap,
  nameOf: (part?: string) => string,
): { part: 'file' | keyof typeof optionsOf; message: string; hint: string } | undefined {
  const file = ownValue(given, 'file');
  if (typeof file !== 'string' || isTemplate(file)) return undefined;
  if (classifyForeach(file, true) !== 'file') {
    const message = `${nameOf()} is not the path of one file`;
    const hint = 'write the path of one file, as in file: data/copy.csv; download the file first if it is on the web';
    return { part: 'file', message, hint };
  }
  const extension: string = extensionOf(file) ?? '';
  for (const part of ['separator', 'header', 'sheet'] as const) {
    const fitting: readonly string[] = optionsOf[part];
    if (ownValue(given, part) === undefined || fitting.includes(extension)) continue;
    const message = `${nameOf(part)} has no effect on ${shorten(file)}`;
    return { part, message, hint: `remove the option: it applies only to .${fitting.join(' and .')} files` };
  }
  return undefined;
}
