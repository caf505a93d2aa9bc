import { execFile } from 'node:child_process';
import { readFile, readlink, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { defined } from '../../ground/values.ts';
import { isErrno } from '../fs/plain-file.ts';

/** Identifies a process among the processes of all machines. Fields that the system does not provide are omitted. */
export interface ProcessIdentity {
  host: string;
  pid: number;
  boot?: string;
  /** ID of the machine. A reboot does not change the ID, and copies of a virtual machine have the same ID. */
  machine?: string;
  /** Id of the namespaces. PIDs and start times are comparable only within the same namespaces. */
  namespace?: string;
  /** Start time in the system's units. A later process with the same PID has another start time. */
  started?: string;
}

export async function identifyThisProcess(): Promise<ProcessIdentity> {
  const { pid, platform } = process;
  const known = { host: hostname(), pid };
  if (platform === 'linux') {
    const boot = await tryTo(readFile('/proc/sys/kernel/random/boot_id', 'utf8'));
    const machine = await tryTo(readFile('/etc/machine-id', 'utf8'));
    const pids = await tryTo(readlink('/proc/self/ns/pid'));
    const time = await tryTo(readlink('/proc/self/ns/time'));
    const stat = (await isProcOfOurNamespace()) ? await readStat(pid) : undefined;
    const namespace = time === undefined || pids === undefined ? pids : `${pids} ${time}`;
    const found = { boot: boot?.trim(), machine: machine?.trim() || undefined, namespace, started: stat?.started };
    return { ...known, ...defined(found) };
  }
  if (platform === 'darwin') {
    const boot = await tryTo(run('sysctl', '-n', 'kern.boottime'));
    const started = await tryTo(run('ps', '-o', 'lstart=', '-p', String(pid)));
    return { ...known, ...(boot && { boot, namespace: 'darwin' }), ...(started && { started }) };
  }
  return known;
}

/**
 * Returns whether a process has certainly ended. The answer can be true only for a process of the same machine, boot
 * and PID namespace. Does not use clocks or file times.
 */
export async function isCertainlyDead(holder: ProcessIdentity, self: ProcessIdentity): Promise<boolean> {
  if (holder.boot !== self.boot || holder.namespace !== self.namespace) return false;
  const saysSo = holder.boot !== undefined && holder.namespace !== undefined;
  const neverSays = process.platform !== 'linux' && process.platform !== 'darwin' && holder.host === self.host;
  if (!saysSo && !neverSays) return false;
  if (!exists(holder.pid)) return true;
  if (holder.started === undefined) return false;
  if (process.platform === 'linux') {
    const stat = (await isProcOfOurNamespace()) ? await readStat(holder.pid) : undefined;
    // States Z and X: the process has ended, and its parent has not read the exit code yet.
    return stat !== undefined && (stat.started !== holder.started || stat.state === 'Z' || stat.state === 'X'); // I13
  }
  const started = await tryTo(run('ps', '-o', 'lstart=', '-p', String(holder.pid)));
  return started !== undefined && started !== '' && started !== holder.started;
}

/** Name of the PID namespace outside of containers, which is the same on every Linux machine. */
const firstNamespace = 'pid:[4026531836]';

/** Magic numbers of file systems that only one machine at a time can mount: ext2 to ext4, XFS, Btrfs, F2FS, ZFS. */
const localFileSystems: readonly number[] = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1];

/**
 * Returns whether a reboot or power cut of this machine ended the holder of a guard. The holder must have run on this
 * machine, before the last boot and outside of containers. `folder` must be on a disk that only one machine at a time
 * can mount.
 */
export async function endedWithItsMachine(
  holder: ProcessIdentity,
  self: ProcessIdentity,
  folder: string,
): Promise<boolean> {
  if (process.platform !== 'linux' || holder.boot === undefined || self.boot === undefined) return false;
  if (holder.boot === self.boot || holder.machine === undefined || holder.machine !== self.machine) return false;
  const isOutside = ({ namespace }: ProcessIdentity) => namespace?.split(' ')[0] === firstNamespace;
  if (!isOutside(holder) || !isOutside(self)) return false;
  const fileSystem = await tryTo(statfs(folder));
  return fileSystem !== undefined && localFileSystems.includes(fileSystem.type);
}

/** Returns whether a process exists. Uses `kill`, because /proc may hide processes of other users. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isErrno(error, 'ESRCH');
  }
}

async function isProcOfOurNamespace(): Promise<boolean> {
  return (await tryTo(readlink('/proc/self'))) === String(process.pid);
}

async function readStat(pid: number): Promise<{ state: string; started: string } | undefined> {
  const stat = await tryTo(readFile(`/proc/${pid}/stat`, 'utf8'));
  // The second field of /proc/PID/stat is the program's name in parentheses, and may contain any character.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields?.[0];
  const started = fields?.[19];
  return state === undefined || started === undefined ? undefined : { state, started };
}

async function run(command: string, ...parameters: string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { stdout } = await promisify(execFile)(command, parameters, { env });
  return stdout.trim();
}

async function tryTo<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    return undefined;
  }
}
