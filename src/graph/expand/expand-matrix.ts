import type { DiagnosticCode, Place } from '../../ground/diagnostic.ts';
import {
  describeValue,
  isMap,
  isScalar,
  type JsonMap,
  ownValue,
  type Path,
  type Scalar,
  shorten,
  unknownValue,
} from '../../ground/values.ts';
import { type Matrix, type Task, taskPath } from '../../manifest/manifest.ts';
import { isAxisValue } from '../../manifest/read-manifest.ts';
import { readWholeTable } from '../../manifest/rows/read-row-source.ts';
import type { Row } from '../../manifest/rows/rows.ts';
import { suggestName } from '../../manifest/suggest.ts';
import { addressPart } from '../address.ts';
import type { Expansion } from '../expansion.ts';
import type { Cell, Cells } from './draft.ts';
import { findTable, readVar } from './task-rows.ts';

const maxCells = 10_000;

/** Expands a matrix; without one, returns a single empty cell. `undefined`: it is wrong, which was reported. */
export function expandMatrix(task: Task, expansion: Expansion): Cells | undefined {
  if (task.matrix === undefined) return { axes: [], cells: [emptyCell()], rows: new Map() };
  return new MatrixReading(task, task.matrix, expansion).run();
}

interface AxisValue {
  value: Scalar;
  row?: Row;
}

interface Axis {
  name: string;
  values: AxisValue[];
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
    const axes = this.#readAxes();
    const names = axes.length > 0 ? axes.map((axis) => axis.name) : Object.keys(this.#matrix.include[0] ?? {});
    if (axes.length === 0) for (const name of names) this.#checkAxisName(name, ['include', 0, name]);
    if (names.length === 0 && !this.#isBroken) {
      this.#report('MB1103', [], 'the matrix has no axes', 'write `matrix: { ratio: ["1:1", "9:16"] }`');
    }
    if (this.#isBroken) return undefined;
    const size = axes.reduce((product, axis) => product * axis.values.length, axes.length > 0 ? 1 : 0);
    if (size + this.#matrix.include.length > maxCells) {
      const shape = axes.map((axis) => axis.values.length).join(' × ');
      const message = `the matrix has ${shape} = ${size.toLocaleString('en-US')} cells; at most ${maxCells.toLocaleString('en-US')} are allowed`;
      this.#report('MB1007', [], message, 'use shorter lists, or split the task');
      return undefined;
    }
    const kept = axes.length > 0 ? this.#exclude(product(axes), axes) : [];
    const cells = this.#include(kept, names);
    if (this.#isBroken) return undefined;
    if (cells.length === 0) {
      const message = `task \`${this.#task.id}\` makes no steps: \`exclude\` removes every cell of its matrix`;
      this.#report('MB1408', ['exclude'], message, 'leave one cell, or remove the task');
    }
    return { axes: names, cells, rows: rowsOf(axes) };
  }

  #readAxes(): Axis[] {
    const axes: Axis[] = [];
    for (const { name, values } of this.#matrix.axes) {
      const list = Array.isArray(values)
        ? this.#valuesOf(values, name, this.#path(name))
        : this.#readReference(name, values.text);
      if (!this.#checkAxisName(name, [name]) || list === undefined) continue;
      if (list.length === 0)
        this.#report('MB1103', [name], `the axis \`${name}\` has no values`, 'give it a value, or remove it');
      this.#checkValues(name, list);
      axes.push({ name, values: list });
    }
    return axes;
  }

  #readReference(name: string, text: string): AxisValue[] | undefined {
    const values = readWholeTable(text) === undefined ? this.#readVar(name, text) : this.#readTable(name, text);
    if (values === undefined) this.#isBroken = true;
    return values;
  }

  #readVar(name: string, text: string): AxisValue[] | undefined {
    const found = readVar(text, this.#path(name), this.#expansion);
    if (found === undefined) return undefined;
    const list = found.value;
    if (Array.isArray(list) && list.every(isAxisValue)) return this.#valuesOf(list, name, found.path);
    const odd = Array.isArray(list) ? list.find((item) => !isAxisValue(item)) : undefined;
    if (odd === unknownValue) return undefined;
    const without = isMap(odd) ? ' without `id`' : '';
    const message = `the axis \`${name}\` is ${odd === undefined ? describeValue(list) : `a list with ${describeValue(odd)}${without} in it`}`;
    const hint = isScalar(list)
      ? `make \`${found.path.join('.')}\` a list: [${JSON.stringify(typeof list === 'string' ? shorten(list) : list)}]`
      : 'an axis is a list of texts, numbers, and maps with `id`';
    this.#report('MB1103', [name], message, hint);
    return undefined;
  }

  #valuesOf(list: readonly (Scalar | JsonMap)[], axis: string, path: Path): AxisValue[] {
    const { places } = this.#expansion.manifest;
    return list.map((item, index): AxisValue => {
      const id = ownValue(item, 'id');
      if (!isMap(item) || !isScalar(id)) return { value: isScalar(item) ? item : '' };
      const label = `value ${index + 1} of the axis \`${axis}\``;
      return { value: id, row: { value: item, label, place: () => places.value([...path, index]) } };
    });
  }

