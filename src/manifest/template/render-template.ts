import type { Json } from '../../ground/json.ts';
import { describeValue, isMap, isScalar, type JsonMap, ownValue, shorten, unknownValue } from '../../ground/values.ts';
import { helpers } from './helpers.ts';
import {
  type Call,
  type Expression,
  holds,
  isReference,
  makeReferenceText,
  type NamePath,
  type Part,
  type Span,
  type Template,
  type TemplateFault,
} from './template.ts';

const maxOutputBytes = 256 * 1024;
/** Maximum number of evaluations in one rendering, so that nested loops end. */
const maxTemplateWork = 200_000;

export interface Scope {
  names: JsonMap;
  /** Returns references to the output of a task. If the path is wrong, reports an error and returns `undefined`. */
  output?(path: NamePath): Json | undefined;
  /** Returns the text of a file, or a reference to its upload. Omitted where a template may use neither. */
  file?(path: string, call: Call): Json | undefined;
  /** Returns the row of a joined table or of an axis value. `parts`: rest of the path. */
  rowAtHand?(path: NamePath): { value: Json; parts: readonly string[]; label?: string | undefined } | undefined;
  rowLabel?: string | undefined;
}

/**
 * Renders a template to a string. A template that is only one path renders to the value itself. A string with
 * references becomes `{ $text: [...] }`. If a part of it is unknown, `value` is `unknownValue`. If the template has
 * faults, `value` is omitted.
 */
export function renderTemplate(template: Template, scope: Scope): { value?: Json; faults: TemplateFault[] } {
  const rendering = new Rendering(scope);
  const value = rendering.run(template);
  return rendering.faults.length > 0 || value === undefined ? { faults: rendering.faults } : { value, faults: [] };
}

interface Item {
  value: Json;
  index: number;
  key: string | number;
  last: boolean;
}

class Rendering {
  readonly faults: TemplateFault[] = [];
  readonly #scope: Scope;
  readonly #items: Item[] = [];
  readonly #parts: Json[] = [];
  #size = 0;
  #work = 0;
  #unknown = false;
  #stopped = false;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  run(template: Template): Json | undefined {
    if (template.whole !== undefined) {
      const path = template.whole;
      if (path.is === 'call') return this.#evaluate(path);
      return isOutput(path) ? this.#scope.output?.(path) : this.#evaluate(path);
    }
    this.#render(template.body);
    if (this.#unknown) return unknownValue;
    if (this.#parts.every((part) => typeof part === 'string')) return this.#parts.join('');
    // A text with one reference and no other part has the same fingerprint as the reference alone.
    const [part, more] = this.#parts.filter((one) => one !== '');
    return part !== undefined && more === undefined ? part : makeReferenceText(this.#parts);
  }

  #render(parts: readonly Part[]): void {
    for (const part of parts) {
      if (this.#stopped) return;
      switch (part.is) {
        case 'text':
          this.#print(part.text, { start: 0, end: 1 });
          break;
        case 'value':
          this.#renderValue(part.value);
          break;
        case 'choice': {
          const condition = this.#known(this.#evaluate(part.condition), part.condition, isReference);
          const truth = condition === unknownValue ? undefined : holds(condition);
          if (condition === unknownValue) this.#unknown = true;
          else if (truth === undefined) this.#refuseCondition(condition, part.condition);
          else this.#render(truth !== part.negated ? part.then : part.else);
          break;
        }
        case 'loop':
          this.#renderLoop(part);
          break;
        default:
          part satisfies never;
      }
    }
  }

  #refuseCondition(value: Json | undefined, condition: Expression): void {
    const { written } = condition;
    const message = `\`${shorten(written)}\` is ${describeValue(value)}, which is neither true nor false`;
    const hint = `write true or false in the data, or compare it, as in (eq ${shorten(written)} "yes")`;
    this.#fault('MB1204', condition, message, hint);
  }

  #renderValue(expression: Expression): void {
    if (expression.is === 'name' && isOutput(expression)) {
      const value = this.#scope.output?.(expression);
      if (value === undefined || value === unknownValue) this.#unknown = true;
      else if (Array.isArray(value)) throw new Error(`internal error: ${expression.written} is printed into a text`);
      else this.#parts.push(value);
      return;
    }
    const value = this.#evaluate(expression);
    if (value === undefined) return;
    if (value === unknownValue) this.#unknown = true;
    else if (isScalar(value)) this.#print(String(value), expression);
    else if (isReference(value)) this.#parts.push(value);
    else
      this.faults.push({
        ...explainUnprintable(value, expression.written),
        start: expression.start,
        end: expression.end,
      });
  }

  #renderLoop(part: Part & { is: 'loop' }): void {
    const list = this.#known(this.#evaluate(part.list), part.list, isReference);
    if (list === unknownValue) {
      this.#unknown = true;
      return;
    }
    if (list !== undefined && list !== null && typeof list !== 'object' && list !== '' && list !== false) {
      this.#fault('MB1204', part.list, `\`${part.list.written}\` is not a list`, 'use {{#each}} with a list or a map');
      return;
    }
    const entries: [string | number, Json][] = Array.isArray(list)
      ? list.map((value, index) => [index, value])
      : isMap(list ?? undefined)
        ? Object.entries(list as JsonMap)
        : [];
    if (entries.length === 0) this.#render(part.else);
    for (const [index, [key, value]] of entries.entries()) {
      if (this.#stopped) return;
      this.#items.push({ value, index, key, last: index === entries.length - 1 });
      this.#render(part.body);
      this.#items.pop();
    }
  }

