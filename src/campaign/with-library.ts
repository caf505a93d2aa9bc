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
 * Connects to the service, or to the sandbox of a folder, while `use` runs. A refusal ends the command: exit 77 for
 * the API key, 69 if the service cannot be reached or understood.
 */
export async function withLibrary<T>(
  options: {
    environment: Environment;
    /** Whether to use the embedded sandbox instead of the service. */
    sandbox: boolean;
    /** Folder with the sandbox's state. */
    folder: string;
    /** Whether the sandbox stores its state even if it has never run before. */
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

/** Connects like `withLibrary`, for an open campaign. The sandbox stores its state only if it has run before. */
export function withLibraryOf<T>(campaign: OpenCampaign, use: (open: OpenAccess) => Promise<T>): Promise<T> {
  const { environment, sandbox, paths } = campaign;
  return withLibrary({ environment, sandbox, folder: paths.folder, keeps: false }, use);
}
