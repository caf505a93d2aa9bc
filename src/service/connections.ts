/**
 * Idle time in ms after which a kept connection is closed: earlier than common servers close it (after 5 s), because a
 * request sent on a closing connection is lost.
 */
export const keptForMs = 4000;
/**
 * Delay in ms before the next of a host's addresses is tried: Node's default of 250 ms is too short for a distant host.
 */
const nextAddressAfterMs = 2500;

export const connectionOptions = { timeout: keptForMs, autoSelectFamilyAttemptTimeout: nextAddressAfterMs };
