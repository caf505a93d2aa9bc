import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PlanToApprove } from '../../contract/review.ts';
import type { Page } from '../state/page.ts';
import { Ask } from './ask.tsx';
import { askForPlans, sendYes } from './send.ts';

/** A button for each saved plan that waits for a yes. Looked for again whenever somebody comes back to the page. */
export function Plans({ page }: { page: Page }) {
  const waiting = useSignal<readonly PlanToApprove[]>([]);
  const open = useSignal<PlanToApprove | undefined>(undefined);
  const look = () =>
    void askForPlans().then((found) => {
      waiting.value = found;
    });
  useEffect(() => {
    look();
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, []);
  const close = () => {
    open.value = undefined;
    page.activate(page.active.value);
  };
  const approve = async (plan: PlanToApprove) => {
    page.say(await sendYes(plan));
    close();
    look();
  };
  return (
    <>
      {waiting.value.map((plan) => (
        <button
          key={plan.digest}
          type="button"
          class="others"
          onClick={() => {
            open.value = plan;
          }}
        >
          {`${plan.path} waits for a yes`}
        </button>
      ))}
      {open.value && <AskForYes plan={open.value} onClose={close} onYes={approve} />}
    </>
  );
}

interface AskProps {
  plan: PlanToApprove;
  onClose(): void;
  onYes(plan: PlanToApprove): Promise<void>;
}

function AskForYes({ plan, onClose, onYes }: AskProps) {
  return (
    <Ask title={plan.path} text={plan.text} yes="Approve" onClose={onClose} onYes={() => onYes(plan)}>
      {`Approve ${plan.what}? For seven days, apply does it once, and asks nobody.`}
    </Ask>
  );
}
