import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { mostNote, plainNote } from '../model/judge.ts';
import { picksFile, shellWord } from '../model/leave.ts';
import { markOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';
import { Isolated } from './isolated.tsx';
import { KeyButton } from './key-button.tsx';
import { Address, VerdictButton } from './tile.tsx';
import { counted, nameOf } from './words.ts';

export function Actions({ page }: { page: Page }) {
  const asset = page.activeAsset.value;
  return (
    <section class="actions" aria-label="Actions">
      <Refusals page={page} />
      {page.data.value.canDecide && <Unsent page={page} />}
      {page.mustLeave.value && <Leave page={page} />}
      {page.hasNote.value && asset?.verdict !== undefined && (
        <NoteField key={asset.address} page={page} asset={asset} />
      )}
      <Next page={page} />
      <p class="status">
        <span class="active-name">
          {asset === undefined ? 'Nothing is active' : <Address text={nameOf(page.shown.value, asset.address)} />}
        </span>
        <span class={page.isLoss.value ? 'said loss' : 'said'} role="status" title={page.said.value}>
          <Isolated text={page.said.value} />
        </span>
      </p>
      <div class="bar" data-open={page.hasMore.value}>
        {page.counts.value.gates > 0 && <Judging page={page} asset={asset} />}
        {page.view.value === 'loupe' && (
          <KeyButton k="Z" isOn={page.loupe.isLarger.value} onPress={() => page.loupe.togglePixels()}>
            1:1
          </KeyButton>
        )}
        {!page.isForClient && (
          <KeyButton k="I" isOn={page.hasDetails.value} onPress={() => page.toggleDetails()}>
            Details
          </KeyButton>
        )}
        <KeyButton k="?" onPress={() => page.toggleHelp()}>
          Help
        </KeyButton>
      </div>
    </section>
  );
}

function Judging({ page, asset }: { page: Page; asset: ReviewAsset | undefined }) {
  const reasons = page.activeGroup.value?.group.gate?.reasons ?? [];
  const last = page.history.last.value;
  return (
    <>
      <VerdictButton page={page} asset={asset} is="picked">
        Pick <kbd>P</kbd>
      </VerdictButton>
      <VerdictButton page={page} asset={asset} is="rejected">
        Reject <kbd>X</kbd>
      </VerdictButton>
      <button type="button" disabled={last === undefined} title={last?.address} onClick={() => page.goBack('undo')}>
        Undo <kbd>Ctrl Z</kbd>
      </button>
      <button
        type="button"
        class="more"
        aria-expanded={page.hasMore.value}
        onClick={() => {
          page.hasMore.value = !page.hasMore.value;
        }}
      >
        More
      </button>
      {asset?.verdict !== undefined && (
        <KeyButton k="U" onPress={() => page.judge(asset.address, 'undecided')}>
          Undecide
        </KeyButton>
      )}
      {reasons.length > 0 && (
        <span class="reasons">
          <span aria-hidden="true">Reject as:</span>
          {reasons.map((reason, index) => (
            <KeyButton
              key={reason}
              k={`⇧${index + 1}`}
              isOff={!asset?.isJudged}
              isOn={asset?.verdict?.reason === reason}
              onPress={() => page.rejectFor(index + 1)}
            >
              <span class="away">Reject: </span>
              {reason}
            </KeyButton>
          ))}
        </span>
      )}
      <KeyButton k="N" isOff={asset?.isJudged !== true} onPress={() => page.editNote()}>
        Note
      </KeyButton>
      <KeyButton k="J" onPress={() => page.goUndecided(1)}>
        Next undecided
      </KeyButton>
    </>
  );
}

function Next({ page }: { page: Page }) {
  const { next } = page.data.value;
  if (next === undefined || page.counts.value.left > page.counts.value.rejected) return null;
  return (
    <p class="next">
      <b>{next.text}</b> <code>{next.command}</code>
      <button type="button" onClick={() => page.copy(next.command)}>
        Copy the command
      </button>
    </p>
  );
}

function Refusals({ page }: { page: Page }) {
  const refusals = page.refusals.value;
  return (
    <div role="alert">
      {refusals.length > 0 && (
        <div class="refusals">
          <ul>
            {refusals.map(({ address, text, hint }) => (
              <li key={address}>
                <Isolated text={`Removed: ${address} ${text}${hint === undefined ? '' : `; ${hint}`}.`} />{' '}
                <button type="button" onClick={() => page.activate(address)}>
                  Show<span class="away"> {address}</span>
                </button>
              </li>
            ))}
          </ul>
          <button type="button" onClick={() => page.dismissRefusals()}>
            Dismiss
          </button>
        </div>
      )}
    </div>
  );
}

/** Maximum length of a reviewer's name in UTF-16 code units, as in `pick --from`. */
const mostName = 100;

const by = signal('');

function Leave({ page }: { page: Page }) {
  const verdicts = page.unsaved();
  const isMissing = verdicts.length === 0;
  const save = () => {
    const name = plainNote(by.value);
    if (name === '') {
      page.say('Type your name.');
      document.getElementById('picks-by')?.focus();
      return;
    }
    // Verdicts are in the order of the manifest, so that users can compare two files of picks.
    const own = page.outbox.own.value;
    const inOrder = page.data.value.assets.flatMap(({ address, report }) => {
      const verdict = own.get(address);
      return verdict === undefined ? [] : { ...verdict, address: report?.step ?? address };
    });
    download('picks.json', picksFile(name, inOrder));
    const { gates, left } = page.counts.value;
    const { commands, file } = page.data.value;
    const then = page.isForClient
      ? 'Send this file back to the sender.'
      : `Record it with: ${commands?.pick ?? `mediabatch pick ${shellWord(file)}`} --from picks.json`;
    const open = left > 0 ? `, but ${left} of ${gates} groups are still open` : '';
    page.say(`Saved picks.json${open}. ${then}`, left > 0);
  };
  return (
    <form
      class="leave"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <span>{isMissing ? 'No verdicts yet.' : `${counted(verdicts.length, 'verdict')} in this browser.`}</span>
      <label>
        Your name{' '}
        <input
          id="picks-by"
          type="text"
          maxLength={mostName}
          autocomplete="name"
          value={by.value}
          onInput={({ currentTarget }) => {
            by.value = currentTarget.value;
          }}
        />
      </label>
      <button type="submit" disabled={isMissing}>
        {page.isForClient ? 'Save picks' : 'Save picks.json'}
      </button>
    </form>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The delay lets the browser start the download.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function NoteField({ page, asset }: { page: Page; asset: ReviewAsset }) {
  const field = useRef<HTMLInputElement>(null);
  const [kept, { address }] = [asset.verdict?.note ?? '', asset];
  const keep = () => page.keepNote(address, field.current?.value ?? '');
  useLayoutEffect(() => {
    field.current?.focus();
    // A press outside of the field saves the note.
    return () => {
      keep();
      page.hasNote.value = false;
    };
  }, []);
  const close = () => {
    page.hasNote.value = false;
    // Without this call, the field would keep the focus until it is removed.
    field.current?.blur();
    page.activate(address);
  };
  const cancel = () => {
    if (field.current !== null) field.current.value = kept;
    close();
  };
  return (
    <form
      class="note"
      onSubmit={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <label>
        <Isolated text={`Note on ${nameOf(page.shown.value, address)}, ${markOf(asset)}: `} />
        <input
          ref={field}
          type="text"
          maxLength={mostNote}
          defaultValue={kept}
          onKeyDown={({ key, isComposing }) => {
            // Esc first cancels a composition of the input method.
            if (key === 'Escape' && !isComposing) cancel();
          }}
        />
      </label>
      <button type="submit">Keep</button>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </form>
  );
}

function Unsent({ page }: { page: Page }) {
  const waits = page.outbox.waits.value;
  const { run } = page.data.value;
  const count = page.outbox.own.value.size;
  let text = '';
  if (waits !== undefined && !page.outbox.isEmpty.value)
    text = `${counted(count, 'verdict')} ${count === 1 ? 'waits' : 'wait'} in this page: ${waits}.`;
  else if (page.isLost.value) {
    const why = run?.is === 'ended' ? `The run has ended: ${run.text}` : 'mediabatch has ended, or does not answer';
    text = `${why}. This page stores new verdicts until they can be recorded.`;
  }
  return (
    <p class="unsent" role="status">
      {text}
    </p>
  );
}
