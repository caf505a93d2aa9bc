import type { Json } from '../../ground/json.ts';
import type { Style } from '../style.ts';
import { tableText } from './table.ts';

export interface VoiceRow {
  id: string;
  gender: string;
  accent: string;
  label?: string;
  description?: string;
  previewUrl?: string;
}

/** `documented`: the service was not queried; these are the voices that its documentation lists. */
export type Source = 'service' | 'documented';

export function voicesText(rows: readonly VoiceRow[], options: { style: Style; width?: number }): string {
  const columns = [
    { title: 'voice_id' },
    { title: 'gender' },
    { title: 'accent' },
    { title: 'label', least: 8 },
    { title: 'description', least: 12 },
  ];
  const cells = rows.map(({ id, gender, accent, label, description }) => [
    { text: id, paint: options.style.bold },
    gender,
    accent,
    label === undefined || label === id ? '' : label,
    description ?? '',
  ]);
  return tableText(columns, cells, options);
}

export function voicesJson(rows: readonly VoiceRow[], source: Source): Json {
  return { mediabatch: 'voices', version: 1, source, voices: rows.map((row) => ({ ...row })) };
}