  #evaluate(expression: Expression): Json | undefined {
    this.#work += 1;
    if (this.#work > maxTemplateWork && !this.#stopped) {
      this.#stop(
        expression,
        'the template does too much work',
        'loop over fewer items, or prepare the text in a data file',
      );
    }
    if (this.#stopped) return undefined;
    switch (expression.is) {
      case 'literal':
        return expression.value;
      case 'name':
        return this.#lookUp(this.#scope.names, expression, this.#scope.rowAtHand?.(expression));
      case 'item':
        return this.#lookUp(this.#items.at(-1 - expression.up)?.value, expression);
      case 'loop': {
        const item = this.#items.at(-1);
        if (item === undefined) throw new Error('internal error: a loop name outside of a loop');
        if (expression.name === 'first') return item.index === 0;
        return item[expression.name];
      }
      case 'call': {
        const values = expression.arguments.map((argument) =>
          this.#known(this.#evaluate(argument), argument, holdsReference),
        );
        const helper = helpers[expression.helper];
        if (helper === undefined) throw new Error(`internal error: no helper ${expression.helper}`);
        if (values.includes(unknownValue)) return unknownValue;
        if (!helper.optional && values.includes(undefined)) return undefined;
        if (helper.ofFile === true) return this.#file(expression, values[0], helper.usage);
        const result = helper.run(values);
        if ('value' in result) return result.value;
        if ('missing' in result) {
          this.#fault('MB1203', expression, `\`${shorten(expression.written)}\` ${result.missing}`, result.hint);
          return undefined;
        }
        this.#fault('MB1204', expression, `\`${expression.helper}\` ${result.wrong}`, `write it as in ${helper.usage}`);
        return undefined;
      }
      default:
        return expression satisfies never;
    }
  }

  #known(value: Json | undefined, expression: Expression, isOpen: (value: Json) => boolean): Json | undefined {
    if (value === undefined || !isOpen(value)) return value;
    const message = `\`${shorten(expression.written)}\` cannot be used in a helper or a block: its value is known only after the job has run`;
    this.#fault('MB1202', expression, message, `use it alone: {{${shorten(expression.written)}}}`);
    return unknownValue;
  }

  #file(call: Call, path: Json | undefined, usage: string): Json | undefined {
    const { file } = this.#scope;
    if (file === undefined) {
      this.#fault('MB1202', call, `\`${call.helper}\` can only be used in \`with\``, 'use it in the request of a task');
      return undefined;
    }
    if (typeof path === 'string' && path !== '') return file(path, call);
    const hint = `name a file below the folder of the manifest, as in ${usage}`;
    this.#fault('MB1204', call, `\`${call.helper}\` needs the path of a file, but got ${describeValue(path)}`, hint);
    return undefined;
  }

  #lookUp(
    root: Json | undefined,
    path: Extract<Expression, { is: 'name' | 'item' }>,
    row?: { value: Json; parts: readonly string[]; label?: string | undefined },
  ): Json | undefined {
    let value = row === undefined ? root : row.value;
    for (const part of row?.parts ?? path.parts) {
      if (value === unknownValue) return unknownValue;
      value = value !== undefined && isReference(value) ? undefined : ownValue(value, part);
    }
    if (value !== undefined || path.optional) return value;
    const own = path.is === 'name' && path.parts[0] === 'row' ? this.#scope.rowLabel : undefined;
    const label = row?.label ?? own;
    const where = label === undefined ? 'has no value here' : `is missing in ${label}`;
    const hint = `give it a value, or set a default: {{default ${path.written} "…"}}`;
    this.#fault('MB1203', path, `\`${path.written}\` ${where}`, hint);
    return undefined;
  }

  #print(text: string, span: Span): void {
    this.#size += text.length;
    if (this.#size > maxOutputBytes) {
      this.#stop(span, `the template gives more than ${maxOutputBytes / 1024} KiB`, 'print less');
      return;
    }
    const last = this.#parts.length - 1;
    const before = this.#parts[last];
    if (typeof before === 'string') this.#parts[last] = before + text;
    else this.#parts.push(text);
  }

  #stop(span: Span, message: string, hint: string): void {
    this.#stopped = true;
    this.faults.push({ code: 'MB1007', message, hint, start: span.start, end: span.end });
  }

  #fault(code: TemplateFault['code'], span: Span, message: string, hint: string): void {
    this.faults.push({ code, message, hint, start: span.start, end: span.end });
  }
}

function holdsReference(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  return isReference(value) || Object.values(value).some(holdsReference);
}

function isOutput(path: NamePath): boolean {
  return path.parts[0] === 'tasks';
}

export function explainUnprintable(value: Json, written: string): Pick<TemplateFault, 'code' | 'message' | 'hint'> {
  const message = (what: string) => `\`${shorten(written)}\` is ${what} and cannot be printed into a text`;
  if (value === null) {
    const hint = `give it a value, or write {{default ${written} "…"}}`;
    return { code: 'MB1204', message: message('null'), hint };
  }
  if (Array.isArray(value)) {
    return { code: 'MB1204', message: message('a list'), hint: `write {{join ${written} ", "}} to print its items` };
  }
  const first = isMap(value) ? Object.keys(value)[0] : undefined;
  const field = first === undefined ? '' : `name a field of it, as in {{${written}.${first}}}, or `;
  return { code: 'MB1204', message: message('a map'), hint: `${field}write {{json ${written}}}` };
}
