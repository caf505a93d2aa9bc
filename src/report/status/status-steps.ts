import type { StepState } from '../../plan/step-state.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from '../tables/table.ts';
import type { StepStatus } from './step-status.ts';

/** A row for each step. */
export function stepsText(steps: readonly StepStatus[], options: { style: Style; width?: number }): string {
  const { style } = options;
  const paint: { [state in StepState]: (text: string) => string } = {
    done: style.green,
    running: style.cyan,
    failed: style.red,
    lost: style.red,
    unresolved: style.yellow,
    changed: style.yellow,
    'not-bought': style.dim,
  };
  const rows = steps.map((step): Cell[] => [
    step.address,
    step.kind,
    { text: step.unsaved ? 'finished, not saved' : step.state, paint: paint[step.state] },
    step.credits === undefined ? '' : String(step.credits),
    step.jobId ?? '',
    fileText(step),
    step.error === undefined ? '' : safeText(step.error, 500),
  ]);
  const columns = [
    { title: 'step' },
    { title: 'kind', least: 4 },
    { title: 'state' },
    { title: 'credits', align: 'right' as const },
    { title: 'job', least: 8 },
    { title: 'file', least: 12, cut: 'middle' as const },
    { title: 'error', least: 20 },
  ];
  return tableText(columns, rows, options);
}

function fileText({ file, fileState }: StepStatus): string {
  if (file === undefined) return '';
  return fileState === 'intact' || fileState === undefined ? file : `${file} (${fileState})`;
}
