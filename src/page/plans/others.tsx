import type { OthersAnswer } from '../../contract/review.ts';
import { post, reasonOf, startedAgain } from '../state/host.ts';
import type { OthersOffer, Page } from '../state/page.ts';
import { Ask } from './ask.tsx';

/** Others of a group that is all rejected, and the question whether to buy them now. */
export function Others({ page, offer }: { page: Page; offer: OthersOffer }) {
  const close = () => {
    page.offered.value = undefined;
    page.activate(page.active.value);
  };
  const buy = async () => {
    const answer = await send({ digest: offer.digest });
    page.say(answer.text);
    close();
  };
  return (
    <Ask title={`Others of ${offer.group}`} text={offer.text} yes="Buy" onClose={close} onYes={buy}>
      {`Buy ${offer.what}? The run that waits goes on with them.`}
    </Ask>
  );
}

/** Asks what others of a group cost now; where they cannot be bought from the page, says so, and copies the command. */
export async function askForOthers(page: Page, group: string): Promise<void> {
  page.say(`Asking what others of ${group} cost now…`);
  await recorded(page);
  const answer = await send({ group });
  if (answer.is === 'offer') {
    page.say('');
    page.offered.value = { ...answer, group };
    return;
  }
  if (answer.is !== 'no') {
    page.say(answer.text);
    return;
  }
  const { text, command } = answer;
  const isCopied = await navigator.clipboard.writeText(command).then(
    () => true,
    () => false,
  );
  page.say(`${text}. ${isCopied ? 'Copied for' : 'In'} a terminal, once Ctrl-C has ended this run: ${command}`);
}

/** Resolves when what was rejected just now is on record. */
function recorded({ outbox }: Page): Promise<void> {
  return new Promise((resolve) => {
    const stop = outbox.isEmpty.subscribe((isEmpty) => {
      if (!isEmpty) return;
      resolve();
      // It is told at once, before there is anything to stop.
      queueMicrotask(() => stop());
    });
  });
}

type Answer = OthersAnswer | { is: 'agreed' | 'failed'; text: string };

async function send(document: { group: string } | { digest: string }): Promise<Answer> {
  try {
    const answer = await post('others', document);
    if (answer.status === 200 || answer.status === 409) return (await answer.json()) as OthersAnswer;
    return { is: 'failed', text: answer.status === 403 ? startedAgain : await reasonOf(answer) };
  } catch {
    return { is: 'failed', text: 'mediabatch does not answer: whether others are bought, the page shows when it does' };
  }
}