  /** Reads the values of an axis from a table: the column `id`, or the one with the axis's name, or the only one. */
  #readTable(axis: string, text: string): AxisValue[] | undefined {
    const found = findTable(text, this.#path(axis), this.#expansion);
    if (found === undefined || found.rows === 'unknown') return undefined;
    const { columns = [], label, rows } = found.rows;
    const column =
      ['id', axis].find((name) => columns.includes(name)) ?? (columns.length === 1 ? columns[0] : undefined);
    const values: AxisValue[] = [];
    for (const row of rows) {
      const value = column === undefined ? row.value : ownValue(row.value, column);
      if (isScalar(value)) {
        values.push({ value, row });
        continue;
      }
      if (value === unknownValue) return undefined;
      const place = row.place();
      const { manifest } = this.#expansion;
      const related = [{ message: `the axis \`${axis}\``, place: manifest.places.value(this.#path(axis)) }];
      const message =
        column === undefined
          ? `it is not clear which column of ${label} has the values of the axis \`${axis}\``
          : `${row.label} has no text or number in \`${column}\` for the axis \`${axis}\``;
      const hint =
        column === undefined ? `name that column \`id\` or \`${axis}\`` : 'give it a value, or remove the row';
      this.#expansion.reportError({ code: 'MB1103', message, hint, place, related });
      return undefined;
    }
    return values;
  }

  #checkAxisName(name: string, at: Path): boolean {
    if (name !== 'key' && name !== 'take' && /^[A-Za-z_][A-Za-z0-9_-]{0,99}$/.test(name)) return true;
    const hint =
      'use letters, digits, `_` and `-`, starting with a letter or `_`; `key` and `take` have a meaning of their own';
    this.#report('MB1103', at, `an axis cannot be named \`${shorten(name)}\``, hint);
    return false;
  }

  /** Reports values that are equal, or that would be equal in the address of a step. */
  #checkValues(name: string, values: readonly AxisValue[]): void {
    const seen = new Map<string, { value: Scalar; place: () => Place }>();
    for (const [index, { value, row }] of values.entries()) {
      const place = row?.place ?? (() => this.#expansion.manifest.places.value(this.#path(name, index)));
      const part = addressPart(String(value));
      if (part === '') {
        const hint = 'write a value: it is a part of the address of the step';
        this.#reportAt(place(), 'MB1103', `a value of the axis \`${name}\` is empty`, hint);
        continue;
      }
      const first = seen.get(part);
      if (first === undefined) {
        seen.set(part, { value, place });
        continue;
      }
      const same = String(first.value) === String(value);
      const message = same
        ? `the axis \`${name}\` has the value "${shorten(String(value))}" twice`
        : `"${shorten(String(first.value))}" and "${shorten(String(value))}" of the axis \`${name}\` give the same address \`${shorten(part)}\``;
      const hint = same ? 'remove one of them' : 'change one of them, so that their addresses differ';
      this.#reportAt(place(), same ? 'MB1103' : 'MB1402', message, hint, first.place());
    }
  }

  #exclude(cells: Cell[], axes: readonly Axis[]): Cell[] {
    for (const [index, pattern] of this.#matrix.exclude.entries()) {
      for (const [axis, value] of Object.entries(pattern)) {
        const known = axes.find((one) => one.name === axis)?.values.map((one) => String(one.value));
        if (known?.includes(String(value)) === true) continue;
        const [what, name] = known === undefined ? ['the axis ', axis] : [`${axis} `, String(value)];
        const names = known ?? axes.map((one) => one.name);
        const hint = suggestName(name, names, { what: known === undefined ? 'axes' : 'values' });
        const message = `\`exclude\` names ${what}\`${shorten(name)}\`, which the matrix does not have`;
        this.#report('MB1103', ['exclude', index, axis], message, hint);
      }
    }
    return cells.filter((cell) => !this.#matrix.exclude.some((pattern) => matches(cell, pattern)));
  }

  #include(cells: Cell[], axes: readonly string[]): Cell[] {
    const all = new Map(cells.map((cell) => [nameOf(cell, axes), cell]));
    for (const [index, written] of this.#matrix.include.entries()) {
      const wrong = (message: string, hint: string) =>
        this.#report('MB1103', ['include', index], `cell ${index + 1} of \`include\` ${message}`, hint);
      const odd = Object.keys(written).find((axis) => !axes.includes(axis));
      const missing = axes.find((axis) => (written[axis] ?? '') === '');
      if (odd !== undefined) {
        wrong(`has the axis \`${shorten(odd)}\`, which does not exist`, suggestName(odd, axes, { what: 'axes' }));
      } else if (missing !== undefined) {
        wrong(`has no value for the axis \`${missing}\``, 'write one: every cell has a value for each axis');
      } else if (all.has(nameOf(written, axes))) {
        wrong(`exists already: ${nameOf(written, axes)}`, 'remove it');
      } else {
        const cell = emptyCell();
        for (const axis of axes) cell[axis] = written[axis] ?? '';
        all.set(nameOf(written, axes), cell);
      }
    }
    return [...all.values()];
  }

  #path(...at: (string | number)[]): Path {
    return taskPath(this.#task.id, 'matrix', ...at);
  }

  #report(code: DiagnosticCode, at: Path, message: string, hint: string): void {
    this.#reportAt(this.#expansion.manifest.places.value(this.#path(...at)), code, message, hint);
  }

  #reportAt(place: Place, code: DiagnosticCode, message: string, ...more: [hint: string, first?: Place]): void {
    const [hint, first] = more;
    const related = first && [{ message: 'the first one', place: first }];
    this.#isBroken = true;
    this.#expansion.reportError({ code, message, hint, place, related });
  }
}

function rowsOf(axes: readonly Axis[]): Cells['rows'] {
  return new Map(
    axes.map(({ name, values }) => [
      name,
      new Map(values.flatMap(({ value, row }) => (row === undefined ? [] : [[String(value), row] as const]))),
    ]),
  );
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
