import type { PlanToApprove } from '../../contract/review.ts';
import { patience, post, reasonOf } from '../state/host.ts';

/** The saved plans that wait for a yes; none where nobody answers. */
export async function askForPlans(): Promise<PlanToApprove[]> {
  const answer = await fetch('plans.json', { signal: AbortSignal.timeout(patience) }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as PlanToApprove[]) : [];
}

/** Says yes to a plan as it was shown. Returns what has become of it, in words. */
export async function sendYes({ digest }: PlanToApprove): Promise<string> {
  try {
    const answer = await post('approvals', { digest });
    return answer.ok ? ((await answer.json()) as { text: string }).text : await reasonOf(answer);
  } catch {
    return 'mediabatch does not answer: whether it is approved, `mediabatch approve --list` says';
  }
}
