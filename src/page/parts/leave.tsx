import { signal } from '@preact/signals';
import { plainNote } from '../model/judge.ts';
import { picksCommand, picksFile, shellWord } from '../model/leave.ts';
import type { Page } from '../state/page.ts';
import { counted } from './words.ts';

/** UTF-16 code units of a name, as `pick --from` takes it. */
const mostName = 100;

const by = signal('');

/** Where nobody takes verdicts: they leave as a file, or as a command to copy. */
export function Leave({ page }: { page: Page }) {
  const verdicts = page.unsaved();
  const isMissing = verdicts.length === 0;
  const save = () => {
    const name = plainNote(by.value);
    if (name === '') {
      page.say('Say whose picks these are: the name stands in the file.');
      document.getElementById('picks-by')?.focus();
      return;
    }
    download('picks.json', picksFile(name, verdicts));
    page.say(
      `Saved picks.json. Its verdicts are recorded by: ${page.data.value.commands?.pick ?? `mediabatch pick ${shellWord(page.data.value.file)}`} --from picks.json`,
    );
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(picksCommand(page.data.value, verdicts));
      page.say('Copied. Paste it into a terminal in the folder of the campaign.');
    } catch {
      page.say('The browser does not let this page copy; save picks.json instead.');
    }
  };
  return (
    <form
      class="leave"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <span>
        {isMissing
          ? 'Verdicts stay in this browser until you save them.'
          : `${counted(verdicts.length, 'verdict')} in this browser.`}
      </span>
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
        Save picks.json
      </button>
      <button type="button" disabled={isMissing} onClick={() => void copy()}>
        Copy command
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
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
