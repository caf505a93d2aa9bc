import { relative, resolve } from 'node:path';
import { exitCodes } from '../contract/exit.ts';
import { type Failure, failures } from '../contract/failure.ts';
import type { Notify } from '../contract/notice.ts';
import type { Advice } from '../ground/advice.ts';
import { defined } from '../ground/values.ts';
import { adviceLines, adviceView, type Paste } from '../report/advice-text.ts';
import {
  diagnosticsGithub,
  diagnosticsText,
  failureGithub,
  failureText,
} from '../report/diagnostics/diagnostics-text.ts';
import { type Document, line, warning } from '../report/document.ts';
import { terminalText } from '../report/render/terminal-text.ts';
import { inertText, safeJson, safeText } from '../report/safe-text.ts';
import { makeStyle, type Style, wantsColor, wantsScreen } from '../report/style.ts';

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  style: Style;
  outStyle: Style;
  width: number;
  outWidth: number;
  screen: boolean;
  interactive: boolean;
  /** Writes workflow commands of GitHub Actions. Undefined outside of GitHub Actions. */
  github?: (text: string) => void;
  /** FILE and options of this command, which printed commands repeat. Empty until the command line was parsed. */
  called: { file: string | undefined; options: { readonly [name: string]: unknown } };
  /** Formats a command for the user to paste, with the options of this call. */
  paste: Paste;
}

const defaultWidth = 100;

export const notCalled: Pick<Terminal, 'called' | 'paste'> = {
  called: { file: undefined, options: {} },
  paste(command) {
    throw new Error(`internal error: a hint names ${command.call} before the command line was parsed`);
  },
};

const showCursor = '\u001b[?25h';

/** Shows the cursor again when the process exits for any reason. Returns a function that removes this handler. */
export function restoreCursorAtExit(): () => void {
  const giveBack = () => {
    process.stderr.write(showCursor);
  };
  process.on('exit', giveBack);
  return () => {
    process.off('exit', giveBack);
  };
}

/** First error of stdout or stderr. A closed reader (`| head`) is not an error. */
let brokenStream: { name: string; error: NodeJS.ErrnoException } | undefined;

/** Streams that were written to. Other streams are not flushed: on a full disk even an empty write fails. */
const written = new Set<NodeJS.WriteStream>();

/** After a write error, the command continues, because its jobs are paid. `flushed` returns the error. */
export function processTerminal({ color = 'wanted' }: { color?: 'wanted' | 'never' } = {}): Terminal {
  const writer = (stream: NodeJS.WriteStream, name: string) => {
    let open = true;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      open = false;
      if (error.code !== 'EPIPE') brokenStream ??= { name, error };
    });
    return (text: string) => {
      if (!open || text === '') return;
      written.add(stream);
      stream.write(text);
    };
  };
  const { stdout, stderr, stdin, env } = process;
  const screen = wantsScreen(env, stderr.isTTY === true);
  const err = writer(stderr, 'stderr');
  const isGithub = env.GITHUB_ACTIONS === 'true';
  return {
    out: writer(stdout, 'stdout'),
    err: isGithub ? (text) => err(inertText(text)) : err,
    ...(isGithub && { github: err }),
    style: makeStyle(color === 'wanted' && wantsColor(env, stderr.isTTY === true)),
    outStyle: makeStyle(color === 'wanted' && wantsColor(env, stdout.isTTY === true)),
    // A terminal of unknown size reports 0.
    get width() {
      return stderr.columns || defaultWidth;
    },
    get outWidth() {
      return stdout.columns || defaultWidth;
    },
    screen,
    interactive: stderr.isTTY === true && stdin.isTTY === true && screen,
    ...notCalled,
  };
}

/** Resolves after all output was written. Returns the write error, if any. */
export async function flushed(): Promise<string | undefined> {
  for (const stream of written) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  return brokenStream && `${brokenStream.name} cannot be written: ${brokenStream.error.message}`;
}

