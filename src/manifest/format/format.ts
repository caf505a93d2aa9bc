import { Parser } from 'yaml';
import type { Diagnostic } from '../../ground/diagnostic.ts';
import { canonicalJson } from '../../ground/json.ts';
import { manifestFaults, readYaml } from '../yaml/read-yaml.ts';
import { placeBetween, readSource } from '../yaml/source.ts';
import { formatTokens } from './format-tokens.ts';

/**
 * Formats a manifest: two columns of indentation, one space between words, at most one empty line, double quotes where
 * the text needs no escapes, comments aligned where they were. Order, comments, anchors, texts and line ends within
 * texts and brackets stay. For a text with syntax errors, or whose meaning would change, the mistakes are returned
 * instead.
 */
export function formatManifest(file: string, written: string): { text: string } | { diagnostics: Diagnostic[] } {
  const source = readSource(file, written);
  const before = readYaml(source, manifestFaults);
  const errors = before.diagnostics.filter(({ severity }) => severity === 'error');
  if (before.value === undefined || errors.length > 0) return { diagnostics: errors };
  // A lone carriage return ends no line in YAML, so the intended lines are unknown.
  if (/\r(?!\n)/.test(written)) return { text: written };
  const text = formatTokens(source.text, new Parser().parse(source.text));
  const after = readYaml(readSource(file, text), manifestFaults);
  if (after.value === undefined || canonicalJson(after.value) !== canonicalJson(before.value)) {
    const message = 'it would mean something else after formatting, so it is left as it is';
    const hint = 'look for a quote that is not closed; if there is none, this is a bug in mediabatch: please report it';
    const place = placeBetween(source, 0, 0);
    return { diagnostics: [{ code: 'MB1003', severity: 'error', message, hint, place }] };
  }
  return { text };
}
