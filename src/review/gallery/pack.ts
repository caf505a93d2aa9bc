import type { PackedData } from '../../contract/report.ts';
import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';

type Packed = PackedData['data'];

/** Shorter texts are not worth a reference. */
const leastText = 8;

/** The same data in less than half as much text. Pure; the page unpacks it. */
export function pack(data: Json): PackedData {
  const texts = new Map<string, number>();
  const shapes = new Map<string, number>();
  const repeated = findRepeated(data);
  const packed = (value: Json): Packed => {
    if (typeof value === 'string') {
      if (!repeated.has(value)) return value;
      return { t: numberOf(texts, value) };
    }
    if (Array.isArray(value)) return [-1, ...value.map(packed)];
    if (!isMap(value)) return value;
    return [numberOf(shapes, JSON.stringify(Object.keys(value))), ...Object.values(value).map(packed)];
  };
  const all = packed(data);
  return {
    version: 1,
    shapes: [...shapes.keys()].map((names) => JSON.parse(names) as string[]),
    texts: [...texts.keys()],
    data: all,
  };
}

function findRepeated(data: Json): ReadonlySet<string> {
  const [once, repeated] = [new Set<string>(), new Set<string>()];
  const look = (value: Json): void => {
    if (typeof value === 'string') {
      if (value.length < leastText) return;
      if (once.has(value)) repeated.add(value);
      else once.add(value);
    } else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) look(one);
  };
  look(data);
  return repeated;
}

function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}
