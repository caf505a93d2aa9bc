import type { DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import {
  describeValue,
  isScalar,
  ownValue,
  type Path,
  type Scalar,
  shorten,
  unknownValue,
} from '../../ground/values.ts';
import { type Matrix, type Task, taskPath } from '../../manifest/manifest.ts';
import { readWholeTable } from '../../manifest/rows/read-row-source.ts';
import type { Row, Rows } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { addressPart } from '../address.ts';
import type { Expansion } from '../expansion.ts';
import type { Cell, Cells } from './draft.ts';
import { findTable, readVar } from './task-rows.ts';

const maxCells = 10_000;

/**
 * Expands a matrix. Without a matrix, returns a single empty cell. If the matrix has mistakes, reports them and returns
 * `undefined`.
 */
export function expandMatrix(task: Task, expansion: Expansion): Cells | undefined {
  if (task.matrix === undefined) return { axes: [], cells: [emptyCell()], rows: new Map() };
  return new MatrixReading(task, task.matrix, expansion).run();
}

interface Axis {
  name: string;
  values: { value: Scalar; row: Row }[];
}

class MatrixReading {
  readonly #task: Task;
  readonly #matrix: Matrix;
  readonly #expansion: Expansion;
  #isBroken: boolean;

  constructor(task: Task, matrix: Matrix, expansion: Expansion) {
    this.#task = task;
    this.#matrix = matrix;
    this.#expansion = expansion;
    this.#isBroken = matrix.broken;
  }

  run(): Cells | undefined {
    const axes = this.#matrix.axes.flatMap((axis) => this.#readAxis(axis) ?? []);
    const names = axes.length > 0 ? axes.map((axis) => axis.name) : Object.keys(this.#matrix.include[0] ?? {});
    if (axes.length === 0) for (const name of names) this.#checkAxisName(name, ['include', 0, name]);
    if (names.length === 0 && !this.#isBroken) {
      this.#report([], 'the matrix has no axes', 'write `matrix: { ratio: ["1:1", "9:16"] }`');
    }
    if (this.#isBroken) return undefined;
    const size = axes.reduce((product, axis) => product * axis.values.length, axes.length > 0 ? 1 : 0);
    if (size + this.#matrix.include.length > maxCells) {
      const shape = axes.map((axis) => axis.values.length).join(' × ');
      const [count, most] = [size, maxCells].map((number) => number.toLocaleString('en-US'));
      const message = `the matrix has ${shape} = ${count} cells; at most ${most} are allowed`;
      this.#report([], message, 'use shorter lists, or split the task', { code: 'MB1007' });
      return undefined;
    }
    this.#checkExclude(axes);
    const { exclude } = this.#matrix;
    const kept = axes.length === 0 ? [] : product(axes).filter((cell) => !exclude.some((one) => matches(cell, one)));
    const cells = this.#include(kept, names);
    if (this.#isBroken) return undefined;
    if (cells.length === 0) {
      const message = `task \`${this.#task.id}\` makes no steps: \`exclude\` removes every cell of its matrix`;
      this.#report(['exclude'], message, 'keep at least one cell, or remove the task', { code: 'MB1408' });
    }
    const rows = axes.map(({ name, values }) => {
      return [name, new Map(values.map(({ value, row }) => [String(value), row]))] as const;
    });
    return { axes: names, cells, rows: new Map(rows) };
  }

  #readAxis({ name, values }: Matrix['axes'][number]): Axis | undefined {
    const rows = Array.isArray(values)
      ? this.#rowsOf(values, this.#path(name))
      : (this.#readReference(name, values.text) ?? 'unknown');
    const list = rows === 'unknown' ? undefined : this.#valuesIn(rows, name);
    if (list === undefined) this.#isBroken = true;
    if (!this.#checkAxisName(name, [name]) || list === undefined) return undefined;
    if (list.length === 0) {
      this.#report([name], `the axis \`${name}\` has no values`, 'give the axis a value, or remove the axis');
    }
    this.#checkValues(name, list);
    return { name, values: list };
  }

  #readReference(name: string, text: string): Rows | 'unknown' | undefined {
    if (readWholeTable(text) !== undefined) return findTable(text, this.#path(name), this.#expansion)?.rows;
    const found = readVar(text, this.#path(name), this.#expansion);
    if (found === undefined || Array.isArray(found.value)) return found && this.#rowsOf(found.value, found.path);
    const { value, path } = found;
    const hint = isScalar(value)
      ? `make \`${path.join('.')}\` a list: [${JSON.stringify(typeof value === 'string' ? shorten(value) : value)}]`
      : 'an axis is a list of strings, numbers, and maps with `id`';
    this.#report([name], `the axis \`${name}\` is ${describeValue(value)}`, hint);
    return undefined;
  }

  #rowsOf(list: Json, path: Path): Rows {
    const { places } = this.#expansion.manifest;
    const label = `\`${path.at(-1)}\``;
    const rows = (Array.isArray(list) ? list : []).map((value, index): Row => {
      return { value, label: `value ${index + 1} of ${label}`, place: () => places.value([...path, index]) };
    });
    return { rows, label, columns: ['id'] };
  }

  /**
   * Returns the values of an axis: scalars, or a column of a table. The values are in the column `id`, else in the
   * column with the axis's name, else in the only column.
   */
  #valuesIn({ rows, label, columns = [] }: Rows, axis: string): Axis['values'] | undefined {
    const own = ['id', axis].find((name) => columns.includes(name));
    const column = own ?? (columns.length === 1 ? columns[0] : undefined);
    const values: Axis['values'] = [];
    for (const row of rows) {
      const cell = column === undefined ? undefined : ownValue(row.value, column);
      const value = isScalar(row.value) ? row.value : cell;
      if (isScalar(value)) {
        values.push({ value, row });
        continue;
      }
      if (value === unknownValue || row.value === unknownValue) return undefined;
      const related = [{ message: `the axis \`${axis}\``, place: this.#placeOf([axis]) }];
      const message =
        column === undefined
          ? `cannot determine which column of ${label} has the values of the axis \`${axis}\``
          : `${row.label} has no text or number in \`${column}\` for the axis \`${axis}\``;
      const hint =
        column === undefined ? `rename one column to \`id\` or \`${axis}\`` : 'fill the cell, or remove the row';
      this.#expansion.reportError({ code: 'MB1103', message, hint, place: row.place(), related });
      return undefined;
    }
    return values;
  }

  #checkAxisName(name: string, at: Path): boolean {
    if (name !== 'key' && name !== 'take' && /^[A-Za-z_][A-Za-z0-9_-]{0,99}$/.test(name)) return true;
    const hint = 'use letters, digits, `_` and `-`, starting with a letter or `_`; `key` and `take` are reserved';
    this.#report(at, `an axis cannot be named \`${shorten(name)}\``, hint);
    return false;
  }

  #checkValues(name: string, values: Axis['values']): void {
    const seen = new Map<string, Axis['values'][number]>();
    for (const one of values) {
      const [value, part] = [shorten(String(one.value)), addressPart(String(one.value))];
      const place = one.row.place;
      const first = seen.get(part);
      if (part === '') {
        const hint = 'write a value: the address of the step contains the value';
        this.#report([], `a value of the axis \`${name}\` is empty`, hint, { place: place() });
      } else if (first === undefined) {
        seen.set(part, one);
      } else if (String(first.value) === String(one.value)) {
        const at = { place: place(), first: first.row.place() };
        this.#report([], `the axis \`${name}\` has the value "${value}" twice`, 'remove one of them', at);
      } else {
        const both = `"${shorten(String(first.value))}" and "${value}" of the axis \`${name}\``;
        const hint = 'change one of the values, so that the addresses of the steps differ';
        const at = { code: 'MB1402', place: place(), first: first.row.place() } as const;
        this.#report([], `${both} give the same address \`${shorten(part)}\``, hint, at);
      }
    }
  }

  #checkExclude(axes: readonly Axis[]): void {
    for (const [index, pattern] of this.#matrix.exclude.entries()) {
      for (const [axis, value] of Object.entries(pattern)) {
        const known = axes.find((one) => one.name === axis)?.values.map((one) => String(one.value));
        if (known?.includes(String(value)) === true) continue;
        const [what, name] = known === undefined ? ['the axis ', axis] : [`${axis} `, String(value)];
        const names = known ?? axes.map((one) => one.name);
        const hint = suggestName(name, names, { what: known === undefined ? 'axes' : 'values' });
        const message = `\`exclude\` names ${what}\`${shorten(name)}\`, which the matrix does not have`;
        this.#report(['exclude', index, axis], message, hint);
      }
    }
  }

  #include(cells: Cell[], axes: readonly string[]): Cell[] {
    const all = new Map(cells.map((cell) => [nameOf(cell, axes), cell]));
    for (const [index, written] of this.#matrix.include.entries()) {
      const wrong = (message: string, hint: string) =>
        this.#report(['include', index], `cell ${index + 1} of \`include\` ${message}`, hint);
      const odd = Object.keys(written).find((axis) => !axes.includes(axis));
      const missing = axes.find((axis) => (written[axis] ?? '') === '');
      const name = nameOf(written, axes);
      if (odd !== undefined) {
        wrong(`has the axis \`${shorten(odd)}\`, which does not exist`, suggestName(odd, axes, { what: 'axes' }));
      } else if (missing !== undefined) {
        wrong(`has no value for the axis \`${missing}\``, 'write a value: every cell has a value for each axis');
      } else if (all.has(name)) {
        wrong(`exists already: ${name}`, 'remove it');
      } else {
        all.set(name, Object.assign(emptyCell(), Object.fromEntries(axes.map((axis) => [axis, written[axis]]))));
      }
    }
    return [...all.values()];
  }

  #path(...at: Path): Path {
    return taskPath(this.#task.id, 'matrix', ...at);
  }

  #placeOf(at: Path): Place {
    return this.#expansion.manifest.places.value(this.#path(...at));
  }

  #report(
    at: Path,
    message: string,
    hint: string,
    { code = 'MB1103', place = this.#placeOf(at), first }: { code?: DiagnosticCode; place?: Place; first?: Place } = {},
  ): void {
    this.#isBroken = true;
    const related = first && [{ message: 'the first one', place: first }];
    this.#expansion.reportError({ code, message, hint, place, related });
  }
}

function product(axes: readonly Axis[]): Cell[] {
  let cells = [emptyCell()];
  for (const { name, values } of axes) {
    cells = cells.flatMap((cell) => values.map(({ value }) => Object.assign(emptyCell(), cell, { [name]: value })));
  }
  return cells;
}

function matches(cell: Cell, pattern: Cell): boolean {
  return Object.entries(pattern).every(([axis, value]) => String(cell[axis]) === String(value));
}

function nameOf(cell: Cell, axes: readonly string[]): string {
  return axes.map((axis) => addressPart(String(cell[axis]))).join(',');
}

function emptyCell(): Cell {
  return Object.create(null) as Cell;
}
