import { markOf } from '../model/shown.ts';
import type { Page } from '../state/page.ts';
import { KeyButton } from './key-button.tsx';
import { Leave } from './leave.tsx';
import { NoteField } from './note.tsx';
import { Unsent } from './unsent.tsx';

/** Beneath the views: what can be done with the active asset, and what was done last. */
export function Actions({ page }: { page: Page }) {
  const asset = page.activeAsset.value;
  const mark = asset && markOf(asset);
  const judge = (is: 'picked' | 'rejected' | 'undecided', label: string, key: string) => (
    <button
      type="button"
      class={`verdict ${is}`}
      disabled={!asset?.isJudged || (is === 'undecided' && mark === 'undecided')}
      aria-pressed={is === 'undecided' ? undefined : mark === is}
      onClick={() => asset && page.judge(asset.address, mark === is ? 'undecided' : is)}
    >
      {label} <kbd>{key}</kbd>
    </button>
  );
  return (
    <section class="actions" aria-label="Actions">
      <Refusals page={page} />
      {page.data.value.canDecide && <Unsent page={page} />}
      {page.mustLeave.value && <Leave page={page} />}
      {page.hasNote.value && asset !== undefined && <NoteField key={asset.address} page={page} asset={asset} />}
      <div class="foot">
        <div class="bar">
          <span class="active-name">{asset?.address ?? 'Nothing is active'}</span>
          {page.counts.value.gates > 0 && (
            <>
              {judge('picked', 'Pick', 'P')}
              {judge('rejected', 'Reject', 'X')}
              {judge('undecided', 'Undecide', 'U')}
              <KeyButton k="N" isOff={asset?.verdict === undefined} onPress={() => page.editNote()}>
                Note
              </KeyButton>
              <KeyButton k="Ctrl Z" isOff={!page.canUndo.value} onPress={() => page.undo()}>
                Undo
              </KeyButton>
              <KeyButton k="J" onPress={() => page.goUndecided(1)}>
                Next undecided
              </KeyButton>
            </>
          )}
          {page.view.value === 'loupe' && (
            <KeyButton k="Z" isOn={page.loupe.isLarger.value} onPress={() => page.loupe.togglePixels()}>
              1:1
            </KeyButton>
          )}
          <KeyButton k="I" isOn={page.hasDetails.value} onPress={() => page.toggleDetails()}>
            Details
          </KeyButton>
          <KeyButton k="?" onPress={() => page.toggleHelp()}>
            Help
          </KeyButton>
        </div>
        <p class="said" role="status">
          {page.said.value}
        </p>
      </div>
    </section>
  );
}

/** Verdicts that the host did not take, with its reasons. */
function Refusals({ page }: { page: Page }) {
  const refusals = page.refusals.value;
  return (
    <div role="alert">
      {refusals.length > 0 && (
        <div class="refusals">
          <ul>
            {refusals.map(({ address, text, hint }) => (
              <li key={address}>
                {`Taken back: ${address} ${text}${hint === undefined ? '' : `; ${hint}`}.`}{' '}
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
