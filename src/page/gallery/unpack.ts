import type { PackedData } from '../../contract/report.ts';
import type { ReviewData } from '../../contract/review.ts';

type Packed = PackedData['data'];

export function unpack({ shapes, texts, data }: PackedData): ReviewData {
  const unpacked = (value: Packed): unknown => {
    if (Array.isArray(value)) {
      const [shape, ...values] = value;
      const names = shapes[Number(shape)];
      if (names === undefined) return values.map(unpacked);
      return Object.fromEntries(values.map((one, index) => [names[index] ?? '', unpacked(one)]));
    }
    return typeof value === 'object' && value !== null ? texts[value.t] : value;
  };
  return unpacked(data) as ReviewData;
}
