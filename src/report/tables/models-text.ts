import type { Json } from '../../ground/json.ts';
import { type Document, faint, strong, table } from '../document.ts';
import { creditsText } from '../numbers.ts';

/** Source of a list. `documented`: the service was not queried, so the list is that of its documentation. */
export type Source = 'service' | 'documented';

export interface ModelRow {
  kind: string;
  model: string;
  /** Per job, or for each started `per`. `null`: unknown, which does not mean free. */
  credits: number | null;
  /** Unit like `second`, `1000 characters`. */
  per?: string;
  aliasOf?: string;
  isDefault: boolean;
  known: 'documented' | 'catalog' | 'both';
  notes: string;
}

export function modelsView(rows: readonly ModelRow[]): Document {
  const columns = [
    { title: 'kind' },
    { title: 'model' },
    { title: 'credits', align: 'right' as const },
    { title: 'alias of' },
    { title: 'notes', least: 16, cut: 'wrap' as const },
  ];
  const cells = rows.map(({ kind, model, credits, per, aliasOf, isDefault, notes }) => [
    faint(kind),
    strong(model),
    `${creditsText(credits)}${per === undefined ? '' : ` per ${per}`}`,
    aliasOf ?? '',
    isDefault && !/\bdefault\b/i.test(notes) ? `The default. ${notes}`.trim() : notes,
  ]);
  return [table(columns, cells)];
}

export function modelsJson(rows: readonly ModelRow[], source: Source): Json {
  return { mediabatch: 'models', version: 1, source, models: rows.map((row) => ({ ...row })) };
}

export interface VoiceRow {
  id: string;
  gender: string;
  accent: string;
  label?: string;
  description?: string;
  previewUrl?: string;
}

export function voicesView(rows: readonly VoiceRow[]): Document {
  const columns = [
    { title: 'voice_id' },
    { title: 'gender' },
    { title: 'accent' },
    { title: 'label', least: 8 },
    { title: 'description', least: 12 },
  ];
  const cells = rows.map(({ id, gender, accent, label, description }) => [
    strong(id),
    gender,
    accent,
    label === undefined || label === id ? '' : label,
    description ?? '',
  ]);
  return [table(columns, cells)];
}

export function voicesJson(rows: readonly VoiceRow[], source: Source): Json {
  return { mediabatch: 'voices', version: 1, source, voices: rows.map((row) => ({ ...row })) };
}
