import type { HistoryLine } from '../contract/run-line.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { findViolations as findEventViolations } from './validate-event.generated.ts';
import { findViolations as findLineViolations } from './validate-run-line.generated.ts';

/** The lines of a run's history. The file may be anybody's: what is none of them is left out. */
export function historyLines(values: readonly Json[]): HistoryLine[] {
  return values.filter(isLine);
}

function isLine(value: Json): value is Json & HistoryLine {
  if (!isMap(value) || Number.isNaN(Date.parse(String(value.at)))) return false;
  return (value.mediabatch === undefined ? findEventViolations(value) : findLineViolations(value)).length === 0;
}
