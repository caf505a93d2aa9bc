import { relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import type { Diagnostic } from '../ground/diagnostic.ts';
import type { LockReading } from '../lock/read.ts';
import { requireAccess } from './environment.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { sandboxService } from './paths.ts';

/** Whose lock it is, as seen from the service that is going to be asked. */
export type Belonging =
  /** The lock's own service, or an unknown address. */
  | 'ours'
  /** Nothing is on record yet: it becomes ours. */
  | 'unclaimed'
  /** Made against another address; or two sides of a merge were made against two. */
  | 'elsewhere';

/** `service`: the digest of the address that is going to be asked; undefined when nobody knows where the service is. */
export function belongingOf({ lock, services }: LockReading, service: string | undefined): Belonging {
  if (service === undefined) return 'ours';
  const others = services.filter((one) => one !== service);
  // What was refused counts, too: its key was used up there, and may never have been seen here.
  if (others.length > 0) return lock.steps.size > 0 ? 'elsewhere' : 'unclaimed';
  // What was decided before any run knew the service. A sandbox names itself from the first record on.
  if (service === sandboxService && services.length === 0 && lock.steps.size > 0) return 'elsewhere';
  return services.length === 0 ? 'unclaimed' : 'ours';
}

/** Throws if the lock cannot become one of this service, or without confirmation. */
export function refuseElsewhere(
  { services }: Pick<LockReading, 'services'>,
  from: { shown: string; service: string; serviceMoved: boolean },
): void {
  const { shown, service, serviceMoved } = from;
  const refuse = (message: string, hint: string) => {
    throw new CampaignError({ code: 'MB2003', message: `the lock ${shown} ${message}`, hint, lock: shown });
  };
  if (service === sandboxService) {
    refuse(
      'was made against a real service, so --sandbox cannot use it',
      'leave --lock out: --sandbox has a lock of its own; nothing was sent',
    );
  }
  if (services.includes(sandboxService)) {
    refuse(
      'was made with --sandbox, so no real service has its jobs',
      'add --sandbox, or name another file with --lock FILE; nothing was sent',
    );
  }
  if (serviceMoved) return;
  refuse(
    'was made against another service address, so its job ids mean nothing here',
    'point MEDIABATCH_BASE_URL at that service again, or give this one a lock of its own with --lock FILE --new; where the same service has a new address, say so with --service-moved. Nothing was sent',
  );
}

/** Treats two services in one lock as one that moved, if the user confirms it. */
export function withoutTwoServices(diagnostics: readonly Diagnostic[], serviceMoved: boolean): Diagnostic[] {
  return diagnostics.filter(({ code }) => !serviceMoved || code !== 'MB2003');
}

export interface MoveQuestion {
  lock: string;
  steps: number;
  baseUrl: string;
}

export type Answer = 'yes' | 'no' | 'interrupted';

/**
 * Asks whether the service is the same one at a new address. From then on lost creates are asked for there: should it be
 * another service, they are bought a second time. Anything but yes ends the command.
 */
export async function agreeToMove(
  loaded: { isMoved: boolean; lock: { steps: ReadonlyMap<string, unknown> } },
  { environment, paths, tell }: Pick<OpenCampaign, 'environment' | 'paths' | 'tell'>,
  ask: (question: MoveQuestion) => Promise<Answer>,
): Promise<void> {
  if (!loaded.isMoved) {
    tell({ is: 'notice', text: '--service-moved has no effect: the lock already has this address' });
    return;
  }
  const { baseUrl } = requireAccess(environment);
  const lock = relative('', paths.lock) || paths.lock;
  const agreed = await ask({ lock, steps: loaded.lock.steps.size, baseUrl });
  if (agreed === 'yes') return;
  throw new CampaignError({
    code: agreed === 'no' ? 'MB2003' : 'MB3501',
    message: 'the lock keeps its service address; nothing was sent',
    hint: 'give this service a lock of its own with --lock FILE',
    lock,
  });
}
