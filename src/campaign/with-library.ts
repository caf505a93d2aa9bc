import { systemClock } from '../contract/clock.ts';
import { createLibrary, type Library } from '../service/library.ts';
import { openSandbox, sandboxKey } from './embed-sandbox.ts';
import { type Access, type Environment, requireAccess } from './environment.ts';
import type { OpenCampaign } from './open-campaign.ts';

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
    } finally {
      await library.close();
    }
  } finally {
    await embedded?.close();
  }
}

/** The same for a campaign that is open. The sandbox remembers nothing of it unless it has run before. */
export function withLibraryOf<T>(campaign: OpenCampaign, use: (open: OpenAccess) => Promise<T>): Promise<T> {
  const { environment, sandbox, paths } = campaign;
  return withLibrary({ environment, sandbox, folder: paths.folder, keeps: false }, use);
}
