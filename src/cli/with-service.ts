import { hasKey, readEnvironment } from '../campaign/environment.ts';
import { type OpenAccess, withLibrary } from '../campaign/with-library.ts';
import { call } from '../ground/advice.ts';
import { type Terminal, tellNotice } from './terminal.ts';

export interface ServiceOptions {
  sandbox?: boolean;
}

/** Opens the configured service, or the sandbox of a folder, for as long as `use` runs. */
export function withService<T>(
  options: ServiceOptions & {
    /** Folder with the sandbox's state. Default: the working folder. */
    folder?: string;
    /** Whether the sandbox stores its state even if it has never run before. */
    keeps?: boolean;
  },
  use: (open: OpenAccess) => Promise<T>,
): Promise<T> {
  const { sandbox = false, folder = process.cwd(), keeps = false } = options;
  const environment = sandbox ? {} : readEnvironment(process.env, process.cwd());
  return withLibrary({ environment, sandbox, folder, keeps }, use);
}

export function tellLinksEnd(options: ServiceOptions, terminal: Terminal): void {
  if (options.sandbox !== true) return;
  const sandbox = terminal.paste(call('sandbox'));
  tellNotice(terminal, `links of the sandbox work while it runs; to keep one running: ${sandbox}`);
}

/** Whether the service can be called: there is an API key, or it is the sandbox. */
export function hasAccess(options: ServiceOptions): boolean {
  return options.sandbox === true || hasKey(readEnvironment(process.env, process.cwd()));
}
