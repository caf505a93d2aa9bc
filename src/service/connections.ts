import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

/** Kept connections are closed before common servers close them (after 5 s): a request on its way to a closed one is lost. */
const keptForMs = 4000;
const connectWithinMs = 15_000;
/** Of a host's several addresses the next one is tried so late: Node's own 250 ms are less than a far host needs. */
const nextAddressAfterMs = 2500;

/** What both kinds of agents are given. */
export const connectionOptions = { timeout: keptForMs, autoSelectFamilyAttemptTimeout: nextAddressAfterMs };

/**
 * Connections to one origin that are handed out only when they stand: connected, and where they are encrypted, with the
 * other side's certificate accepted. A request that never got one has not left this machine, not a byte of it.
 */
export function makeStandingAgent(origin: string, options: AgentOptions): { agent: HttpAgent; close(): void } {
  const isEncrypted = origin.startsWith('https:');
  const agent = new (isEncrypted ? HttpsAgent : HttpAgent)({ ...connectionOptions, ...options });
  const connect = agent.createConnection.bind(agent);
  const waiting = new Set<Socket>();
  agent.createConnection = (to, done) => {
    const socket = connect(to) as Socket;
    const timer = setTimeout(
      () => socket.destroy(new Error(`no connection within ${connectWithinMs / 1000} s`)),
      connectWithinMs,
    );
    const settle = (error: Error | null) => {
      clearTimeout(timer);
      waiting.delete(socket);
      done?.(error, socket);
    };
    waiting.add(socket);
    // Stays: between two owners nobody else listens, and an error that nobody hears ends the process.
    socket.on('error', settle);
    socket.once('close', () => settle(new Error('the connection was closed')));
    socket.once(isEncrypted ? 'secureConnect' : 'connect', () => settle(null));
    return undefined;
  };
  const close = () => {
    for (const socket of waiting) socket.destroy(new Error('given up'));
    agent.destroy();
  };
  return { agent, close };
}
