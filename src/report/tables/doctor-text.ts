import type { Finding } from '../../contract/notice.ts';
import type { Json } from '../../ground/json.ts';
import { groupBy } from '../../ground/values.ts';
import { adviceText, adviceView, type Paste } from '../advice-text.ts';
import { bad, type Document, type Fact, facts, good, line, stack, strong, type Text, warning } from '../document.ts';
import { countOf } from '../numbers.ts';

export function doctorView(findings: readonly Finding[], paste: Paste): Document {
  const groups = [...groupBy(findings, ({ about }) => about)].map(([about, own]) =>
    line(strong(about), [facts(own.map((finding) => factOf(finding, paste)))]),
  );
  return [stack(...groups), line(sumText(findings))];
}

const marks = { ok: 'good', warning: 'warning', problem: 'bad' } as const;

function factOf({ state, text, hint }: Finding, paste: Paste): Fact {
  return { label: { text: state, mark: marks[state] }, text, below: adviceView(hint, paste) };
}

function sumText(findings: readonly Finding[]): Text {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems > 0) return bad(`${countOf(problems, 'problem')}, ${countOf(warnings, 'warning')}`);
  return warnings > 0 ? warning(countOf(warnings, 'warning')) : good('no problems');
}

export function doctorJson(findings: readonly Finding[], exit: number, paste: Paste): Json {
  return {
    mediabatch: 'doctor',
    version: 1,
    exit,
    findings: findings.map(({ exit: _exit, hint, ...finding }) => ({
      ...finding,
      ...(hint !== undefined && { hint: adviceText(hint, paste) }),
    })),
  };
}
