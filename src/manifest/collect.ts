import { countDiagnostics, type Diagnostic, type Place } from '../ground/diagnostic.ts';

const maxDiagnostics = 100;
/** Mistakes of one kind at one place that are reported individually; the rest are counted. */
const maxAlike = 5;

/**
 * Selects the diagnostics to report: each once, in the order of the files, at most 100; the others are counted. Errors come before warnings
 * when there are too many. When steps of one task make the same mistake at the same place, five are reported.
 */
export function limitDiagnostics(found: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  const groups = new Map<string, { shown: Diagnostic[]; more: number }>();
  for (const diagnostic of found) {
    const spot = `${diagnostic.code} ${spotOf(diagnostic.place)}`;
    const id = `${spot} ${diagnostic.message}`;
    if (seen.has(id)) continue;
    seen.add(id);
    const group = groups.get(spot) ?? { shown: [], more: 0 };
    groups.set(spot, group);
    if (group.shown.length < maxAlike) group.shown.push(diagnostic);
    else group.more += 1;
  }
  const told = [...groups.values()].flatMap(({ shown, more }) =>
    shown.map((diagnostic, index) =>
      more > 0 && index === shown.length - 1
        ? { ...diagnostic, message: `${diagnostic.message} (and ${more} more like this)` }
        : diagnostic,
    ),
  );
  const errors = told.filter((diagnostic) => diagnostic.severity === 'error');
  const warnings = told.filter((diagnostic) => diagnostic.severity === 'warning');
  return withOmitted([...errors, ...warnings], found).sort(byPlace);
}

/** The first of them. What is left out is counted, together with what was left out of `found` before. */
function withOmitted(told: readonly Diagnostic[], found: readonly Diagnostic[]): Diagnostic[] {
  const shown = told.slice(0, maxDiagnostics).map(({ omitted: _omitted, ...one }): Diagnostic => one);
  const { omitted } = countDiagnostics(found);
  const cut = countDiagnostics(told.slice(maxDiagnostics).map(({ severity }) => ({ severity })));
  const errors = cut.errors + omitted.errors;
  const warnings = cut.warnings + omitted.warnings;
  const last = shown.at(-1);
  if (last !== undefined && errors + warnings > 0) last.omitted = { errors, warnings };
  return shown;
}

function spotOf(place: Place | undefined): string {
  return place === undefined ? '' : `${place.file}:${place.start.offset}:${place.end.offset}`;
}

/** Orders by file name and position, mistakes without a place first. */
function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.place === undefined || b.place === undefined) return a.place === b.place ? 0 : a.place === undefined ? -1 : 1;
  if (a.place.file !== b.place.file) return a.place.file < b.place.file ? -1 : 1;
  return a.place.start.offset - b.place.start.offset;
}
