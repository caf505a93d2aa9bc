import type { Leftover, RemoteRecord, Removal } from '../../contract/leftovers.ts';
import type { Finding } from '../../contract/notice.ts';
import type { Json } from '../../ground/json.ts';
import { groupBy } from '../../ground/values.ts';
import { adviceText, adviceView, type Paste } from '../advice-text.ts';
import {
  bad,
  type Document,
  facts,
  good,
  jsonOf,
  line,
  listOf,
  stack,
  strong,
  type Text,
  warning,
} from '../document.ts';
import { ageText, bytesText, countOf, creditsText } from '../numbers.ts';

const marks = { ok: 'good', warning: 'warning', problem: 'bad' } as const;

export function doctorView(findings: readonly Finding[], paste: Paste): Document {
  const groups = [...groupBy(findings, ({ about }) => about)].map(([about, own]) =>
    line(strong(about), [
      facts(
        own.map(({ state, text, hint }) => ({
          label: { text: state, mark: marks[state] },
          text,
          below: adviceView(hint, paste),
        })),
      ),
    ]),
  );
  return [stack(...groups), line(sumText(findings))];
}

function sumText(findings: readonly Finding[]): Text {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems > 0) return bad(`${countOf(problems, 'problem')}, ${countOf(warnings, 'warning')}`);
  return warnings > 0 ? warning(countOf(warnings, 'warning')) : good('no problems');
}

export function doctorJson(findings: readonly Finding[], exit: number, paste: Paste): Json {
  return jsonOf('doctor', {
    exit,
    findings: findings.map(({ exit: _exit, hint, ...finding }) => ({
      ...finding,
      ...(hint !== undefined && { hint: adviceText(hint, paste) }),
    })),
  });
}

export function leftoversView(rows: readonly Leftover[], now: number): Document {
  return [
    listOf(rows, [
      // The path of a retained file is its digest.
      {
        title: 'file',
        least: 16,
        cut: 'middle',
        of: ({ path, was }) => (was === undefined ? path : `${was} (${path.slice(0, 8)})`),
      },
      { title: 'size', align: 'right', of: ({ bytes }) => bytesText(bytes) },
      {
        title: 'credits',
        align: 'right',
        of: ({ is, credits }) => (is === 'partial' ? '' : creditsText(credits ?? null)),
      },
      {
        title: 'from',
        least: 12,
        cut: 'middle',
        of: ({ is, address }) => (is === 'partial' ? 'a broken download' : (address ?? 'no step on record')),
      },
      { title: 'kept for', align: 'right', of: ({ since }) => (since === undefined ? '' : ageText(since, now)) },
    ]),
  ];
}

export function chargesText(rows: readonly Leftover[]): string {
  const paid = rows.filter(({ is }) => is !== 'partial');
  const jobs = new Map(paid.map(({ jobId, path, credits }) => [jobId ?? path, credits]));
  const known = [...jobs.values()].filter((credits) => credits !== undefined);
  const sum = countOf(
    known.reduce((total, credits) => total + credits, 0),
    'credit',
  );
  const unknown = jobs.size - known.length;
  if (unknown === 0) return sum;
  return `${known.length === 0 ? '' : `${sum} and `}an unknown number of credits for ${countOf(unknown, 'job')}`;
}

export function recordsView(records: readonly RemoteRecord[]): Document {
  const files = { intact: 'yes', missing: bad('missing: lost for good'), none: 'none' } as const;
  return [
    listOf(records, [
      { title: 'kind', of: ({ kind }) => kind },
      {
        title: 'step',
        least: 12,
        cut: 'middle',
        of: ({ address, isOrphan }) => `${address}${isOrphan ? ' (orphan)' : ''}`,
      },
      { title: 'job id', of: ({ jobId }) => jobId },
      { title: 'credits', align: 'right', of: ({ credits }) => creditsText(credits ?? null) },
      { title: 'file here', of: (record) => files[record.files] },
    ]),
  ];
}

export function destroyJson(removals: readonly Removal[], skipped: readonly { address: string; why: string }[]): Json {
  const records = removals.map(({ record, ...removal }) => ({ ...record, ...removal }));
  return jsonOf('destroy', { records, skipped });
}
