import { answersOfExit } from '../contract/exit.ts';
import { type Failure, failures, type Meaning } from '../contract/failure.ts';
import { sortDiagnostics } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { adviceLines, adviceText, adviceView, type Paste } from './advice-text.ts';
import { diagnosticsGithub } from './diagnostics/diagnostics-github.ts';
import { diagnosticJson } from './diagnostics/diagnostics-json.ts';
import { diagnosticsText } from './diagnostics/diagnostics-text.ts';
import { bad, type Document, line } from './document.ts';
import { annotationText } from './github-commands.ts';
import { terminalText } from './render/terminal-text.ts';
import { safeText } from './safe-text.ts';
import type { Style } from './style.ts';

const longestText = 2000;

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

/** Writes one annotation for each diagnostic, or one for the failure if it has no diagnostics. */
export function failureGithub(
  failure: Failure,
  { paste, toCheckoutPath }: { paste: Paste; toCheckoutPath(file: string): string },
): string {
  const { code, message, hint } = failure;
  const { diagnostics = [] } = 'diagnostics' in failure ? failure : {};
  if (diagnostics.length > 0) return diagnosticsGithub(diagnostics, { toCheckoutPath, limit: true });
  const advice = hint === undefined ? [] : adviceLines(hint, paste).map((line) => safeText(line, longestText));
  const text = [safeText(message, longestText), ...advice].join('\n');
  return annotationText({ level: 'error', properties: [['title', code]], message: text });
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
