import type { Allocation } from '../../scheduler/allocation.js';
import { groupPorts, portsOf } from './port-variables.js';

/** Address of a service or a check of an allocation. */
interface ServicePort {
  /** Absent: the node's address. */
  readonly address?: string;
  readonly port: number;
}

/**
 * The port of a service or a check: by the label of one of the group's ports or of the task's own, or by its number
 * on the node. Undefined when there is none.
 */
export function servicePort(
  { Shared, Tasks }: Allocation['AllocatedResources'],
  task: string | null,
  label: string,
): ServicePort | undefined {
  const own = task === null ? undefined : Tasks[task];
  const found = [...groupPorts(Shared), ...portsOf(own?.Networks ?? null)].find((port) => port.Label === label);
  if (found !== undefined) {
    const { HostIP = '', Value } = found;
    return { port: Value, ...(HostIP === '' ? {} : { address: HostIP }) };
  }
  const port = /^[0-9]{1,5}$/.test(label) ? Number(label) : 0;
  return port > 0 && port < 65_536 ? { port } : undefined;
}