/** Prints a result. Wraps lines on a terminal, but not in a file or pipe. */
export function show({ out, outStyle: style, outWidth }: Terminal, document: Document): void {
  out(terminalText(document, { style, width: process.stdout.isTTY === true ? outWidth : undefined }));
}

export function print(
  { err, style, screen, width }: Pick<Terminal, 'err' | 'style' | 'screen' | 'width'>,
  ...document: Document
): void {
  err(terminalText(document, { style, width: screen ? width : undefined }));
}

export function outJson({ out }: Pick<Terminal, 'out'>, document: unknown): void {
  out(`${safeJson(document, 2)}\n`);
}

interface Choice<Form extends string> {
  format?: Form | undefined;
  json?: boolean | undefined;
}

export function formOf<Form extends string = never>(options: Choice<Form>): Form | 'json' | 'text' {
  return options.json === true ? 'json' : (options.format ?? 'text');
}

export async function outAs<Form extends string = never>(
  terminal: Terminal,
  options: Choice<Form>,
  forms: { [form in Exclude<Form, 'json' | 'text'>]: () => string } & {
    text: () => Document | string;
    json: () => unknown;
  },
): Promise<void> {
  const form = formOf(options);
  if (form === 'json') return outJson(terminal, await forms.json());
  const made = form === 'text' ? forms.text() : forms[form as Exclude<Form, 'json' | 'text'>]();
  if (typeof made === 'string') terminal.out(made);
  else show(terminal, made);
}

/** Prints a failure. On GitHub Actions, also annotates the source lines with their diagnostics. */
export function printFailure({ err, style, github, paste, screen, width }: Terminal, failure: Failure): void {
  err(failureText(failure, { style, paste, width: screen ? width : undefined }));
  if (github === undefined) return;
  const { diagnostics = [] } = 'diagnostics' in failure ? failure : {};
  const { code, message, hint } = failure;
  const lines = [message, ...(hint === undefined ? [] : adviceLines(hint, paste))];
  github(diagnostics.length > 0 ? diagnosticsGithub(diagnostics, { toCheckoutPath }) : failureGithub(code, lines));
}

/** Returns the exit code of a command for several items. `ended`: why the command skipped the remaining items. */
export function exitOfItems(
  terminal: Terminal,
  { failed, ended }: { failed: number; ended: Failure | 'interrupted' | undefined },
): number {
  if (ended === 'interrupted') return exitCodes.interrupted;
  if (ended === undefined) return failed > 0 ? exitCodes.someFailed : exitCodes.done;
  printFailure(terminal, ended);
  return failures[ended.code].exit;
}

export function printNotice(terminal: Terminal, text: string, hint?: Advice): void {
  noticePrinter(terminal)({ is: 'notice', text, ...defined({ hint }) });
}

export function noticePrinter(
  terminal: Pick<Terminal, 'err' | 'style' | 'github' | 'paste' | 'screen' | 'width'>,
): Notify {
  const { err, style, github, screen, width } = terminal;
  return (notice) => {
    switch (notice.is) {
      case 'notice': {
        const mark = notice.code === undefined ? 'notice' : `notice ${notice.code}`;
        return print(terminal, line([warning(mark), ` ${notice.text}`], adviceView(notice.hint, terminal.paste)));
      }
      case 'waiting':
      case 'cannot reach':
        return print(terminal, line([warning(notice.is), ` ${notice.text}`]));
      case 'connecting':
        return err(`connecting to ${safeText(notice.text)} …\n`);
      case 'diagnostics': {
        const { diagnostics, sources } = notice;
        err(diagnosticsText(diagnostics, sources, { style, ...(screen && { width }) }));
        return github?.(diagnosticsGithub(diagnostics, { toCheckoutPath }));
      }
      default:
        return notice satisfies never;
    }
  };
}

export function toCheckoutPath(file: string): string {
  const root = process.env.GITHUB_WORKSPACE;
  if (root === undefined || root === '') return file;
  const path = relative(root, resolve(file)).replaceAll('\\', '/');
  return path === '' || path.startsWith('..') ? file : path;
}
