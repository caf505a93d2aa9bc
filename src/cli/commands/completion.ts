import type { Command } from 'commander';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';
import { shownCommands } from '../program/examples.ts';
import { unknownName } from '../program/unknown-command.ts';
import type { Terminal } from '../terminal.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** Words for a shell to complete: each command by its full name, with the words that may follow it. */
interface Entry {
  /** `plan`, or `uploads add`. */
  name: string;
  summary: string;
  /** Its own commands and options. */
  words: { text: string; about: string }[];
}

/** A script for a shell that completes commands and options of this very version; everything else is a file. */
export function completion(shell: string | undefined, program: Command, terminal: Terminal): number {
  if (shell === undefined) {
    throw new CampaignError({
      code: 'MB3000',
      message: 'completion is for a shell, and none is named',
      hint: ['name bash, zsh or fish', way('to see where its script goes', call('help', 'completion'))],
    });
  }
  const entries = listEntries(program, []);
  switch (shells.find((known) => known === shell)) {
    case 'bash':
      terminal.out(bashScript(entries));
      return exitCodes.done;
    case 'zsh':
      terminal.out(zshScript(entries));
      return exitCodes.done;
    case 'fish':
      terminal.out(fishScript(entries));
      return exitCodes.done;
    default:
      throw unknownName('no completion for', shell, shells);
  }
}

function listEntries(command: Command, path: readonly string[]): Entry[] {
  const own: Entry = {
    name: path.join(' '),
    summary: command.summary() || command.description(),
    words: [
      ...shownCommands(command).map((inner) => ({ text: inner.name(), about: inner.summary() || inner.description() })),
      ...command.options
        .filter(({ hidden }) => !hidden)
        .map(({ long, short, description }) => ({ text: long ?? short ?? '', about: description })),
      { text: '--help', about: 'display help for command' },
    ],
  };
  return [own, ...shownCommands(command).flatMap((inner) => listEntries(inner, [...path, inner.name()]))];
}

function wordsOf(entry: Entry): string {
  return entry.words.map(({ text }) => text).join(' ');
}

function bashScript(entries: readonly Entry[]): string {
  const cases = entries.map((entry) => `    ${quote(entry.name)}) words=${quote(wordsOf(entry))} ;;`);
  const names = entries.map(({ name }) => name).filter((name) => name !== '');
  return `# mediabatch completion for bash: eval "$(mediabatch completion bash)"
_mediabatch() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" words="" word
  local typed="\${COMP_LINE:0:COMP_POINT}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${names.map((name) => `<${name}>`).join(' ')} " in
      *"<\${command:+$command }$word>"*) command="\${command:+$command }$word" ;;
    esac
  done
  case "$command" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n "$command" && "$current" != -* ]]; then
    local -a line
    read -ra line <<< "$typed"
    [[ "$typed" == *[[:space:]] ]] && line+=("")
    local whole="\${line[@]: -1}" kept="" signs="" sign
    if [[ "$whole" == [\\"\\']* ]]; then
      line[\${#line[@]}-1]="\${whole:1}"
    else
      # Readline replaces what follows the last sign at which it parts words; an @ it replaces, too.
      for sign in @ : = ,; do [[ "$COMP_WORDBREAKS" == *"$sign"* ]] && signs+="$sign"; done
      [[ -n "$signs" ]] && kept="\${whole%"\${whole##*[$signs]}"}"
      kept="\${kept%@}"
    fi
    while IFS= read -r word; do
      COMPREPLY+=("\${word#"$kept"}")
    done < <(mediabatch complete -- "\${line[@]:1}" 2>/dev/null)
    local skip='*.lock.jsonl'
    if [[ "\${COMP_WORDS[COMP_CWORD-1]}" == --lock ]]; then skip='!*.jsonl'; fi
    COMPREPLY+=($(compgen -f -X "$skip" -- "$current"))
  fi
}
complete -o filenames -F _mediabatch mediabatch
`;
}

function zshScript(entries: readonly Entry[]): string {
  const cases = entries.map((entry) => {
    const words = entry.words.map(({ text, about }) => quote(`${text.replaceAll(':', '\\:')}:${about}`)).join(' ');
    return `    ${quote(entry.name)}) choices=(${words}) ;;`;
  });
  const names = entries.map(({ name }) => name).filter((name) => name !== '');
  return `#compdef mediabatch
# mediabatch completion for zsh: mediabatch completion zsh > "\${fpath[1]}/_mediabatch"
_mediabatch() {
  local command="" word
  local -a words_before=("\${words[@]:1:$((CURRENT - 2))}") known=(${names.map(quote).join(' ')})
  for word in "\${words_before[@]}"; do
    if (( \${known[(Ie)\${command:+$command }$word]} )); then command="\${command:+$command }$word"; fi
  done
  local -a choices
  case "$command" in
${cases.join('\n')}
  esac
  _describe mediabatch choices
  if [[ -n "$command" && ( "$words[CURRENT]" != -* || "$words[CURRENT]" == *=* ) ]]; then
    local -a found=("\${(@f)$(mediabatch complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
    compadd -a found
    _files
  fi
}
if [[ "$funcstack[1]" = _mediabatch ]]; then _mediabatch "$@"; else compdef _mediabatch mediabatch; fi
`;
}

function fishScript(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ name, words }) => {
    const parts = name.split(' ').filter((part) => part !== '');
    const condition =
      parts.length === 0
        ? '__fish_use_subcommand'
        : parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ');
    return words.map(({ text, about }) => {
      const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${text}`;
      return `complete -c mediabatch -n ${quote(condition)} ${what} -d ${fishQuote(about)}`;
    });
  });
  // Fish takes what follows a colon for the name of a file.
  const dynamic = `function __mediabatch_words
  mediabatch complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null
  string match -qr '[@:]' -- (commandline -ct); or __fish_complete_path (commandline -ct)
end
complete -c mediabatch -n 'not __fish_use_subcommand' -f -a '(__mediabatch_words)'`;
  return `# mediabatch completion for fish: mediabatch completion fish | source\n${lines.join('\n')}\n${dynamic}\n`;
}

/** For bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
