import { relative } from 'node:path';
import { CampaignError } from '../contract/failure.ts';
import type { Diagnostic } from '../ground/diagnostic.ts';
import type { LockReading } from '../lock/read.ts';
import { requireAccess } from './environment.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { sandboxService } from './paths.ts';

/** Relation of a lock to the service that is going to be called. */
export type Belonging =
  /** The lock's own service, or an unknown address. */
  | 'ours'
  /** The lock has no service yet and will belong to this one. */
  | 'unclaimed'
  /** The lock belongs to another address, or the two sides of a merge belong to two. */
  | 'elsewhere';

/** `service`: the digest of the address that is going to be called; undefined if no address is known. */
export function belongingOf({ lock, services }: LockReading, service: string | undefined): Belonging {
  if (service === undefined) return 'ours';
  const others = services.filter((one) => one !== service);
  // Refused requests count, too, because their idempotency keys were used at that service, and may be unknown at this
  // one.
  if (others.length > 0) return lock.steps.size > 0 ? 'elsewhere' : 'unclaimed';
  // These decisions were recorded before any run had a service. A sandbox names itself with the first record.
  if (service === sandboxService && services.length === 0 && lock.steps.size > 0) return 'elsewhere';
  return services.length === 0 ? 'unclaimed' : 'ours';
}

/** Throws if the lock belongs to another service, unless `serviceMoved` says that the service has a new address. */
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

/** Removes the diagnostics about two services in one lock if the user says that the service has moved. */
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
 * Asks whether the service is the same one at a new address. If so, lost create requests are recovered there; if it
 * were another service, they would be bought a second time. Any answer but yes ends the command.
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
