import { groupBy } from '../../ground/values.ts';
import { type Annotation, annotationText, limitAnnotations } from '../github-commands.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { RunView, StepView } from './run-view.ts';
import { stopText } from './run-words.ts';
import { textOf } from './summary-troubles.ts';

const shownSteps = 5;

/**
 * Renders what a run did not carry out, as workflow commands of GitHub Actions: an error for each reason of failed
 * steps, a warning for what waits and for notices. `file`: the manifest, relative to the checkout.
 */
export function runAnnotations(view: RunView, { file }: { file: string }): string {
  const annotations: Annotation[] = [];
  const add = (level: Annotation['level'], title: string, message: string) =>
    annotations.push({
      level,
      properties: [
        ['file', safeText(file, 1000)],
        ['title', title],
      ],
      message,
    });
  const steps = [...view.stepsByAddress.values()];
  for (const [reason, failed] of byReason(steps, ['failed', 'refused', 'lost'])) {
    add('error', titleOf(failed), `${reason}${namesOf(failed)}`);
  }
  if (view.stopped !== undefined && view.stopped.because !== 'failure') {
    add('error', 'spending stopped', stopText(view.stopped));
  }
  for (const [reason, unresolved] of byReason(steps, ['unresolved'])) {
    add('warning', titleOf(unresolved), `${reason}${namesOf(unresolved)}`);
  }
  const picks = steps.filter(({ stage }) => stage === 'awaits-pick').length;
  if (picks > 0)
    add('warning', 'waiting for people', `${countOf(picks, 'step')} wait${picks === 1 ? 's' : ''} for a pick`);
  for (const notice of view.notices) add('warning', 'notice', safeText(notice, 2000));
  return limitAnnotations(annotations).map(annotationText).join('');
}

/** The steps in one of these stages, by what is said of them; of several it is said without their names and jobs. */
function byReason(steps: readonly StepView[], stages: readonly StepView['stage'][]): [string, StepView[]][] {
  const wanted = steps.filter(({ stage }) => stages.includes(stage));
  return [...groupBy(wanted, textOf)].map(([shared, group]) => {
    const [first, ...others] = group;
    const text = others.length === 0 ? first?.error : shared;
    return [safeText(text || (first?.stage ?? ''), 2000), group];
  });
}

/** `hero@de failed`, `21 steps failed`. */
function titleOf(steps: readonly StepView[]): string {
  const [first] = steps;
  if (first === undefined) return '';
  return `${steps.length === 1 ? safeText(first.address, 300) : countOf(steps.length, 'step')} ${first.stage}`;
}

/** The steps of a group, where the title only counts them. */
function namesOf(steps: readonly StepView[]): string {
  if (steps.length === 1) return '';
  const names = steps.slice(0, shownSteps).map(({ address }) => safeText(address, 300));
  const more = steps.length - names.length;
  return `\n${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
