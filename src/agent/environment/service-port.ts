import type { Allocation } from '../../scheduler/allocation.js';
import { groupPorts, portsOf } from './port-variables.js';

/** Where a service or a check of an allocation is reached. */
interface ServicePort {
  /** Absent: the address of the node. */
  readonly address?: string;
  readonly port: number;
}

/**
 * The port that a service or a check names: by the label of one of the group's ports or of the task's own, or by its number
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
