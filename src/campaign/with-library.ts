import { systemClock } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { advise, call } from '../plan/advice.ts';
import { createLibrary, type Library } from '../service/library.ts';
import { openSandbox, sandboxKey } from './embed-sandbox.ts';
import { type Access, type Environment, requireAccess } from './environment.ts';

export interface OpenAccess {
  access: Access;
  library: Library;
}

const requestTimeoutMs = 30_000;

/**
 * Opens the way to the service, or to the sandbox of a folder, for as long as `use` takes. What the service refuses ends
 * the command: 77 for the key, 69 where it cannot be reached or understood.
 */
export async function withLibrary<T>(
  options: {
    environment: Environment;
    /** Ask the embedded sandbox instead of the service. */
    sandbox: boolean;
    /** Where the sandbox's state lies. */
    folder: string;
    /** The sandbox is to remember what happens, even where it has never run before. */
    keeps: boolean;
  },
  use: (open: OpenAccess) => Promise<T>,
): Promise<T> {
  const embedded = options.sandbox ? await openSandbox(options.folder, options.keeps) : undefined;
  try {
    const access =
      embedded === undefined ? requireAccess(options.environment) : { baseUrl: embedded.url, token: sandboxKey };
    const library = createLibrary({ ...access, clock: systemClock, requestTimeoutMs });
    try {
      return await use({ access, library });
    } catch (error) {
      throw error instanceof ServiceError ? asCommandError(error) : error;
    } finally {
      await library.close();
    }
  } finally {
    await embedded?.close();
  }
}

export function asCommandError({ why, message }: ServiceError): CommandError {
  switch (why) {
    case 'auth':
      return new CommandError(
        exitCodes.keyRefused,
        `the service refused the key: ${message}`,
        advise`check MEDIABATCH_API_KEY; ${call('doctor')} shows where it comes from`,
      );
    case 'unreachable':
      return new CommandError(
        exitCodes.unreachable,
        `the service cannot be reached: ${message}`,
        advise`check MEDIABATCH_BASE_URL and the network; ${call('doctor')} looks at both`,
      );
    case 'refused':
      return new CommandError(exitCodes.someFailed, `the service refused the request: ${message}`);
    case 'unusable':
      return new CommandError(
        exitCodes.unreachable,
        `the service gave an answer that cannot be used: ${message}`,
        advise`${call('doctor')} compares the service with what this version knows`,
      );
    default:
      return why satisfies never;
  }
}
