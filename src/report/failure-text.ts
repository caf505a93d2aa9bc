import { answersOfExit } from '../contract/exit.ts';
import { type Failure, failures, type Meaning } from '../contract/failure.ts';
import { sortDiagnostics } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { adviceText, adviceView, type Paste } from './advice-text.ts';
import { diagnosticJson } from './diagnostics/diagnostics-json.ts';
import { diagnosticsText } from './diagnostics/diagnostics-text.ts';
import { bad, type Document, line } from './document.ts';
import { terminalText } from './render/terminal-text.ts';
import type { Style } from './style.ts';

function failureView({ code, message, hint }: Failure, paste: Paste): Document {
  return [line([bad('error'), ` ${code} ${message}`], adviceView(hint, paste))];
}

/** Shows diagnostics with their positions instead of the message, at most `most` of them. */
export function failureText(
  failure: Failure,
  { style, paste, most, width }: { style: Style; paste: Paste; most?: number; width?: number | undefined },
): string {
  const { diagnostics = [], sources = new Map() } = 'diagnostics' in failure ? failure : {};
  return diagnostics.length > 0
    ? diagnosticsText(diagnostics, sources, { style, ...defined({ most, width }) })
    : terminalText(failureView(failure, paste), { style, width });
}

/** Formats the failure as `schemas/failure.schema.json` describes it. */
export function failureJson(failure: Failure, paste: Paste): Json {
  const { code, message, hint, ...facts } = failure;
  const { sources: _sources, diagnostics, ...plain } = { diagnostics: undefined, sources: undefined, ...facts };
  const { exit, paid }: Meaning = failures[code];
  return {
    mediabatch: 'failure',
    version: 1,
    code,
    exit,
    ...answersOfExit(exit),
    ...defined({ paid }),
    message,
    ...(hint !== undefined && { hint: adviceText(hint, paste) }),
    ...(plain as { [fact: string]: Json }),
    ...(diagnostics !== undefined && { diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson) }),
  };
}
