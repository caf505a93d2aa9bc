import { systemClock } from '../contract/clock.ts';
import type { Scope } from '../ground/scope.ts';
import { isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import type { ApplyGraphOptions } from './apply-options.ts';
import type { Carrier, Running } from './carrier.ts';
import { sandboxKey } from './embed-sandbox.ts';
import { type Access, requireAccess } from './environment.ts';
import type { Held } from './hold-and-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { rehearse } from './rehearse.ts';
import { requireService } from './require-service.ts';
import { runPlan } from './run.ts';

/** Carries plans out in this process. Its runs end with it, so that there is none to attach to. */
export function carryHere(campaign: OpenCampaign, options: ApplyGraphOptions, scope: Scope): Carrier {
  return {
    attach: async () => undefined,
    async start(plan, held) {
      // Where nothing happens, and nothing is to be decided, there is nothing to look at.
      const live = plan.rows.some(isWork) || plan.gates !== undefined ? held.makeLive?.(plan) : undefined;
      const waits = live !== undefined && plan.rows.some(({ later }) => later !== undefined);
      const needsService = waits || plan.rows.some(isWork);
      const access = needsService ? await openService(campaign, { options, held, waits, scope }) : undefined;
      return runningHere(plan, campaign, { options, held, access, judge: live });
    },
  };
}

export function runningHere(
  plan: Plan,
  campaign: OpenCampaign,
  of: {
    options: ApplyGraphOptions;
    held: Pick<Held, 'outline' | 'loaded' | 'guard' | 'facts'>;
    /** Absent when nothing in the plan needs the service. */
    access: Access | undefined;
    judge?: Running['judge'];
  },
): Running {
  const { options, held, access, judge } = of;
  return {
    plan,
    isWork: access !== undefined,
    judge,
    watch: (observer) =>
      runPlan(plan, campaign, {
        ...options,
        ...observer,
        ...held,
        access,
        clock: systemClock,
        createRoutes: held.facts.createRoutes,
        live: judge,
      }),
  };
}

/** `waits`: what people decide during the run may ask for more than the plan does. */
async function openService(
  campaign: OpenCampaign,
  { options, held, waits, scope }: { options: ApplyGraphOptions; held: Held; waits: boolean; scope: Scope },
): Promise<Access> {
  const { sandbox, environment, paths, tell } = campaign;
  const { made, loaded } = held;
  if (sandbox) {
    const given = options.rehearsal ?? {};
    const embedded = await rehearse(made, { options: given, paths, lock: loaded.lock, withPicks: waits });
    scope.add(() => embedded.close());
    return { baseUrl: embedded.url, token: sandboxKey };
  }
  const access = requireAccess(environment);
  if (waits || made.rows.some((row) => isWork(row) && row.action !== 'move')) {
    await requireService(access, { clock: systemClock, tell, proxied: environment.proxied === true });
  }
  return access;
}
